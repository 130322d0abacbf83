import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { readOwnWrites } from '../support/own-writes.ts';
import { startNotigraph } from '../support/process.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { startVersionedUpstream } from '../support/versioned-upstream.ts';
import { findWorkerPids, waitForLogLines } from '../support/worker-load.ts';

it.runIf(hasRedis)(
  `no client reads anything older than its own writes, with four workers, three of which are killed${redisOnly}`,
  async () => {
    await using redis = await startRedis();
    await using upstream = await startVersionedUpstream();
    await using notigraph = await startNotigraph({
      cwd: tmpdir(),
      args: ['--upstream', upstream.url, '--workers', '4'],
      env: {
        REDIS_URL: redis.url,
        CACHE_SECRET: 'secret-of-the-tests-0123456789abcdef',
        NOTIGRAPH_CONFIG_TEXT: JSON.stringify({
          maxRetries: 0,
          cache: { store: { redis: { url: { env: 'REDIS_URL' } } }, secret: { env: 'CACHE_SECRET' } },
        }),
      },
    });
    const operations = 6_000;
    const kill = () => {
      const [worker = 0] = findWorkerPids(notigraph);
      process.kill(worker, 'SIGKILL');
    };
    const result = await readOwnWrites({
      urlOf: () => notigraph.url,
      upstream,
      clients: 16,
      operations,
      onOperation: (operation) => {
        if (operation > 0 && operation < operations && operation % (operations / 4) === 0) {
          kill();
        }
      },
    });
    await waitForLogLines(notigraph, 'a worker ended and is replaced', 3);
    expect(result.stale).toEqual([]);
    expect(result.confirmedWrites).toBeGreaterThan(operations / 40);
    expect(upstream.calls.GET).toBeLessThan(0.8 * result.reads);
  },
  300_000,
);
