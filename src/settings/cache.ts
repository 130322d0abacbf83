import { z } from 'zod';
import { ownSecret } from './kinds.ts';
import { choice, group, integer, onOff, positive, setting, share } from './setting.ts';
import { store } from './store.ts';

const MIB = 1024 * 1024;
const DAY = 86_400;

const RESOURCE_PROBLEM = 'must be off, or an object of settings';

/** Settings of one kind of read. */
const resource = (freshSeconds: number) => {
  const windows = group({
    freshSeconds: setting(
      integer(1, DAY).default(freshSeconds),
      'Age up to which a response is used without asking the service.',
    ),
    staleWhileRevalidateSeconds: setting(
      integer(0, DAY).default(30),
      'Time after `freshSeconds` in which it is still used, while it is requested again in the background.',
    ),
    staleIfErrorSeconds: setting(
      integer(0, DAY).default(600),
      'Time after `freshSeconds` in which it is used if the service is unavailable, too slow or fails (5xx).',
    ),
  });
  return z.union([choice(['off']), windows], RESOURCE_PROBLEM).prefault({});
};

const cacheGroup = group({
  store: setting(
    store(),
    'Store of the responses. `memory` requires a single worker; `{ redis: { url, ca, keyPrefix } }` is shared by all workers and replicas; see [Redis](production.md#redis).',
  ),
  secret: setting(
    ownSecret('cacheSecret').exactOptional(),
    'Secret of at least 32 characters that encrypts entries in Redis. Required there, and the same for all replicas. A file is read at startup and with a reload.',
    { defaultText: 'none' },
  ),
  maxBytes: setting(
    integer(MIB, 65_536 * MIB).default(64 * MIB),
    'Maximum heap of the responses in the store `memory`. The least recently used ones are dropped.',
  ),
  maxAgeSeconds: setting(
    positive().max(DAY, `must be at most ${DAY}`).exactOptional(),
    'Age at which a response is no longer used, whatever the windows below say. Bounds how long a [revoked key](caching.md#revoked-keys) can read.',
    { defaultText: 'none' },
  ),
  rateLimitCost: setting(
    share().default(1),
    "Calls of the client's rate limit that a read from the cache costs. 0 to 1.",
  ),
  workflows: setting(resource(30), 'Reads of a workflow: their settings, or `off`.'),
  notificationGroups: setting(resource(30), 'Reads of notification groups: the same settings, or `off`.'),
  statistics: setting(
    resource(60),
    'Reads of statistics: the same settings, with `freshSeconds: 60` by default, or `off`.',
  ),
});

/** Settings of the cache. */
export type CacheSettings = z.output<typeof cacheGroup>;

/** Settings of the cache. */
export const cacheSettings = {
  cache: setting(
    z
      .union([onOff(), cacheGroup], 'must be on or off (true or false), or an object of settings')
      .default(false)
      .transform((value) => (value === true ? cacheGroup.parse({}) : value)),
    'Whether responses to reads are [kept for a short time](caching.md) and used again for the same key.',
    { flag: 'on|off' },
  ),
};
