import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { readOwnWrites, startVersionedService } from '../support/own-writes.ts';
import { sampleSize } from '../support/samples.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

it.each(STORES)('no client reads anything older than its own writes, with a cache in %s', async (kind) => {
  await using cache = await startTestCache(kind);
  await using upstream = await startVersionedService();
  await using gateways = new AsyncDisposableStack();
  const options = { upstream: upstream.url, cache: cache.settings, maxRetries: 0 };
  const urls: string[] = [];
  for (let i = 0; i < (kind === 'redis' ? 2 : 1); i += 1) {
    urls.push(gateways.use(await startGateway(options)).url);
  }
  const result = await readOwnWrites({
    urlOf: (operation) => urls[operation % urls.length] ?? '',
    upstream,
    clients: 8,
    operations: sampleSize(300, 3_000),
  });
  expect(result.stale).toEqual([]);
  expect(result.confirmedWrites).toBeGreaterThan(10);
  expect(upstream.reads()).toBeLessThan(0.8 * result.reads);
});
