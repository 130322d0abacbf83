import { expect, it } from 'vitest';
import { createSandboxClient } from '../../../test/support/sandbox-client.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { spawnSandbox } from '../../../test/support/sandbox-process.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';

const CLIENTS = 8;
/** Acknowledged writes after which the process is killed, per round. */
const ROUNDS = [40, 150];

interface Attempt {
  name: string;
  /** Body of the response; absent if the connection broke before it arrived. */
  answer?: string;
}

it('the sandbox keeps every acknowledged write through kill -9, and no partial write', async () => {
  await using folder = await createTemporaryFolder();
  const file = folder.path('sandbox.db');
  const attempts: Attempt[] = [];
  for (const acknowledgements of ROUNDS) {
    attempts.push(...(await writeUntilKilled(file, acknowledgements)));
  }
  const acknowledged = attempts.filter(({ answer }) => answer !== undefined);
  expect(acknowledged.length).toBeGreaterThanOrEqual(190);
  expect(attempts.length).toBeGreaterThan(acknowledged.length);

  await using sandbox = await spawnSandbox('--file', file);
  const send = await createSandboxClient(sandbox.url);
  const survivors = new Map<unknown, string>();
  for (const { name, _id } of (await send('GET /v1/notification-groups')).list) {
    expect(survivors.has(name)).toBe(false);
    survivors.set(name, String(_id));
  }

  for (const { name, answer } of attempts) {
    const repeated = await send('POST /v1/notification-groups', groupRequest(name));
    // A record and its stored response are written together or not at all, so that a repetition leads to exactly one record.
    const written = survivors.get(name);
    expect(repeated.headers.get('idempotency-replay')).toBe(written === undefined ? null : 'true');
    expect(repeated.data._id).toBe(written ?? repeated.data._id);
    if (answer !== undefined) {
      expect(written).toBeDefined();
      expect(repeated.text).toBe(answer);
    }
  }
  const names = (await send('GET /v1/notification-groups')).list.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBe(attempts.length + 4);
});

const groupRequest = (name: string) => ({ body: { name }, headers: { 'idempotency-key': `key of ${name}` } });

/** Lets several clients write as fast as they can, and kills the process meanwhile. */
async function writeUntilKilled(file: string, acknowledgements: number): Promise<Attempt[]> {
  await using sandbox = await spawnSandbox('--file', file);
  const attempts: Attempt[] = [];
  let acknowledged = 0;
  let killed: Promise<unknown> | undefined;

  async function runClient(client: number): Promise<void> {
    for (let number = 0; killed === undefined; number++) {
      const attempt: Attempt = { name: `round ${acknowledgements}, client ${client}, number ${number}` };
      attempts.push(attempt);
      try {
        attempt.answer = await createGroup(sandbox.url, attempt.name);
      } catch {
        return;
      }
      acknowledged++;
      if (acknowledged >= acknowledgements) {
        killed ??= sandbox.stop('SIGKILL');
      }
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)));
  expect(await killed).toEqual({ code: null, signal: 'SIGKILL' });
  return attempts;
}

async function createGroup(url: string, name: string): Promise<string> {
  const { body, headers } = groupRequest(name);
  const response = await fetch(`${url}/v1/notification-groups`, {
    method: 'POST',
    headers: {
      authorization: `ApiKey ${SANDBOX_KEYS.development}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return response.text();
}
