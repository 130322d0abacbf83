import { z } from 'zod';
import { group, positive, setting } from './define.ts';
import { store } from './store.ts';

/** Settings of a rate limit. */
export const rateLimit = () =>
  group({
    calls: setting(
      z.number('must be 1 or more').min(1, 'must be 1 or more'),
      'Upstream calls per `perSeconds`, and as many at once after a pause.',
    ),
    perSeconds: setting(
      positive().default(60),
      'Period of the limit. A shorter one with fewer calls permits smaller bursts.',
    ),
  });

/** Section of the settings table: where rate limits are counted. */
export const rateLimits = setting(
  group({
    store: setting(
      store(),
      'Store of the counters: the `memory` of each process, or `{ redis: { url, ca, keyPrefix } }` for all workers and replicas together; see [Redis](production.md#redis).',
    ),
  }).prefault({}),
  'Storage of rate limits.',
);

/** Limit on the upstream calls of one caller: `calls` per `perSeconds`, refilled steadily. */
export type RateLimit = z.output<ReturnType<typeof rateLimit>>;
