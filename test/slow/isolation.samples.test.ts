import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { connectClients, createRandom, digestOf, echoKeyDigest, runConcurrently } from '../support/concurrent-load.ts';
import { startGateway, type TestDeps } from '../support/gateway.ts';
import { sampleSize } from '../support/samples.ts';
import { type Connection, type ServiceRequest, startService } from '../support/service.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

const signer = createSigner();

const READ = (id: string) => `{ workflow(idOrIdentifier: "${id}") { id name } }`;
const LIST = () => '{ notificationGroups { name } }';
const WRITE = () =>
  'mutation { createSubscriber(input: { subscriberId: "u" }) { ... on CreateSubscriberSuccess { subscriber { firstName } } } }';

/** Mix of operations, mostly reads of one record. */
const MIX = [READ, READ, READ, READ, READ, READ, READ, LIST, LIST, WRITE];

/** Credential of a client, and the API key that the upstream must receive for it. */
interface Caller {
  authorization: string;
  key: string;
}

const serverWith = (key: string): Caller => ({ authorization: `ApiKey ${key}`, key });

/** Returns a person of a tenant, whose key is named after it. */
const personOf = async (tenant: string, sub: string): Promise<Caller> => ({
  authorization: await signer.bearer({ tenant, sub }),
  key: `key-of-${tenant}`,
});

interface PairOptions {
  pairs: number;
  /** Maximum number of pairs in flight. */
  atOnce: number;
  pairOf(pair: number): Promise<readonly Caller[]> | readonly Caller[];
  idOf(pair: number): string;
  options?: Partial<GatewayOptions>;
  deps?: TestDeps;
}

/** Sends pairs of the same operation with two credentials in the same tick. The upstream fails or delays one request in ten. */
async function sendPairs({ pairs, atOnce, pairOf, idOf, options = {}, deps = {} }: PairOptions) {
  const random = createRandom(42);
  const faults = { unavailable: 0, reset: 0, slow: 0, refused: 0 };
  const requested = new Map<string, number>();

  function serve(request: ServiceRequest, connection: Connection): void {
    const { authorization = '' } = request.headers;
    const call = `${authorization} ${request.method} ${request.path}`;
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
      connection.answer({ status: 403, body: { message: `"name":"${digestOf(authorization)}"` } });
    } else {
      connection.answer(echoKeyDigest(request));
    }
  }

  await using upstream = await startService(serve);
  await using gateway = await startGateway({ upstream: upstream.url, ...options }, deps);
  await using clients = connectClients(gateway.url, 2 * atOnce);
  const crossed: string[] = [];
  const outcomes = { data: 0, refused: 0, failed: 0 };
  async function send(query: string, { authorization, key }: Caller): Promise<void> {
    const { text } = await clients.send({ query, authorization });
    const [, ofData] = /"(?:name|firstName)":"(\w+)"/.exec(text) ?? [];
    const [, ofError] = /\\"name\\":\\"(\w+)/.exec(text) ?? [];
    const digest = ofData ?? ofError;
    if (digest !== undefined && digest !== digestOf(`ApiKey ${key}`)) {
      crossed.push(`${key} got ${text}`);
    }
    outcomes[ofData !== undefined ? 'data' : ofError !== undefined ? 'refused' : 'failed'] += 1;
  }

  await runConcurrently(pairs, atOnce, async (pair) => {
    const document = (MIX[pair % MIX.length] ?? READ)(idOf(pair));
    const callers = await pairOf(pair);
    await Promise.all(callers.map((caller) => send(document, caller)));
  });
  return { crossed, outcomes, faults, requested };
}

/** Returns the keys that the upstream received. */
const keysIn = (requested: ReadonlyMap<string, number>) =>
  new Set([...requested.keys()].map((call) => call.split(' ')[1]));

describe('thousands of pairs of the same operation in the same tick', () => {
  it('with two keys get their own responses', async () => {
    const pairs = sampleSize(160, 3_000);
    const { crossed, outcomes, faults, requested } = await sendPairs({
      pairs,
      atOnce: 40,
      pairOf: (pair) =>
        ['a', 'b'].map((side) => serverWith(pair % 4 === 0 ? `known-${pair % 24}-${side}` : `new-${pair}-${side}`)),
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
    expect(keysIn(requested).size).toBe((2 * (pairs * 3)) / 4 + 2 * 6);
  });

  it.each([
    ['with two keys', sampleSize(500, 1_000), async () => serverWith('a')],
    ['with the API key of a server and the token of a person', sampleSize(400, 1_000), () => personOf('acme', 'ada')],
  ])('%s share calls with others of their own, and none with each other', async (_, pairs, first) => {
    const callers = [serverWith('b'), await first()];
    const { crossed, outcomes, requested } = await sendPairs({
      pairs,
      atOnce: 50,
      pairOf: () => callers,
      idOf: () => 'same',
      options: { clients: clientsOf(signer, { tenants: { acme: 'key-of-acme' } }) },
    });
    expect(crossed).toEqual([]);
    expect(outcomes.data + outcomes.refused).toBeGreaterThan(2 * pairs * 0.9);
    const total = [...requested.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeLessThan(pairs); // Calls were shared.
    for (const { key } of callers) {
      expect(requested.get(`ApiKey ${key} GET /v1/workflows/same`)).toBeGreaterThan(10);
    }
    expect(keysIn(requested)).toEqual(new Set(callers.map(({ key }) => key)));
  });

  it('with tokens of two tenants get the responses of their own tenants', async () => {
    const pairs = sampleSize(100, 1_500);
    const names = Array.from({ length: 48 }, (_, i) => `tenant-${i}`);
    const { crossed, outcomes, requested } = await sendPairs({
      pairs,
      atOnce: 40,
      // Every tenth pair uses new tokens.
      pairOf: (pair) =>
        Promise.all(
          [0, 1].map((side) =>
            personOf(`tenant-${(7 * pair + side) % 48}`, pair % 10 === 0 ? `person ${pair}` : 'the same person'),
          ),
        ),
      idOf: (pair) => `id-${pair % 3}`,
      options: {
        clients: clientsOf(signer, { tenants: Object.fromEntries(names.map((name) => [name, `key-of-${name}`])) }),
      },
    });
    expect(crossed).toEqual([]);
    expect(outcomes.data + outcomes.refused).toBeGreaterThan(2 * pairs * 0.95);
    expect(keysIn(requested)).toEqual(new Set(names.map((name) => `key-of-${name}`)));
  });

  it.each(STORES)('with a cache in %s, whose entries expire, get their own responses', async (kind) => {
    const pairs = sampleSize(100, 3_000);
    await using cache = await startTestCache(kind);
    const { crossed, outcomes, requested } = await sendPairs({
      pairs,
      atOnce: 16,
      async pairOf(pair) {
        if (pair % 50 === 49) {
          await cache.pass(pair % 100 === 99 ? 31 : 61); // Then entries are revalidated, or no longer used.
        }
        return [serverWith(`key-${pair % 4}`), serverWith(`key-${(pair + 1) % 4}`)];
      },
      idOf: (pair) => `id-${pair % 3}`,
      options: { cache: cache.settings, maxRetries: 0 },
      deps: { ...cache.deps, breakerMinimumCalls: Number.POSITIVE_INFINITY },
    });
    expect(crossed).toEqual([]);
    expect(outcomes.data).toBeGreaterThan(1.7 * pairs);
    const reads = [...requested].filter(([call]) => call.includes(' GET ')).reduce((sum, [, count]) => sum + count, 0);
    expect(reads).toBeLessThan(pairs); // Without a cache, 1.8 per pair.
  });
});
