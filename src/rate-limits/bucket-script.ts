import { NotRedisError } from '../redis/redis-failure.ts';
import { defineScript } from '../redis/redis-script.ts';
import { TOLERANCE_MS } from './bucket.ts';

/** Result of the script. */
interface BucketReply {
  isGranted: boolean;
  /** Time until the bucket is full, in milliseconds. */
  missingMs: number;
}

/**
 * Changes one bucket atomically and by the clock of Redis, so that concurrent gateways and their clocks don't matter. The key holds the time
 * at which the bucket is full again, in milliseconds, and expires at that time.
 *
 * ARGV: cost of the calls, `emptyMs` and `deepestMs` of the bucket (all in milliseconds), and whether the calls may be rejected (1 or 0).
 * Returns whether they were granted (1 or 0), and the milliseconds until the bucket is full.
 */
export const BUCKET_SCRIPT = defineScript<BucketReply>(
  `
local cost, empty, deepest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local fullAt = tonumber(redis.call('GET', KEYS[1]) or now)
local missing = math.min(deepest, math.max(0, fullAt - now))
if ARGV[4] == '1' and missing + math.min(cost, empty) - empty > ${TOLERANCE_MS} then
  return {0, string.format('%.17g', missing)}
end
missing = math.min(deepest, math.max(0, missing + cost))
if missing > 0 then
  redis.call('SET', KEYS[1], string.format('%.17g', now + missing), 'PX', math.ceil(missing))
else
  redis.call('DEL', KEYS[1])
end
return {1, string.format('%.17g', missing)}
`,
  (reply) => {
    const [granted, missing]: unknown[] = Array.isArray(reply) ? reply : [];
    const missingMs = missing instanceof Buffer ? Number(missing) : Number.NaN;
    if (typeof granted !== 'number' || !Number.isFinite(missingMs)) {
      throw new NotRedisError('unexpected result of the script');
    }
    return { isGranted: granted === 1, missingMs };
  },
);
