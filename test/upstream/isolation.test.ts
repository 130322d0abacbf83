import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { startNotigraph } from '../support/process.ts';
import {
  MISBEHAVIOURS,
  type RawAnswer,
  type RawConnection,
  type RawRequest,
  rawAnswer,
  startRawUpstream,
} from '../support/raw-upstream.ts';
import { group, subscriber, workflow } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const digestOf = (authorization: string): string =>
  createHash('sha256').update(authorization).digest('hex').slice(0, 16);

/** The same from run to run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Answers with a digest of the key, in every text that a client can see. */
function echo({ method, path, headers }: RawRequest): RawAnswer {
  const name = digestOf(headers.authorization ?? '');
  const id = decodeURIComponent(path.split('/').at(-1) ?? '');
  if (method === 'POST') {
    return { status: 201, body: { data: subscriber({ subscriberId: 'u', firstName: name }) } };
  }
  return { body: { data: path === '/v1/notification-groups' ? [group({ name })] : workflow({ _id: id, name }) } };
}

interface Operation {
  document: (id: string) => string;
  /** Finds the digest in its answer. */
  digest: RegExp;
}

const READ: Operation = {
  document: (id) => `{ workflow(idOrIdentifier: "${id}") { id name } }`,
  digest: /"name":"(\w+)"/,
};
const LIST: Operation = { document: () => '{ notificationGroups { name } }', digest: /"name":"(\w+)"/ };
const WRITE: Operation = {
  document: () =>
    'mutation { createSubscriber(input: { subscriberId: "u" }) { ... on CreateSubscriberSuccess { subscriber { firstName } } } }',
  digest: /"firstName":"(\w+)"/,
};

/** Mostly reads of one record. */
const MIX = [READ, READ, READ, READ, READ, READ, READ, LIST, LIST, WRITE];

interface Crowd {
  pairs: number;
  /** Pairs on their way at a time. */
  atOnce: number;
  keyOf(pair: number, side: 'a' | 'b'): string;
  idOf(pair: number): string;
}

/** Sends pairs of the same operation with two keys in the same tick, to an upstream that fails one time in ten. */
async function sendPairs({ pairs, atOnce, keyOf, idOf }: Crowd) {
  const random = createRandom(42);
  const faults = { unavailable: 0, reset: 0, slow: 0, refused: 0 };
  const requested = new Map<string, number>();

  function serve(request: RawRequest, connection: RawConnection): void {
    const call = `${request.headers.authorization} ${request.method} ${request.path}`;
    requested.set(call, (requested.get(call) ?? 0) + 1);
    const dice = random();
    if (dice < 0.03) {
      faults.unavailable += 1;
      connection.answer({ status: 503, body: {} });
    } else if (dice < 0.06) {
      faults.reset += 1;
      connection.reset();
    } else if (dice < 0.09) {
      faults.slow += 1;
      setTimeout(() => connection.answer(echo(request)), 5 + 20 * random());
    } else if (dice < 0.1) {
      faults.refused += 1;
      connection.answer({
        status: 403,
        body: { message: `"name":"${digestOf(request.headers.authorization ?? '')}"` },
      });
    } else {
      connection.answer(echo(request));
    }
  }

  await using upstream = await startRawUpstream(serve);
  await using gateway = await startGateway({
    upstream: upstream.url,
    policies: { retry: { baseDelayMs: 5, maxDelayMs: 10 } },
  });
  const { origin, pathname } = new URL(gateway.url);
  const client = new Pool(origin, { connections: 2 * atOnce, pipelining: 1 });
  const crossed: string[] = [];
  const outcomes = { data: 0, refused: 0, failed: 0 };

  async function send(document: string, digest: RegExp, key: string): Promise<void> {
    const authorization = `ApiKey ${key}`;
    const { body } = await client.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization },
      body: JSON.stringify({ query: document }),
    });
    const text = await body.text();
    const expected = digestOf(authorization);
    const [, seen] = digest.exec(text) ?? [];
    const [, told] = /\\"name\\":\\"(\w+)/.exec(text) ?? [];
    if ((seen !== undefined && seen !== expected) || (told !== undefined && told !== expected)) {
      crossed.push(`${key} got ${text}`);
    }
    outcomes[seen !== undefined ? 'data' : told !== undefined ? 'refused' : 'failed'] += 1;
  }

  let next = 0;
  async function sendInTurn(): Promise<void> {
    while (next < pairs) {
      const pair = next;
      next += 1;
      const { document, digest } = MIX[pair % MIX.length] ?? READ;
      const text = document(idOf(pair));
      await Promise.all([send(text, digest, keyOf(pair, 'a')), send(text, digest, keyOf(pair, 'b'))]);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  await client.close();
  return { crossed, outcomes, faults, requested, log: gateway.log };
}

it('of 10,000 pairs of the same operation with two keys in the same tick, each gets its own answer', async () => {
  const pairs = 10_000;
  const isNew = (pair: number) => pair % 4 !== 0;
  const { crossed, outcomes, faults, requested } = await sendPairs({
    pairs,
    atOnce: 40,
    keyOf: (pair, side) => (isNew(pair) ? `new-${pair}-${side}` : `known-${pair % 24}-${side}`),
    idOf: (pair) => `id-${pair % 7}`,
  });
  expect(crossed).toEqual([]);
  expect(outcomes.data + outcomes.refused + outcomes.failed).toBe(2 * pairs);
  expect(outcomes.data).toBeGreaterThan(2 * pairs * 0.95);
  expect(Math.min(...Object.values(faults))).toBeGreaterThan(50);

  // Every key was asked for: a pair is two calls, and only the repetitions of a read come on top.
  const ofNew = [...requested].filter(([call]) => call.includes(' new-'));
  expect(ofNew).toHaveLength((2 * (pairs * 3)) / 4);
  expect(Math.max(...ofNew.map(([, count]) => count))).toBe(3);
  expect(Math.max(...ofNew.filter(([call]) => call.includes(' POST ')).map(([, count]) => count))).toBe(1);
  const keys = new Set([...requested.keys()].map((call) => call.split(' ')[1]));
  expect(keys.size).toBe((2 * (pairs * 3)) / 4 + 2 * 6);
});

it('of pairs that share calls within a key, none shares with the other key', async () => {
  const pairs = 2_000;
  const { crossed, outcomes, requested } = await sendPairs({
    pairs,
    atOnce: 50,
    keyOf: (_, side) => side,
    idOf: () => 'same',
  });
  expect(crossed).toEqual([]);
  expect(outcomes.data + outcomes.refused).toBeGreaterThan(2 * pairs * 0.9);
  const total = [...requested.values()].reduce((sum, count) => sum + count, 0);
  expect(total).toBeLessThan(pairs); // They did share.
  for (const key of ['a', 'b']) {
    expect(requested.get(`ApiKey ${key} GET /v1/workflows/same`)).toBeGreaterThan(10);
  }
});

describe('a key', () => {
  const CANARY = 'canary-key-71f3e0';
  const statuses = [302, 400, 401, 402, 403, 404, 409, 410, 418, 422, 429, 500, 501, 502, 503, 504];

  /** Answers with this status, and quotes what it was sent wherever it can. */
  const quote = (status: number, connection: RawConnection) => {
    const told = `The key ${CANARY} of "ApiKey ${CANARY}" is of no use.`;
    const body = { statusCode: status, message: [told, { message: told }], errorId: CANARY, path: CANARY, stack: told };
    const answer = rawAnswer({
      status,
      headers: { location: `/${CANARY}`, 'x-key': CANARY, 'retry-after': CANARY },
      body,
    });
    connection.send(answer.replace('Status', CANARY));
  };

  it('appears in no answer and in nothing that the process prints, whatever the upstream does with it', async () => {
    const names = [...Object.keys(MISBEHAVIOURS), ...statuses.map(String), 'refused'];
    await using folder = await createTemporaryFolder();
    await using upstream = await startRawUpstream(({ path, body }, connection) => {
      const name = body === '' ? decodeURIComponent(path.split('/').at(-1) ?? '') : JSON.parse(body).name;
      const [, misbehave] = Object.entries(MISBEHAVIOURS).find(([known]) => known === name) ?? [];
      misbehave === undefined ? quote(Number(name), connection) : misbehave(connection, CANARY);
    });
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--upstream', upstream.url],
      env: {
        NOTIGRAPH_ATTEMPT_TIMEOUT_MS: '150',
        NOTIGRAPH_RETRY_BASE_DELAY_MS: '1',
        NOTIGRAPH_RETRY_MAX_DELAY_MS: '1',
        NOTIGRAPH_BREAKER_MINIMUM_CALLS: '1000',
      },
    });
    const answers: string[] = [];
    const ask = async (document: string, authorization = `ApiKey ${CANARY}`) => {
      const response = await fetch(notigraph.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query: document }),
      });
      const text = await response.text();
      answers.push(JSON.stringify([...response.headers]), text);
      return text;
    };

    const quoted = names.filter((name) => name !== 'refused');
    await Promise.all(
      quoted.flatMap((name) => [
        ask(`{ workflow(idOrIdentifier: "${name}") { id name } }`),
        ask(`mutation { createFeed(input: { name: "${name}" }) { __typename ... on MutationError { message } } }`),
      ]),
    );
    const calls = upstream.requests.filter(({ method }) => method !== 'HEAD'); // It looks for the upstream once, without a key.
    expect(calls.length).toBeGreaterThan(2 * quoted.length);
    expect(calls.every(({ headers }) => headers.authorization === `ApiKey ${CANARY}`)).toBe(true);
    await upstream.refuse();
    await ask('{ workflow(idOrIdentifier: "refused") { id } }');
    await ask('{');
    await ask('{ nothing }');
    for (const malformed of [CANARY, `Bearer ${CANARY}`, `ApiKey  ${CANARY}`, `ApiKey ${CANARY} ${CANARY}`]) {
      expect(await ask('{ __typename }', malformed)).toContain('UNAUTHENTICATED');
    }

    const { code, stdout, stderr } = await notigraph.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('{')).length).toBeGreaterThan(answers.length / 2);
    for (const text of [...answers, stdout, stderr]) {
      expect(text).not.toContain(CANARY);
    }
  });
});
