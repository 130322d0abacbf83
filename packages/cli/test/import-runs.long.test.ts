import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../../../test/support/command.ts';
import { blocks, read } from '../../../test/support/docs.ts';
import { guards } from '../../../test/support/guards.ts';
import { readResults, type Sent, setUpImport } from '../../../test/support/import.ts';
import { findResourceProblems } from '../../../test/support/kubernetes.ts';
import { runNotigraph, spawnNotigraph } from '../../../test/support/process.ts';
import { subscriber } from '../../../test/support/records.ts';

guards('packages/cli/src/import/results.ts', 'Results.#open');
guards('packages/cli/src/import/results.ts', 'Results.#prepareRows');
guards('packages/cli/src/import/results.ts', 'Results.pending');
guards('packages/cli/src/import/results.ts', 'toCanonical');
guards('packages/cli/src/import/results.ts', 'explainFileError');
guards('packages/cli/src/import/results.ts', 'Results.[Symbol.dispose]');
guards('packages/cli/src/import/report.ts', 'writeRejected');
guards('packages/cli/src/import/report.ts', 'describeDryRun');
guards('packages/cli/src/import/report.ts', 'writeLines');

const RESULTS = 'users.csv.results.db';
const REJECTED = 'users.csv.rejected.csv';

const list = (count: number, first = 0) => Array.from({ length: count }, (_, i) => first + i);
const write = (ids: readonly number[]) =>
  `subscriberId,email\n${ids.map((id) => `${id},${id}@mail.example\n`).join('')}`;

/** A service that rejects certain ids. */
const rejectIf = (isBad: (id: number) => boolean) => (row: Sent) =>
  isBad(Number(row.subscriberId)) ? { status: 422, body: { message: [`${row.email} is not deliverable`] } } : undefined;

const ids = (rows: readonly Sent[]) => rows.map(({ subscriberId }) => Number(subscriberId));

/** Ids that were sent, each once. */
const unique = (rows: readonly Sent[]) => [...new Set(ids(rows))].toSorted((a, b) => a - b);

/** Sets up an import that can be interrupted once a number of rows was sent. */
async function setUpInterruptions(rows: number) {
  let left = 0;
  let sentEnough = Promise.withResolvers<void>();
  const imports = await setUpImport(write(list(rows)), () => {
    left -= 1;
    if (left === 0) {
      sentEnough.resolve();
    }
    return undefined;
  });
  async function interrupt(after: number, ...args: string[]) {
    left = after;
    sentEnough = Promise.withResolvers();
    const before = imports.sent().length;
    const running = spawnNotigraph(imports.optionsOf('--rate', '40', ...args));
    await sentEnough.promise;
    const { stdout } = await running.stop('SIGINT');
    return { stdout, ids: unique(imports.sent().slice(before)) };
  }
  return { ...imports, interrupt };
}

it('reaches every row after an interruption, although the service rejects many of those before', async () => {
  const isBad = (id: number) => id % 5 === 0;
  const many = Promise.withResolvers<void>();
  const { optionsOf, run, sent } = await setUpImport(write(list(1_200)), (row) => {
    if (row.subscriberId === '700') {
      many.resolve();
    }
    return rejectIf(isBad)(row);
  });
  const first = spawnNotigraph(optionsOf('--rate', '400'));
  await many.promise;
  expect((await first.stop('SIGINT')).code).toBe(1);
  const before = unique(sent());
  expect(await run()).toMatchObject({ code: 1, stdout: expect.stringContaining('960 of 1,200 rows are applied.') });
  expect(unique(sent())).toEqual(list(1_200));
  // Rows that were rejected before come last, once.
  const second = ids(sent()).slice(before.length);
  expect(second.slice(0, 1_200 - before.length).toSorted((a, b) => a - b)).toEqual(
    list(1_200).filter((id) => !before.includes(id)),
  );
  expect(second.slice(1_200 - before.length).toSorted((a, b) => a - b)).toEqual(before.filter(isBad));
});

it('applies new rows at the end of a file of which many rows were rejected, and says what to do about those', async () => {
  const isBad = (id: number) => id % 10 === 0 && id < 1_200;
  const { folder, run, sent } = await setUpImport(write(list(1_200)), rejectIf(isBad));
  expect((await run()).code).toBe(1);
  await writeFile(folder.path('users.csv'), write(list(1_250)));
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([1, expect.not.stringContaining('in succession')]);
  expect(stdout).toContain('Applied 50 rows in');
  expect(stdout).toContain('120 rejected rows: correct them in users.csv, and run the same command again.\n');
  expect(stdout).not.toContain('to send the others');
  expect(
    ids(sent())
      .slice(1_200, 1_250)
      .toSorted((a, b) => a - b),
  ).toEqual(list(50, 1_200));
  expect(sent()).toHaveLength(1_200 + 50 + 120);
});

it('passes a block of rejected rows', async () => {
  const { run, sent } = await setUpImport(
    write(list(200)),
    rejectIf((id) => id < 150),
  );
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('100 rows in succession failed') });
  const { code, stdout } = await run();
  expect([code, stdout]).toEqual([1, expect.stringContaining('50 of 200 rows are applied.')]);
  expect(stdout).not.toContain('to send the others');
  expect(unique(sent())).toEqual(list(200));
});

it('tries rows once per import that something in front of the service has rejected', async () => {
  const { run, sent } = await setUpImport(write(list(240)), ({ subscriberId }) =>
    Number(subscriberId) % 2 === 0
      ? undefined
      : { status: 403, headers: { 'content-type': 'text/html' }, body: 'Blocked' },
  );
  expect((await run()).code).toBe(1);
  const blocked = 240 - unique(sent()).filter((id) => id % 2 === 0).length;
  const { code, stdout, stderr } = await run();
  expect([blocked, code, stderr]).toEqual([120, 1, expect.not.stringMatching(/Correct the API key|in succession/)]);
  expect(stdout).toContain('120 of 240 rows are applied.');
  expect(sent()).toHaveLength(240 + 120);
});

it('goes on with an interrupted restart, with or without --restart, until all rows were sent again', async () => {
  const { interrupt, run, sent, results } = await setUpInterruptions(90);
  expect((await run()).code).toBe(0);
  const { stdout } = await interrupt(20, '--restart');
  expect(stdout).toContain('Run the same command again to send the others.');
  const second = await interrupt(20);
  expect(second.stdout).toMatch(
    /^Continuing the restart: \d+ of 90 rows are already sent again\. To begin over, delete the results file\.$/m,
  );
  const third = await run('--restart');
  expect(third).toMatchObject({ code: 0, stdout: expect.stringContaining('Continuing the restart:') });
  expect(third.stdout).toContain('All 90 rows of the file are applied.');
  const again = ids(sent()).slice(90);
  expect(again).toHaveLength(90);
  expect(new Set(again).size).toBe(90);
  expect(new Set(sent().map(({ key }) => key)).size).toBe(180);
  expect(results().map(({ outcome }) => outcome)).not.toContain('pending');
  expect((await run()).stdout).toContain('All rows are already applied');
  // Only a complete restart is followed by another one.
  expect((await run('--restart')).code).toBe(0);
  expect(sent()).toHaveLength(270);
});

it('sends every row again if an import that was no restart is interrupted, and then restarted', async () => {
  const { interrupt, run, sent } = await setUpInterruptions(60);
  await interrupt(20);
  const count = sent().length;
  const { code, stdout } = await run('--restart');
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('Continuing')]);
  expect(sent()).toHaveLength(count + 60);
});

it('does not advise to restart again after a complete restart', async () => {
  const { run, sent } = await setUpImport(
    write(list(6)),
    rejectIf((id) => id === 3),
  );
  const advice = 'correct it in users.csv, and run the command without --restart again.\n';
  expect((await run('--restart')).stdout).toContain(advice);
  expect((await run()).stdout).toContain('correct it in users.csv, and run the same command again.\n');
  expect(ids(sent()).slice(6)).toEqual([3]);
});

it('writes the rows that the service rejects like those of the check, and imports the corrected file', async () => {
  const { folder, importFile, run, sent } = await setUpImport(
    'subscriberId,email,firstName\n1,a@mail.example,"A, ""x"""\n2,nobody,B\n3,c@mail.example,\n4,d@mail.example,D\n',
    (row) =>
      /^[ac]@/.test(row.email ?? '')
        ? { status: 422, body: { message: [`${row.email} is not deliverable`] } }
        : undefined,
  );
  const { code, stdout, stderr } = await run('--skip-invalid');
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining('\nusers.csv.rejected.csv has the rejected rows, with reasons.\n'),
  ]);
  expect(stdout).toContain('3 rejected rows: correct them in users.csv');
  // The first reason of a code is printed while the import runs, and not again at its end.
  expect(stderr.split('\n').filter((line) => line.startsWith('users.csv:2:'))).toEqual([
    'users.csv:2: … is not deliverable (BAD_USER_INPUT)',
  ]);
  const rejected = await readFile(folder.path(REJECTED), 'utf8');
  expect(rejected.split('\n')).toEqual([
    'line,reasons,subscriberId,email,firstName',
    '2,"… is not deliverable (BAD_USER_INPUT)",1,a@mail.example,"A, ""x"""',
    '3,email must be an email address.,2,nobody,B',
    '4,"… is not deliverable (BAD_USER_INPUT)",3,c@mail.example,',
    '',
  ]);
  expect((await stat(folder.path(REJECTED))).mode & 0o777).toBe(0o600);
  await writeFile(folder.path(REJECTED), rejected.replace('nobody', 'b@mail.example').replace(/[ac]@/g, 'right@'));
  expect(await importFile(REJECTED)).toMatchObject({ code: 0, stderr: '' });
  expect(unique(sent())).toEqual([1, 2, 3, 4]);
});

it('prints the first reason of each code when it happens', async () => {
  const answers = ['applied', 'Not deliverable', 'Not deliverable', 'Conflict'];
  const { optionsOf } = await setUpImport(
    write(list(60)),
    ({ subscriberId }) => {
      const message = answers[Number(subscriberId)] ?? 'applied';
      const status = message === 'Conflict' ? 409 : 422;
      return message === 'applied' ? undefined : { status, body: { message } };
    },
    { NOTIGRAPH_MAX_CONCURRENT_CALLS_PER_KEY: '1' },
  );
  await using running = spawnNotigraph(optionsOf('--rate', '4'));
  const reason = 'Not deliverable \\(BAD_USER_INPUT\\)';
  await running.printed('stderr', new RegExp(`^users\\.csv:3: ${reason}\nusers\\.csv:5: Conflict \\(.*\\)\n`));
  const { stderr } = await running.stop('SIGINT'); // Long before the last row.
  expect(stderr).toMatch(new RegExp(`\nusers\\.csv:4: ${reason}\n$`));
});

it('writes rejected JSON lines as they are in the file', async () => {
  const { folder, importFile } = await setUpImport('', ({ subscriberId }) =>
    Number(subscriberId) < 3 ? { status: 422, body: { message: ['Rejected'] } } : undefined,
  );
  const lines = [' {"email": "a@mail.example", "subscriberId": 1}', '{"subscriberId":"2"}', '{"subscriberId":"3"}'];
  await writeFile(folder.path('users.jsonl'), `${lines.join('\n')}\n`);
  expect((await importFile('users.jsonl')).code).toBe(1);
  expect((await readFile(folder.path('users.jsonl.rejected.jsonl'), 'utf8')).split('\n')).toEqual([
    '{"line":1,"reasons":"Rejected (BAD_USER_INPUT)", "email": "a@mail.example", "subscriberId": 1}'.replace(
      '", "email',
      '","email',
    ),
    '{"line":2,"reasons":"Rejected (BAD_USER_INPUT)","subscriberId":"2"}',
    '',
  ]);
});

it('keeps a file of rejected rows that a person has changed, or that it does not know', async () => {
  const { folder, run } = await setUpImport(
    write(list(5)),
    rejectIf((id) => id === 3),
  );
  const files = async () => (await readdir(folder.path())).filter((name) => name.includes('rejected')).toSorted();
  await writeFile(folder.path(REJECTED), 'of somebody else');
  const numbered = (number: number) => `users.csv.rejected-${number}.csv`;
  expect((await run()).stdout).toContain(`${numbered(2)} has the rejected rows`);
  expect((await run()).stdout).toContain(`${numbered(2)} has the rejected rows`); // It is as it was written.
  expect(await files()).toEqual([numbered(2), REJECTED].toSorted());

  const corrected = (await readFile(folder.path(numbered(2)), 'utf8')).replace('3@', 'right@');
  await writeFile(folder.path(numbered(2)), corrected);
  for (const args of [['--dry-run'], ['--dry-run', '--skip-invalid']]) {
    expect((await run(...args)).code).toBe(0);
    expect(await files()).toEqual([numbered(2), REJECTED].toSorted());
  }
  expect((await run()).stdout).toContain(`${numbered(3)} has the rejected rows`);
  expect(await readFile(folder.path(numbered(2)), 'utf8')).toBe(corrected);
  expect(await readFile(folder.path(REJECTED), 'utf8')).toBe('of somebody else');

  // Without rejected rows, only the file that nobody has changed is removed.
  await writeFile(folder.path('users.csv'), write([1, 2]));
  expect((await run()).code).toBe(0);
  expect(await files()).toEqual([numbered(2), REJECTED].toSorted());
});

it('writes rejected rows of a dry run only if it is asked to', async () => {
  const { folder, run } = await setUpImport('subscriberId,email\n1,a@mail.example\n2,nobody\n');
  expect((await run('--dry-run', '--skip-invalid')).code).toBe(0);
  expect(await readdir(folder.path())).toEqual(['users.csv']);
  const { code, stdout } = await run('--dry-run', '--skip-invalid', '--rejected', 'wrong.csv');
  expect([code, stdout]).toEqual([0, expect.stringContaining('\nwrong.csv has the rejected rows, with reasons.\n')]);
  expect(await readFile(folder.path('wrong.csv'), 'utf8')).toBe(
    'line,reasons,subscriberId,email\n3,email must be an email address.,2,nobody\n',
  );
  expect((await readdir(folder.path())).toSorted()).toEqual(['users.csv', 'wrong.csv']);
  expect(await run('--rejected', './users.csv')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--rejected and --report must name different files'),
  });
});

it('compares a dry run with the results, and shows the first rows that would be sent', async () => {
  const { folder, run, sent } = await setUpImport(
    write(list(8)),
    rejectIf((id) => id === 5),
  );
  expect((await run()).code).toBe(1);
  const rows = ['0,0@mail.example', '1,1@mail.example', '2,new@mail.example', '5,5@mail.example', '6,6@mail.example'];
  await writeFile(folder.path('users.csv'), `subscriberId,email\n${rows.join('\n')}\n20,20@mail.example\n21,nobody\n`);
  const before = await readFile(folder.path(RESULTS));
  const count = sent().length;
  const { code, stdout } = await run('--dry-run', '--skip-invalid');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `users.csv: 6 rows valid, 1 rejected.
Compared with ${RESULTS}: 1 new, 1 changed, 3 applied and unchanged, 1 rejected before and unchanged, 3 no longer in the file. 3 rows would be sent.
The first rows, as they would be sent to POST /v1/subscribers:
  line 4: {"subscriberId":"2","email":"new@mail.example"}
  line 7: {"subscriberId":"20","email":"20@mail.example"}
  line 5: {"subscriberId":"5","email":"5@mail.example"}
Nothing was sent.
`,
  });
  expect(before.equals(await readFile(folder.path(RESULTS)))).toBe(true);
  expect(sent()).toHaveLength(count);
  await writeFile(folder.path('users.csv'), write([0, 1]));
  expect((await run('--dry-run')).stdout).toContain(
    '2 applied and unchanged, 6 no longer in the file. 0 rows would be sent.\nNothing was sent.\n',
  );
  const restart = await run('--dry-run', '--restart');
  expect(restart.stdout).toContain('  line 2: {"subscriberId":"0"');
  expect(restart.stdout).not.toContain('Compared with');
});

it('does not compare a dry run with the results of an import that runs, or that are none', async () => {
  const secondSent = Promise.withResolvers<void>();
  const { folder, optionsOf, run } = await setUpImport(write(list(20)), ({ subscriberId }) => {
    if (subscriberId === '1') {
      secondSent.resolve(); // Only then is the outcome of the first one stored.
    }
    return undefined;
  });
  const running = spawnNotigraph(optionsOf('--rate', '1'));
  await secondSent.promise;
  expect(await run('--dry-run')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`results file ${RESULTS} is running`),
  });
  await running.stop('SIGKILL');
  // What a killed import has stored is compared.
  expect((await run('--dry-run')).stdout).toMatch(
    /: \d+ applied and unchanged, \d+ not applied yet\. \d+ rows would be sent\.\n/,
  );
  await writeFile(folder.path('other.db'), 'something else');
  expect(await run('--dry-run', '--results', 'other.db')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no results'),
  });
});

const MINUTE_MS = 60_000;

/** Lets the clock of a process show the time of a minute ago. */
const MINUTE_AGO = ['--import', `data:text/javascript,const { now } = Date; Date.now = () => now() - ${MINUTE_MS};`];

it('counts rows as created that a killed import has sent, if the service knows no idempotency keys', async () => {
  const stored = new Map<string, string>();
  let isKilled = false;
  const answered = Promise.withResolvers<void>();
  const { optionsOf, run, results } = await setUpImport(write(list(30)), ({ subscriberId }) => {
    const now = Date.now() - (isKilled ? 0 : MINUTE_MS);
    const date = { date: new Date(now).toUTCString() };
    const isOld = subscriberId === '29';
    const createdAt = stored.get(subscriberId) ?? new Date(now - (isOld ? 2 * MINUTE_MS : 0)).toISOString();
    stored.set(subscriberId, createdAt);
    if (stored.size === 12) {
      answered.resolve();
    }
    // The responses of the rows in flight are lost.
    return stored.size >= 10 && !isKilled
      ? { status: 201, headers: { ...date, 'transfer-encoding': 'chunked' }, body: '' }
      : {
          status: 201,
          headers: date,
          body: { data: subscriber({ subscriberId, _environmentId: 'env-1', createdAt }) },
        };
  });
  // The first import began a minute ago, by its clock and that of the service.
  const first = spawnNotigraph({ ...optionsOf(), nodeArgs: MINUTE_AGO });
  await answered.promise;
  await first.stop('SIGKILL');
  isKilled = true;
  expect((await run()).code).toBe(0);
  expect(results().map(({ outcome }) => outcome)).toEqual([...list(29).map(() => 'created'), 'updated']);
});

it.each([[[]], [['--bulk']]])(
  'counts changed rows as updated that an earlier import has created (%j)',
  async (args) => {
    const stored = new Map<string, string>();
    let passedMs = -MINUTE_MS;
    const now = () => new Date(Date.now() + passedMs);
    const store = ({ subscriberId }: Sent) => {
      const createdAt = stored.get(subscriberId) ?? now().toISOString();
      stored.set(subscriberId, createdAt);
      return createdAt;
    };
    const { folder, optionsOf, run } = await setUpImport(write(list(30)), (row) => {
      const updated = row.subscribers?.filter(({ subscriberId }) => stored.has(subscriberId));
      const created = row.subscribers?.filter(({ subscriberId }) => !stored.has(subscriberId));
      created?.forEach(store);
      const { subscriberId } = row;
      const data = row.subscribers
        ? { created, updated, failed: [] }
        : subscriber({ subscriberId, _environmentId: 'env-1', createdAt: store(row) });
      return { status: 201, headers: { date: now().toUTCString() }, body: { data } };
    });
    const first = await runNotigraph({ ...optionsOf(...args), nodeArgs: MINUTE_AGO });
    expect(first.stdout).toContain('30 created, 0 updated.');
    passedMs = 0;
    await writeFile(folder.path('users.csv'), write(list(30)).replaceAll('@', '@new.'));
    expect((await run(...args)).stdout).toContain('0 created, 30 updated.');
  },
);

it('sends nothing again if only the order of columns or members has changed', async () => {
  const { folder, run, importFile, sent } = await setUpImport(
    'subscriberId,email,data.a,data.b\n1,a@mail.example,x,y\n',
  );
  expect((await run()).code).toBe(0);
  await writeFile(folder.path('users.csv'), 'data.b,subscriberId,data.a,email\ny,1,x,a@mail.example\n');
  expect((await run()).stdout).toContain('All rows are already applied');
  await writeFile(
    folder.path('users.jsonl'),
    '{"data":{"b":"y","a":"x"},"email":"a@mail.example","subscriberId":"1"}\n',
  );
  expect((await importFile('users.jsonl', '--results', RESULTS)).stdout).toContain('All rows are already applied');
  expect(sent()).toHaveLength(1);
  await writeFile(folder.path('users.jsonl'), '{"subscriberId":"1","channels":[{"a":1},{"b":2}]}\n');
  expect((await importFile('users.jsonl', '--results', RESULTS)).code).toBe(0);
  await writeFile(folder.path('users.jsonl'), '{"subscriberId":"1","channels":[{"b":2},{"a":1}]}\n');
  expect((await importFile('users.jsonl', '--results', RESULTS)).code).toBe(0);
  expect(sent()).toHaveLength(3); // The order of a list is a value.
});

it('has digests that cannot be guessed, and no trace of rows that are no longer in the file', async () => {
  const write = (names: readonly string[]) => `subscriberId\n${names.map((name) => `${name}\n`).join('')}`;
  const all = list(3_000).map((i) => createHash('md5').update(String(i)).digest('hex'));
  const { folder, run } = await setUpImport(write(all));
  expect((await run()).code).toBe(0);
  const plain = createHash('sha256')
    .update(JSON.stringify({ subscriberId: all[0] }))
    .digest();
  expect((await readFile(folder.path(RESULTS))).includes(plain)).toBe(false);
  const isLeft = async (ids: readonly string[]) => {
    expect((await readdir(folder.path())).toSorted()).toEqual(['users.csv', RESULTS].toSorted());
    const text = await readFile(folder.path(RESULTS), 'latin1');
    return ids.filter((id) => text.includes(id)).length;
  };
  expect(await isLeft(all)).toBe(3_000);
  const kept = all.filter((_, i) => i % 3 > 0);
  await writeFile(folder.path('users.csv'), write(kept));
  expect((await run()).code).toBe(0);
  expect(await isLeft(all)).toBe(kept.length);
  await writeFile(folder.path('users.csv'), write(kept.slice(1_000)));
  expect((await run('--restart')).code).toBe(0);
  expect(await isLeft(all)).toBe(1_000);
});

/** Statements of release 1.0.0, which goes on with a file after a downgrade. */
const V1 = {
  schema: `
    PRAGMA application_id = ${0x4e_54_47_49};
    CREATE TABLE IF NOT EXISTS target (service TEXT NOT NULL, environmentId TEXT) STRICT;
    CREATE TABLE IF NOT EXISTS rows (
      subscriberId TEXT PRIMARY KEY, line INTEGER, digest BLOB NOT NULL, key TEXT NOT NULL,
      outcome TEXT, code TEXT, message TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS problems (line INTEGER NOT NULL, subscriberId TEXT, message TEXT NOT NULL) STRICT;
    CREATE VIEW IF NOT EXISTS outcomes AS
      SELECT line, subscriberId, coalesce(outcome, 'pending') AS outcome, code, message FROM rows WHERE line IS NOT NULL
      UNION ALL SELECT line, subscriberId, 'invalid', NULL, message FROM problems;`,
  add: `
    INSERT INTO rows (subscriberId, line, digest, key) VALUES (:subscriberId, :line, :digest, :key)
    ON CONFLICT DO UPDATE SET
      line = excluded.line, digest = excluded.digest,
      key = iif(digest = excluded.digest, key, excluded.key),
      outcome = iif(digest = excluded.digest, outcome, NULL),
      code = iif(digest = excluded.digest, code, NULL),
      message = iif(digest = excluded.digest, message, NULL)
    WHERE line IS NULL
    RETURNING key`,
};

/** Does with a file what release 1.0.0 does, for rows of `write`. Returns the ids that it would send, and applies them. */
function importWithV1(path: string, service: string, rows: readonly number[]): number[] {
  using database = new DatabaseSync(path);
  database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; ${V1.schema}
    BEGIN IMMEDIATE; DELETE FROM problems; UPDATE rows SET line = NULL;`);
  const add = database.prepare(V1.add);
  for (const [i, id] of rows.entries()) {
    const fields = JSON.stringify({ subscriberId: String(id), email: `${id}@mail.example` });
    add.get({
      subscriberId: String(id),
      line: i + 2,
      digest: createHash('sha256').update(fields).digest(),
      key: `v1-${id}`,
    });
  }
  const target = database.prepare('SELECT * FROM target').get();
  expect(target === undefined ? service : target.service).toBe(service);
  database.exec('DELETE FROM rows WHERE line IS NULL; DELETE FROM target;');
  database.prepare('INSERT INTO target VALUES (?, ?)').run(service, 'env-1');
  database.exec('COMMIT');
  const outcomes = database
    .prepare('SELECT DISTINCT outcome FROM outcomes')
    .all()
    .map(({ outcome }) => outcome);
  expect(['created', 'updated', 'failed', 'unknown', 'pending', 'invalid']).toEqual(expect.arrayContaining(outcomes));
  const open = database
    .prepare(
      "SELECT subscriberId FROM rows WHERE coalesce(outcome, 'pending') NOT IN ('created', 'updated') ORDER BY line",
    )
    .all();
  database.exec("UPDATE rows SET outcome = 'created', code = NULL, message = NULL; PRAGMA journal_mode = DELETE;");
  return open.map(({ subscriberId }) => Number(subscriberId));
}

it('goes on with a file of release 1.0.0, which goes on with it afterwards', async () => {
  const { folder, optionsOf, interrupt, run, sent } = await setUpInterruptions(60);
  const path = folder.path(RESULTS);
  const service = optionsOf().args[4] ?? '';
  expect(importWithV1(path, service, list(40))).toEqual(list(40));
  const { ids: first } = await interrupt(8);
  const without = (sent: readonly number[]) => list(60).filter((id) => !sent.includes(id));
  expect(Math.min(...first)).toBe(40); // Nothing that 1.0.0 has applied.
  expect(importWithV1(path, service, list(60))).toEqual(without([...list(40), ...first]));
  const { ids: restarted } = await interrupt(25, '--restart');
  expect(importWithV1(path, service, list(60))).toEqual(without(restarted));
  const before = sent().length;
  expect((await run()).stdout).toContain('All rows are already applied');
  expect((await run('--restart')).code).toBe(0);
  expect(sent()).toHaveLength(before + 60);
});

it('gives files of versions since 1.0.0 the tables and outcomes that 1.0.0 knows', async () => {
  const { folder, optionsOf, run, sent } = await setUpImport(write(list(3)));
  const path = folder.path(RESULTS);
  const service = optionsOf().args[4] ?? '';
  importWithV1(path, service, list(3));
  {
    using database = new DatabaseSync(path);
    database.exec(`
      DROP TABLE target; CREATE TABLE target (service TEXT NOT NULL, environmentId TEXT, startedAt INTEGER) STRICT;
      INSERT INTO target VALUES ('${service}', 'env-1', 1); UPDATE rows SET outcome = 'uncleared' WHERE subscriberId = '1'`);
  }
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 3 rows of the file are applied.'),
  });
  expect(ids(sent())).toEqual([1]);
  expect(importWithV1(path, service, list(3))).toEqual([]);
});

it('stores uncleared rows with an outcome that 1.0.0 knows', async () => {
  const { folder, importFile, report } = await setUpImport('', ({ subscriberId }) => ({
    status: 201,
    body: { data: subscriber({ subscriberId, _environmentId: 'env-1', phone: '+44 20' }) },
  }));
  await writeFile(folder.path('users.jsonl'), '{"subscriberId":"1","phone":null}\n');
  expect((await importFile('users.jsonl', '--report', 'report.jsonl')).code).toBe(1);
  expect(await report('report.jsonl')).toMatchObject([{ outcome: 'uncleared' }]);
  expect(readResults(folder.path('users.jsonl.results.db'))).toMatchObject([{ outcome: 'unknown', code: 'UNCLEARED' }]);
});

it('leaves no trace of rows that 1.0.0 has removed', async () => {
  const { folder, optionsOf, run } = await setUpImport(write(list(100)));
  const service = optionsOf().args[4] ?? '';
  importWithV1(folder.path(RESULTS), service, list(3_000, 1_000_000));
  importWithV1(folder.path(RESULTS), service, list(100));
  const isLeft = async () => /10000\d\d/.test(await readFile(folder.path(RESULTS), 'latin1'));
  expect(await isLeft()).toBe(true);
  expect((await run()).code).toBe(0);
  expect(await isLeft()).toBe(false);
});

/** Largest file that a limited process can write: 256 KiB. */
const BLOCKS = 512;

it('names the results file if it cannot be written while rows are sent, and goes on later', async () => {
  const { folder, optionsOf, run, sent } = await setUpImport(write(list(300)));
  const full = await runNotigraph({ ...optionsOf(), maxFileBlocks: BLOCKS });
  expect(full.code).toBe(1);
  expect(full.stderr).toBe(
    `The results file ${RESULTS} can't be written: disk I/O error. Fix this and run the same command again.\n`,
  );
  expect(sent().length).toBeGreaterThan(20);
  expect(await run()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All 300 rows of the file are applied.'),
  });
  expect(await readdir(folder.path())).toEqual(['users.csv', RESULTS]);
  // Only rows whose outcome couldn't be written are sent twice.
  expect(sent().length).toBeLessThan(300 + 50);
});

it('says the same if the results of an earlier import cannot be written, and keeps them', async () => {
  const { folder, optionsOf, run, sent } = await setUpImport(write(list(1_000)));
  expect((await run()).code).toBe(0);
  await writeFile(folder.path('users.csv'), write(list(1_000, 1_000)));
  const full = await runNotigraph({ ...optionsOf(), maxFileBlocks: 128 });
  expect([full.code, full.stderr]).toEqual([1, expect.stringMatching(/^The results file .* can't be written: .*\n$/)]);
  expect((await readdir(folder.path())).toSorted()).toEqual(['users.csv', RESULTS].toSorted());
  await writeFile(folder.path('users.csv'), write(list(1_000)));
  expect((await run()).stdout).toContain('All rows are already applied');
  expect(sent()).toHaveLength(1_000);
});

it('names the folder of temporary files if they cannot be written, and leaves no new file', async () => {
  const { folder, optionsOf, sent } = await setUpImport(
    `subscriberId,firstName\n${list(60)
      .map((id) => `${id},${'x'.repeat(200_000)}\n`)
      .join('')}`,
  );
  for (const args of [[], ['--dry-run']]) {
    const { args: words, env, cwd } = optionsOf(...args);
    const full = await runNotigraph({ cwd, args: words, env: { ...env, SQLITE_TMPDIR: cwd }, maxFileBlocks: BLOCKS });
    expect(full).toMatchObject({
      code: 1,
      stderr: `Temporary files can't be written in ${cwd}: disk I/O error. Free space there, or name another folder with the variable SQLITE_TMPDIR, and run the same command again.\n`,
    });
    expect(await readdir(folder.path())).toEqual(['users.csv']);
  }
  expect(sent()).toEqual([]);
});

it('names a report that cannot be written, and removes a part of it', async () => {
  const { folder, optionsOf, run } = await setUpImport(write(list(60)));
  expect((await run('--report', '/dev/full')).stderr).toMatch(
    /^The file \/dev\/full can't be written: no space left on device\. Free space in \/dev and run the same command again\.\n$/,
  );
  expect((await stat('/dev/full')).isCharacterDevice()).toBe(true);
  const limited = await runNotigraph({ ...optionsOf('--dry-run', '--report', 'report.jsonl'), maxFileBlocks: 4 });
  expect(limited.stderr).toMatch(/^The file report\.jsonl can't be written: file too large\./);
  expect(await readdir(folder.path())).not.toContain('report.jsonl');
});

it('ends as it would without the file of rejected rows, if that cannot be written', async () => {
  const { folder, run } = await setUpImport(
    write(list(4)),
    rejectIf((id) => id === 2),
  );
  const { code, stdout, stderr } = await run('--rejected', 'missing/rejected.csv');
  expect([code, stdout]).toEqual([1, expect.stringContaining('3 of 4 rows are applied.')]);
  expect(stderr).toContain("The file missing/rejected.csv can't be written: no such file or directory.");
  await rm(folder.path(RESULTS));
});

it('runs as the job of docs/import.md does, which Kubernetes accepts', async () => {
  const [job = ''] = blocks(read('docs/import.md'), 'yaml');
  const resource = parse(job);
  expect(findResourceProblems(resource)).toEqual([]);
  const [{ args, env, volumeMounts }] = resource.spec.jobTemplate.spec.template.spec.containers;
  const { folder, optionsOf, sent } = await setUpImport('subscriberId\n1\n');
  const inFolder = (text: string) => text.replace(volumeMounts[0].mountPath, folder.path());
  const { env: ours } = optionsOf();
  const names = env.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['NOTIGRAPH_UPSTREAM', 'NOTIGRAPH_IMPORT_KEY', 'SQLITE_TMPDIR']);
  const [, , , , upstream = ''] = optionsOf().args;
  const result = await runCommand({
    cwd: '/',
    args: args.map(inFolder),
    env: { ...ours, NOTIGRAPH_UPSTREAM: upstream, SQLITE_TMPDIR: folder.path() },
  });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(unique(sent())).toEqual([1]);
});
