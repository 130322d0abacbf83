import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { healthyService } from '../support/healthy-service.ts';
import { metricValues } from '../support/metrics-text.ts';
import { startNotigraph } from '../support/process.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { startService } from '../support/service.ts';

const LIMIT = 100;
const REQUESTS_PER_PROCESS = 50;

/** Module that keeps a process busy: its event loop is blocked for 120 of 130 milliseconds. */
const BUSY = `data:text/javascript,${encodeURIComponent(`
  const block = () => { for (const until = performance.now() + 120; performance.now() < until; ); };
  setInterval(block, 10).unref();
`)}`;

it.runIf(hasRedis)(
  `four busy processes permit exactly the limit, in ten of ten rounds${redisOnly}`,
  async () => {
    await using redis = await startRedis();
    await using upstream = await startService(healthyService);
    await using processes = new AsyncDisposableStack();
    const start = async () =>
      processes.use(
        await startNotigraph({
          cwd: tmpdir(),
          args: ['--upstream', upstream.url],
          env: {
            NODE_OPTIONS: `--import ${BUSY}`,
            REDIS_URL: redis.url,
            NOTIGRAPH_CONFIG_TEXT: JSON.stringify({
              clients: { server: { rateLimit: { calls: 1, perSeconds: 3_600, burst: LIMIT } } },
              rateLimits: { store: { redis: { url: { env: 'REDIS_URL' } } } },
            }),
          },
        }),
      );
    const gateways = await Promise.all([start(), start(), start(), start()]);

    /** Asks for a workflow of its own: reads of the same one would share a call. */
    const send = async (url: string, key: string, workflow: string) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `ApiKey ${key}` },
        body: JSON.stringify({ query: `{ workflow(idOrIdentifier: "${workflow}") { name } }` }),
      });
      await response.arrayBuffer();
      return response.status;
    };

    const readMetrics = () =>
      Promise.all(
        gateways.map(async ({ url }) =>
          metricValues(await (await fetch(new URL('/metrics', url))).text(), /^notigraph_rate_limit_/),
        ),
      );
    const countFallbacks = async () =>
      (await readMetrics()).reduce((sum, { notigraph_rate_limit_fallbacks_total: count = 0 }) => sum + count, 0);

    const areUp = async () => (await readMetrics()).every(({ notigraph_rate_limit_store_up: isUp }) => isUp === 1);

    const permitted: number[] = [];
    /** Rounds in which Redis itself didn't get a processor for 100 ms: nothing is said about the limit then. */
    let missed = 0;
    for (let round = 0; permitted.length < 10 && missed < 5; round += 1) {
      const fallbacks = await countFallbacks();
      const statuses = await Promise.all(
        gateways.flatMap(({ url }, process) =>
          Array.from({ length: REQUESTS_PER_PROCESS }, (_, i) => send(url, `key-${round}`, `w-${process}-${i}`)),
        ),
      );
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      if ((await countFallbacks()) === fallbacks) {
        permitted.push(statuses.filter((status) => status === 200).length);
      } else {
        missed += 1;
        await expect.poll(areUp).toBe(true);
      }
    }
    expect(permitted).toEqual(Array.from({ length: 10 }, () => LIMIT));
    expect(await areUp()).toBe(true);
  },
  300_000,
);
