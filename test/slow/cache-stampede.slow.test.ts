import { describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import type { CachedReadResult } from '../../src/upstream/call-events.ts';
import { respondTo } from '../support/cached-gateway.ts';
import { connectClients } from '../support/concurrent-load.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { metricValues } from '../support/metrics-text.ts';
import { sampleSize } from '../support/samples.ts';
import { startService } from '../support/service.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

const READ = '{ workflow(idOrIdentifier: "welcome") { name } }';

const REQUESTS = sampleSize(200, 1_000);

/** Connections that are opened at once: fewer than the system's backlog. */
const CONNECTIONS = 400;

/** Ages of a response, in seconds. */
const AGES = { 'to revalidate': 40, 'only for outages': 100, 'no longer stored': 700 };

describe.each(STORES)('with a cache in %s', (kind) => {
  it.each(Object.entries(AGES))('many requests at once for a response that is %s cause one call', async (_, age) => {
    await using cache = await startTestCache(kind);
    await using upstream = await startService(({ method, path }) => respondTo(method, path, 'v1'));
    await using gateway = await startGateway(
      { upstream: upstream.url, cache: cache.settings, maxInFlightRequests: 4 * REQUESTS },
      { ...cache.deps, server: { maxInFlightRequests: 4 * REQUESTS } },
    );
    const read = () => gateway.data(READ);
    const count = async () => ({ calls: upstream.requests.length, ...(await countReads(gateway)) });
    /** Waits until a response is stored that is fresh. */
    async function settle() {
      const { fresh = 0 } = await count();
      await expect
        .poll(async () => {
          await read();
          return (await count()).fresh ?? 0;
        })
        .toBeGreaterThan(fresh);
    }

    await settle();
    await cache.pass(age);
    const before = await count();
    await using clients = connectClients(gateway.url, CONNECTIONS);
    const request = { query: READ, authorization: `ApiKey ${SANDBOX_KEYS.development}` };
    const responses = await Promise.all(Array.from({ length: REQUESTS }, () => clients.send(request)));
    const bodies = new Set(responses.map(({ text }) => text));
    expect(bodies).toEqual(new Set(['{"data":{"workflow":{"name":"v1"}}}']));
    const after = await count();
    expect(after.unavailable).toBe(before.unavailable);
    expect(after.calls - before.calls).toBe(1);
  });
});

/** Returns how many reads a gateway has answered so far, by the source: `fresh`, `miss` and so on. */
async function countReads(gateway: TestGateway): Promise<Partial<Record<CachedReadResult, number>>> {
  const counts: Record<string, number> = {};
  for (const [line, count] of Object.entries(metricValues(await gateway.metrics(), /^notigraph_cache_reads_total/))) {
    const result = /result="([^"]+)"/.exec(line)?.[1] ?? '';
    counts[result] = (counts[result] ?? 0) + count;
  }
  return counts;
}
