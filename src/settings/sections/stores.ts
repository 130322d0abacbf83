// Settings of the cache and of rate limits, and of the stores that hold both: in memory or in Redis.

import { z } from 'zod';
import { group, integer, matching, onOff, setting } from '../define.ts';
import { file, ofKind, ownSecret, pem, REDIS_URL_FORM, redisUrl } from '../kinds.ts';

const redisServer = group(
  {
    url: setting(
      z.union([redisUrl, file()], REDIS_URL_FORM),
      'URL of the server: `redis://…` or `rediss://…`, with user name and password only as `{ env: NAME }` or `{ file: PATH }`. A file is read again whenever Notigraph connects.',
      { examples: [{ env: 'REDIS_URL' }, { file: '/run/secrets/redis-url' }] },
    ),
    ca: setting(
      pem('redisCertificate').exactOptional(),
      'Certificates of private authorities in PEM, trusted in addition to those of Node.js: inline, `{ env }` or `{ file }`. Requires `rediss://…`. A file is read again whenever Notigraph connects.',
    ),
    keyPrefix: setting(
      matching(/^[!-~]{1,64}$/, 'must be a text of 1 to 64 visible ASCII characters').default('notigraph:'),
      'Beginning of all keys, for servers that several applications share: `limit:…` and `cache:…` follow.',
    ),
  },
  'must be an object with the url of the server: { url: { env: NAME } }',
);

const redis = group({ redis: setting(redisServer, 'A Redis server that all workers and replicas share.') });

/** Store in the memory of a process, or in a Redis server. */
const store = () =>
  z.union([z.literal('memory'), ofKind('redis', redis)], 'must be memory, or { redis: { url } }').default('memory');

const ABOVE_ZERO = 'must be a number above 0';

export const rateLimit = () =>
  group({
    calls: setting(
      z.number('must be 1 or more').min(1, 'must be 1 or more'),
      'Upstream calls per `perSeconds`, and as many at once after a pause.',
    ),
    perSeconds: setting(
      z.number(ABOVE_ZERO).positive(ABOVE_ZERO).default(60),
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

export const cacheSettings = {
  cache: setting(
    z
      .union([onOff(), cacheGroup], 'must be on or off (true or false), or an object of settings')
      .prefault(false)
      .transform((value) => (value === true ? cacheGroup.parse({}) : value)),
    'Whether responses to reads are [kept for a short time](caching.md) and used again for the same key.',
    { flag: 'on|off' },
  ),
};
