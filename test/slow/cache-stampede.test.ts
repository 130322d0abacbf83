import { describe, expect, it } from 'vitest';
import { respondTo } from '../support/cached-gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { sampleSize } from '../support/samples.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { countReads, STORES, startTestCache } from '../support/test-cache.ts';

const READ = '{ workflow(idOrIdentifier: "welcome") { name } }';

const REQUESTS = sampleSize(200, 1_000);

/** Ages of a response, in seconds. */
const AGES = { 'to revalidate': 40, 'only for outages': 100, 'no longer stored': 700 };

describe.each(STORES)('with a cache in %s', (kind) => {
  it.each(Object.entries(AGES))('many requests at once for a response that is %s cause one call', async (_, age) => {
    await using cache = await startTestCache(kind);
    await using upstream = await startScriptedUpstream(({ method, path }) => respondTo(method, path, 'v1'));
    await using gateway = await startGateway(
      { upstream: upstream.url, cache: cache.settings },
      cache.deps,
      'listener',
      { maxInFlightRequests: 2 * REQUESTS },
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

    /** Sends the requests. Returns the number of calls; undefined if Redis took more than 100 ms, as it may on a busy machine. */
    async function countCalls(): Promise<number | undefined> {
      await settle();
      await cache.pass(age);
      const before = await count();
      await Promise.all(Array.from({ length: REQUESTS }, read));
      const after = await count();
      return after.unavailable === before.unavailable ? after.calls - before.calls : undefined;
    }

    let calls: number | undefined;
    for (let attempt = 0; attempt < 5 && calls === undefined; attempt += 1) {
      calls = await countCalls();
    }
    expect(calls).toBe(1);
  });
});
