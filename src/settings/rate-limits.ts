import type { z } from 'zod';
import { group, positive, setting } from './setting.ts';
import { store } from './store.ts';

/** Settings of a rate limit. */
export const rateLimit = () =>
  group({
    calls: setting(positive(), 'Upstream calls per `perSeconds`.'),
    perSeconds: setting(positive().default(60), 'Period of the limit.'),
    burst: setting(
      positive().min(1, 'must be 1 or more').exactOptional(),
      'Maximum calls saved up while a caller is idle.',
      { defaultText: 'as `calls`' },
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

/** Limit on the upstream calls of one caller: `calls` per `perSeconds`, refilled steadily, up to `burst` saved up. */
export type RateLimit = z.output<ReturnType<typeof rateLimit>>;
