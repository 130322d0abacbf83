// Settings of the cache and of rate limits, and of the stores that hold both: in memory or in Redis.

import { z } from 'zod';
import { isDecodable } from '../lib/urls.ts';
import { group, integer, matching, onOff, setting } from './define.ts';
import { file, ofKind, ownSecret, pem } from './kinds.ts';

const REDIS_URL_FORM = 'must be a URL redis://… or rediss://…, { env: NAME } or { file: PATH }';

const redisUrl = ofKind(
  'redisUrl',
  z.string(REDIS_URL_FORM).superRefine((url, context) => {
    const message = findRedisUrlProblem(url);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', message });
    }
  }),
);

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

/** Returns a problem of a Redis server's URL as a clause that doesn't quote it, or undefined. */
export function findRedisUrlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '' || parsed.port === '0') {
    return `${REDIS_URL_FORM}, such as redis://host:6379`;
  }
  if (!/^\/?\d{0,4}$/.test(parsed.pathname)) {
    return 'must end in a database number, such as /0, or have no path';
  }
  if (parsed.search !== '' || parsed.hash !== '') {
    return 'must not contain ? or #; write them as %3F and %23 in a password';
  }
  return isDecodable(parsed.username) && isDecodable(parsed.password)
    ? undefined
    : 'has a user name or password with a % that must be written as %25';
}

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

/** Limit on the upstream calls of one caller: `calls` per `perSeconds`, refilled steadily. */
export type RateLimit = z.output<ReturnType<typeof rateLimit>>;

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

/** Settings of the cache, if it is on. */
export type CacheSettings = z.output<typeof cacheGroup>;

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
