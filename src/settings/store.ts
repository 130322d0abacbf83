import { z } from 'zod';
import { findRedisUrlProblem, REDIS_URL_FORM } from './redis-url.ts';
import { group, setting } from './setting.ts';

/** URL of a Redis server. */
export const redisUrl = z.string(REDIS_URL_FORM).superRefine((url, context) => {
  const message = findRedisUrlProblem(url);
  if (message !== undefined) {
    context.addIssue({ code: 'custom', message });
  }
});

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
                  redisUrl,
                  'URL of the server: `redis://…` or `rediss://…`, with user name and password only as `{ env: NAME }`.',
                  {
                    examples: [{ env: 'REDIS_URL' }],
                  },
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
