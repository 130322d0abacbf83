import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { createRandom, digestOf, echoKeyDigest, runConcurrently } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { sampleSize } from '../support/samples.ts';
import { type Connection, type ServiceRequest, startService } from '../support/service.ts';

interface Operation {
  document: (id: string) => string;
  /** Matches the digest in the response. */
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

/** Mix of operations, mostly reads of one record. */
const MIX = [READ, READ, READ, READ, READ, READ, READ, LIST, LIST, WRITE];

interface PairOptions {
  pairs: number;
  /** Maximum number of pairs in flight. */
  atOnce: number;
  keyOf(pair: number, side: 'a' | 'b'): string;
  idOf(pair: number): string;
}

/** Sends pairs of the same operation with two keys in the same tick. The upstream fails or delays one request in ten. */
async function sendPairs({ pairs, atOnce, keyOf, idOf }: PairOptions) {
  const random = createRandom(42);
  const faults = { unavailable: 0, reset: 0, slow: 0, refused: 0 };
  const requested = new Map<string, number>();

  function serve(request: ServiceRequest, connection: Connection): void {
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
      setTimeout(() => connection.answer(echoKeyDigest(request)), 5 + 20 * random());
    } else if (dice < 0.1) {
      faults.refused += 1;
      connection.answer({
        status: 403,
        body: { message: `"name":"${digestOf(request.headers.authorization ?? '')}"` },
      });
    } else {
      connection.answer(echoKeyDigest(request));
    }
  }

  await using upstream = await startService(serve);
  await using gateway = await startGateway({
    upstream: upstream.url,
    retryBaseDelayMs: 5,
    retryMaxDelayMs: 10,
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

  await runConcurrently(pairs, atOnce, (pair) => {
    const { document, digest } = MIX[pair % MIX.length] ?? READ;
    const text = document(idOf(pair));
    return Promise.all([send(text, digest, keyOf(pair, 'a')), send(text, digest, keyOf(pair, 'b'))]);
  });
  await client.close();
  return { crossed, outcomes, faults, requested, log: gateway.log };
}

it('thousands of pairs of the same operation with two keys in the same tick get their own responses', async () => {
  const pairs = sampleSize(1_000, 10_000);
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
  expect(Math.min(...Object.values(faults))).toBeGreaterThan(pairs / 200);

  // Each pair leads to two calls, and only reads are retried.
  const ofNew = [...requested].filter(([call]) => call.includes(' new-'));
  expect(ofNew).toHaveLength((2 * (pairs * 3)) / 4);
  const attempts = Math.max(...ofNew.map(([, count]) => count));
  expect(attempts).toBeLessThanOrEqual(3);
  expect(attempts).toBeGreaterThanOrEqual(sampleSize(2, 3)); // In a small sample, no call may fail twice.
  expect(Math.max(...ofNew.filter(([call]) => call.includes(' POST ')).map(([, count]) => count))).toBe(1);
  const keys = new Set([...requested.keys()].map((call) => call.split(' ')[1]));
  expect(keys.size).toBe((2 * (pairs * 3)) / 4 + 2 * 6);
});

it('pairs that share calls of one key share none with the other key', async () => {
  const pairs = sampleSize(500, 2_000);
  const { crossed, outcomes, requested } = await sendPairs({
    pairs,
    atOnce: 50,
    keyOf: (_, side) => side,
    idOf: () => 'same',
  });
  expect(crossed).toEqual([]);
  expect(outcomes.data + outcomes.refused).toBeGreaterThan(2 * pairs * 0.9);
  const total = [...requested.values()].reduce((sum, count) => sum + count, 0);
  expect(total).toBeLessThan(pairs); // Calls were shared.
  for (const key of ['a', 'b']) {
    expect(requested.get(`ApiKey ${key} GET /v1/workflows/same`)).toBeGreaterThan(10);
  }
});
