import { NotRedisError } from '../../redis/redis-failure.ts';
import { defineScript } from '../../redis/redis-script.ts';
import { GENERATION, MAX_STATE_FIELDS, MIN_STATE_MS, STATE } from './redis-state.ts';

/** Tries Redis, and whether it can store something. Starts a new generation if the server was started since the last one. */
export const TRIAL_SCRIPT = defineScript(
  `${GENERATION}
currentGeneration(ARGV[1], true)
redis.call('SET', KEYS[2], '1', 'PX', 1)
return 1
`,
  readNumber,
);

/** Removes the entries of all partitions. */
export const DROP_ALL_SCRIPT = defineScript(
  `${GENERATION}
redis.call('DEL', KEYS[1])
currentGeneration(ARGV[1], true)
return 1
`,
  readNumber,
);

/** Reply of `FIND_SCRIPT`. */
export interface FindReply {
  epoch: string;
  sequence: number;
  /** Entry that is usable, not yet decrypted. */
  value: { ageMs: number; header: string; sealed: Buffer } | undefined;
}

/** Looks up an entry at KEYS[3]. ARGV[2] is the maximum size of one. */
export const FIND_SCRIPT = defineScript<FindReply>(
  `${STATE}
local value = redis.pcall('GET', KEYS[3])
if type(value) == 'string' and #value <= tonumber(ARGV[2]) then
  local _, last, startedAt, header, itsEpoch, itsSequence, tags = readHeader(value)
  if itsEpoch == epoch and isUsable(tags, tonumber(itsSequence)) then
    return {epoch, whole(sequence), whole(math.max(0, now - startedAt)), header, string.sub(value, last + 1)}
  end
end
return {epoch, whole(sequence)}
`,
  (reply) => {
    const [epoch, sequence, age, header, sealed] = Array.isArray(reply) ? reply.map(toBuffer) : [];
    if (epoch === undefined || sequence === undefined) {
      throw new NotRedisError('unexpected result of a lookup');
    }
    const value = age && header && sealed && { ageMs: Number(age), header: String(header), sealed };
    return { epoch: String(epoch), sequence: Number(sequence), value };
  },
);

/**
 * Stores an entry at KEYS[3]. ARGV[2…]: epoch and number of its moment, its age and lifetime in milliseconds, its tags, its header, and the sealed
 * value. Keeps an entry whose read started later.
 */
export const PUT_SCRIPT = defineScript(
  `${STATE}
local since, startedAt, left = tonumber(ARGV[3]), now - tonumber(ARGV[4]), tonumber(ARGV[5]) - tonumber(ARGV[4])
if epoch ~= ARGV[2] or left < 1 or not isUsable(ARGV[6], since) then return 0 end
local present = redis.pcall('GETRANGE', KEYS[3], 0, 4095)
if type(present) == 'string' then
  local _, _, itsStart, _, itsEpoch, itsSequence = readHeader(present)
  if itsEpoch == epoch and tonumber(itsSequence) >= since and tonumber(itsStart) > startedAt then return 0 end
end
redis.call('SET', KEYS[3], whole(startedAt) .. ' ' .. ARGV[7] .. '\\n' .. ARGV[8], 'PX', whole(left))
keepFor(left + ${MIN_STATE_MS})
return 1
`,
  readNumber,
);

const DROP_IF_TOO_LARGE = `if redis.call('HLEN', state) > ${MAX_STATE_FIELDS} then renew(0) end`;

/** Marks a write as being in progress. ARGV[2…]: its id, its tags, and its maximum duration in milliseconds. */
export const BEGIN_SCRIPT = defineScript(
  `${STATE}
nextNumber()
local mark = ARGV[2] .. '=' .. whole(now + tonumber(ARGV[4])) .. ';'
for tag in eachTag(ARGV[3]) do
  changeMarks(tag, redis.call('HGET', state, 'm' .. tag), nil, mark)
end
keepFor(tonumber(ARGV[4]) + ${MIN_STATE_MS})
${DROP_IF_TOO_LARGE}
return 1
`,
  readNumber,
);

/** Ends a write. ARGV[2…]: its id, its tags, whether it was or may be applied (1 or 0), and the time for which its tags stay marked. */
export const END_SCRIPT = defineScript(
  `${STATE}
local stays = tonumber(ARGV[5])
local mark = stays > 0 and ARGV[2] .. '=' .. whole(now + stays) .. ';' or nil
for tag in eachTag(ARGV[3]) do
  if ARGV[4] == '1' then applied(tag) end
  changeMarks(tag, redis.call('HGET', state, 'm' .. tag), ARGV[2], mark)
end
keepFor(stays + ${MIN_STATE_MS})
${DROP_IF_TOO_LARGE}
return 1
`,
  readNumber,
);

/**
 * Drops the partition. ARGV[2]: the time for which nothing is stored in it. If possible, its state is removed, so that invalid keys don't fill the
 * memory; the next lookup starts another epoch.
 */
export const DROP_SCRIPT = defineScript(
  `${STATE}
if renew(tonumber(ARGV[2])) then redis.call('DEL', state) end
return 1
`,
  readNumber,
);

function readNumber(reply: unknown): number {
  if (typeof reply !== 'number') {
    throw new NotRedisError('unexpected result of a script');
  }
  return reply;
}

const toBuffer = (value: unknown): Buffer | undefined => (value instanceof Buffer ? value : undefined);
