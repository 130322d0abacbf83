import { z } from 'zod';
import { isDecodable } from '../lib/urls.ts';
import { group, setting } from './define.ts';
import { file, ofKind, pem } from './kinds.ts';

/** Form of a Redis server's URL, as a clause. */
const REDIS_URL_FORM = 'must be a URL redis://… or rediss://…, { env: NAME } or { file: PATH }';

/** URL of a Redis server. */
const redisUrl = ofKind(
  'redisUrl',
  z.string(REDIS_URL_FORM).superRefine((url, context) => {
    const message = findRedisUrlProblem(url);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', message });
    }
  }),
);

const KEY_PREFIX_FORM = 'must be a text of 1 to 64 visible ASCII characters';

/** Store in the memory of a process, or in a Redis server. */
export const store = () =>
  z
    .union(
      [
        z.literal('memory'),
        ofKind(
          'redis',
          group({
            redis: setting(
              group(
                {
                  url: setting(
                    z.union([redisUrl, file()], REDIS_URL_FORM),
                    'URL of the server: `redis://…` or `rediss://…`, with user name and password only as `{ env: NAME }` or `{ file: PATH }`. A file is read again whenever Notigraph connects.',
                    {
                      examples: [{ env: 'REDIS_URL' }, { file: '/run/secrets/redis-url' }],
                    },
                  ),
                  ca: setting(
                    pem('redisCertificate').exactOptional(),
                    'Certificates of private authorities in PEM, trusted in addition to those of Node.js: inline, `{ env }` or `{ file }`. Requires `rediss://…`. A file is read again whenever Notigraph connects.',
                    { defaultText: 'none' },
                  ),
                  keyPrefix: setting(
                    z
                      .string(KEY_PREFIX_FORM)
                      .regex(/^[!-~]{1,64}$/, KEY_PREFIX_FORM)
                      .default('notigraph:'),
                    'Beginning of all keys, for servers that several applications share: `limit:…` and `cache:…` follow.',
                  ),
                },
                'must be an object with the url of the server: { url: { env: NAME } }',
              ),
              'A Redis server that all workers and replicas share.',
            ),
          }),
        ),
      ],
      'must be memory, or { redis: { url } }',
    )
    .default('memory');

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
