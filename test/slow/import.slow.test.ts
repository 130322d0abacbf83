import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { finished } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { readResults, setUpImport } from '../support/import.ts';
import { spawnNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { forwardTo, startService } from '../support/service.ts';

const ROWS = 10_000;

/** Longer than the pauses of a row's tries. */
const OUTAGE_MS = 12_000;

/** Maximum time for half of the rows, in milliseconds. */
const IMPORT_MS = 300_000;

/** Fault of a service. The request is forwarded only by those with `after`, whose response is lost. */
type Fault = 'unavailable' | 'disconnect before' | 'disconnect after' | 'silence after' | 'rate limit';

/** Faults of every hundredth request. */
const FAULTS: Readonly<Record<number, Fault>> = {
  7: 'unavailable',
  23: 'disconnect before',
  41: 'disconnect after',
  59: 'silence after',
  83: 'unavailable',
};

/** Returns the fault of a request: 5 %, and a rate limit of one second now and then. */
const faultOf = (count: number): Fault | undefined => (count % 500 === 99 ? 'rate limit' : FAULTS[count % 100]);

it('creates 10,000 subscribers exactly once, with 5 % faults, an outage and one kill', {
  timeout: 300_000,
}, async () => {
  await using folder = await createTemporaryFolder();
  await writeUsers(folder.path('users.csv'), ROWS);
  await using sandbox = await startSandbox({ file: folder.path('sandbox.db') });
  let requests = 0;
  let isDown = false;
  const faults: Fault[] = [];
  const forward = forwardTo(sandbox.url);
  await using proxy = await startService(async (request, connection) => {
    requests += Number(request.method === 'POST');
    const fault = request.method !== 'POST' ? undefined : isDown ? 'unavailable' : faultOf(requests);
    if (fault === undefined) {
      return forward(request, connection);
    }
    faults.push(fault);
    if (fault === 'unavailable' || fault === 'rate limit') {
      return fault === 'unavailable' ? { status: 503 } : { status: 429, headers: { 'retry-after': '1' } };
    }
    if (fault !== 'disconnect before') {
      await forward(request, connection);
    }
    if (fault !== 'silence after') {
      connection.end();
    }
  });
  const options = {
    cwd: folder.path(),
    args: ['subscribers', 'import', 'users.csv', '--upstream', proxy.url],
    env: { NOTIGRAPH_IMPORT_KEY: SANDBOX_KEYS.development, NOTIGRAPH_ATTEMPT_TIMEOUT_MS: '500' },
  };

  const killed = spawnNotigraph(options);
  await proxy.arrived(ROWS / 2, IMPORT_MS);
  expect((await killed.stop('SIGKILL')).signal).toBe('SIGKILL');

  const importing = spawnNotigraph(options);
  await proxy.arrived(ROWS * 0.75, IMPORT_MS);
  isDown = true;
  await setTimeout(OUTAGE_MS);
  isDown = false;
  const resumed = await importing.ended;
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringMatching(/Resuming: [45],\d{3} of 10,000 rows/) });
  expect(resumed.stdout).toContain('All 10,000 rows of the file are applied.');

  const applied = readResults(folder.path('users.csv.results.db')).filter(({ outcome }) => outcome === 'created');
  expect(applied.map(({ line }) => line)).toEqual(Array.from({ length: ROWS }, (_, i) => i + 2));

  // An update would have set `updatedAt`, and a second key would have stored a second response.
  using database = openDatabase(folder.path('sandbox.db'));
  const subscribers = "FROM subscribers WHERE subscriber_id LIKE 'import-%'";
  expect(database.count(subscribers)).toBe(ROWS);
  expect(database.count(`${subscribers} AND document ->> '$.createdAt' = document ->> '$.updatedAt'`)).toBe(ROWS);
  expect(database.count("FROM idempotent_responses WHERE body LIKE '%\"import-%'")).toBe(ROWS);
  expect(new Set(faults)).toEqual(new Set([...Object.values(FAULTS), 'rate limit']));
  expect(faults.length).toBeGreaterThan(ROWS / 20);
});

it('imports 100,000 rows in a heap of 64 MB, with results of at most 60 MB', { timeout: 600_000 }, async () => {
  const { folder, optionsOf } = await setUpImport('');
  await writeUsers(folder.path('users.csv'), 100_000);
  const { code, stdout } = await spawnNotigraph({ ...optionsOf(), nodeArgs: ['--max-old-space-size=64'] }).ended;
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('All 100,000 rows of the file are applied.'),
  });
  expect((await stat(folder.path('users.csv.results.db'))).size).toBeLessThan(60 * 1024 * 1024);
});

async function writeUsers(path: string, count: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('subscriberId,email,firstName,data.plan\n');
  for (let first = 0; first < count; first += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, count - first) }, (_, i) => rowOf(first + i));
    if (!file.write(rows.join(''))) {
      await once(file, 'drain');
    }
  }
  file.end();
  await finished(file);
}

const rowOf = (i: number): string => `import-${i},user-${i}@example.com,First ${i},pro\n`;

function openDatabase(path: string) {
  const database = new DatabaseSync(path, { readOnly: true });
  return {
    count: (from: string): unknown => database.prepare(`SELECT count(*) AS count ${from}`).get()?.count,
    [Symbol.dispose]: () => database.close(),
  };
}
