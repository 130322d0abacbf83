import { describe, expect, it } from 'vitest';
import { connectClients, createRandom, digestOf, runConcurrently } from '../support/concurrent-load.ts';
import { startGateway } from '../support/gateway.ts';
import { group, workflow } from '../support/records.ts';
import { sampleSize } from '../support/samples.ts';
import { type Script, startService } from '../support/service.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

const PAIRS = sampleSize(250, 10_000);

/** Pairs between which time passes. */
const EXPIRE_EVERY = 50;

const READS = [
  '{ workflow(idOrIdentifier: "w1") { name notificationGroup { name } } }',
  '{ notificationGroups { name } }',
  '{ notificationGroup(id: "g1") { name } }',
];
const WRITE =
  'mutation { updateNotificationGroup(input: { id: "g1", name: "x" }) { ... on UpdateNotificationGroupSuccess { notificationGroup { name } } } }';

/** Caller of one of two upstreams. */
interface Caller {
  upstream: 'a' | 'b';
  key: string;
}

/** Returns the text in every name that a caller may read. */
const markOf = ({ upstream, key }: Caller): string => upstream + digestOf(`ApiKey ${key}`);

/** Returns the script of an upstream that writes a mark of its name and the key into every record, and fails now and then. */
function serve(upstream: Caller['upstream'], random: () => number): Script {
  return ({ path, headers }, connection) => {
    const name = upstream + digestOf(headers.authorization ?? '');
    const shown = group({ _id: 'g1', name });
    const data = path.endsWith('groups')
      ? [shown]
      : path.includes('workflows')
        ? workflow({ name, notificationGroup: shown })
        : shown;
    const dice = random();
    if (dice < 0.03) {
      connection.answer({ status: 503, body: {} });
    } else if (dice < 0.04) {
      connection.answer({ status: 401, body: {} });
    } else if (dice < 0.06) {
      connection.reset();
    } else if (dice < 0.2) {
      setTimeout(() => connection.answer({ headers: { etag: '"same"' }, body: { data } }), 20 * random());
    } else {
      connection.answer({ body: { data } });
    }
  };
}

describe.each(STORES)('with a cache in %s', (kind) => {
  it(`${PAIRS} pairs of the same operation with two keys, or of two upstreams, get their own records`, async () => {
    const random = createRandom(7);
    await using cache = await startTestCache(kind);
    await using a = await startService(serve('a', random));
    await using b = await startService(serve('b', random));
    await using gateway = await startGateway(
      {
        upstreams: { a: { url: a.url, pathPrefix: '/a' }, b: { url: b.url, default: true } },
        cache: cache.settings,
        maxRetries: 0,
      },
      { ...cache.deps, breakerMinimumCalls: Number.POSITIVE_INFINITY },
    );
    await using clients = connectClients(gateway.url, 40);
    const crossed: string[] = [];
    let served = 0;

    async function send(query: string, caller: Caller, headers: Record<string, string>): Promise<void> {
      const path = caller.upstream === 'a' ? '/a/graphql' : '/graphql';
      const { text } = await clients.send({ query, path, authorization: `ApiKey ${caller.key}`, headers });
      const names = [...text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
      served += names.length > 0 ? 1 : 0;
      if (names.some((name) => name !== markOf(caller))) {
        crossed.push(`${caller.upstream} ${caller.key}: ${text}`);
      }
    }

    await runConcurrently(PAIRS, 16, async (pair) => {
      if (pair % EXPIRE_EVERY === EXPIRE_EVERY - 1) {
        await cache.pass(random() < 0.5 ? 31 : 61);
      }
      const dice = random();
      const document = dice < 0.05 ? WRITE : (READS[pair % READS.length] ?? WRITE);
      const headers: Record<string, string> = dice > 0.97 ? { 'cache-control': 'no-cache' } : {};
      const first: Caller = { upstream: random() < 0.5 ? 'a' : 'b', key: `key-${pair % 4}` };
      const isSameKey = pair % 3 === 0;
      const second: Caller = isSameKey
        ? { ...first, upstream: first.upstream === 'a' ? 'b' : 'a' }
        : { ...first, key: `key-${(pair + 1) % 4}` };
      await Promise.all([send(document, first, headers), send(document, second, headers)]);
    });
    expect(crossed).toEqual([]);
    expect(served).toBeGreaterThan(1.7 * PAIRS);
    expect(a.requests.length + b.requests.length).toBeLessThan(1.7 * PAIRS); // Without a cache, two per pair.
  });
});
