import { z } from 'zod';
import { findRedisUrlProblem, REDIS_URL_FORM } from './redis-url.ts';
import { group, setting } from './setting.ts';
import { file, pem } from './text-or-file.ts';

/** URL of a Redis server. */
export const redisUrl = z.string(REDIS_URL_FORM).superRefine((url, context) => {
  const message = findRedisUrlProblem(url);
  if (message !== undefined) {
    context.addIssue({ code: 'custom', message });
  }
});

const KEY_PREFIX_FORM = 'must be a text of 1 to 64 visible ASCII characters';

/** Store in the memory of a process, or in a Redis server. */
export const store = () =>
  z
    .union(
      [
        z.literal('memory'),
        group({
          redis: setting(
            group(
              {
                url: setting(
                  z.union([redisUrl, file], REDIS_URL_FORM),
                  'URL of the server: `redis://…` or `rediss://…`, with user name and password only as `{ env: NAME }` or `{ file: PATH }`. A file is read again whenever Notigraph connects.',
                  {
                    examples: [{ env: 'REDIS_URL' }, { file: '/run/secrets/redis-url' }],
                  },
                ),
                ca: setting(
                  pem.exactOptional(),
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
      ],
      'must be memory, or { redis: { url } }',
    )
    .default('memory');
