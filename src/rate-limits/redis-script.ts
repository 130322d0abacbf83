import { TOLERANCE_MS } from './bucket.ts';

/**
 * Changes one bucket, in one step and by Redis' own clock, so that neither the order nor the clocks of several gateways matter. The key
 * holds when the bucket is full again, in milliseconds, and expires then.
 *
 * ARGV: what the calls cost, what is missing in an empty bucket, what is missing in the deepest debt (all as milliseconds), and whether the
 * calls may be refused (1) or not (0). Answers whether they were granted, and what is missing now.
 */
export const BUCKET_SCRIPT = `
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
`;
