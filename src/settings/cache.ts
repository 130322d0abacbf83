import { z } from 'zod';
import { group, integer, onOff, setting } from './define.ts';
import { ownSecret } from './kinds.ts';
import { store } from './store.ts';

const MIB = 1024 * 1024;
const DAY = 86_400;

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
  freshSeconds: setting(
    integer(1, DAY).exactOptional(),
    'Age up to which a response is used without asking the service. For 30 more seconds it is still used, while it is requested again in the background.',
    { defaultText: '`30`, for statistics `60`' },
  ),
  staleIfErrorSeconds: setting(
    integer(0, DAY).default(600),
    'Time after `freshSeconds` in which it is used if the service is unavailable, too slow or fails (5xx).',
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
