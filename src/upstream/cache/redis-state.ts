/** Maximum fields of a partition's state, which has one or two per tag. Beyond it, the partition is dropped. */
export const MAX_STATE_FIELDS = 4_096;

/** Minimum lifetime of a partition's state, in milliseconds: longer than a read takes. */
export const MIN_STATE_MS = 300_000;

/**
 * Returns the generation to which all usable entries belong. Each new connection checks that it was made by the running server, because one that was
 * restarted may have loaded an old snapshot, without the last writes.
 */
export const GENERATION = `
local function currentGeneration(candidate, isNewConnection)
  local known = redis.pcall('GET', KEYS[1])
  if type(known) ~= 'string' then known = nil end
  if known and not isNewConnection then return known end
  local server = (string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or '') .. ':'
  if known and string.sub(known, 1, #server) == server then return known end
  redis.call('SET', KEYS[1], server .. candidate)
  return server .. candidate
end
`;

/**
 * State of a partition, a hash at KEYS[2]: the generation it belongs to, its random `epoch`, the `sequence` number of its last write, the time
 * up to which it is `held`, per tag `t…` the number of the last write that was applied, and per tag `m…` the marks of writes in progress with
 * the times at which they end by themselves. ARGV[1] is a random epoch, in case that the state is missing, foreign or of another generation.
 */
export const STATE = `${GENERATION}
local state = KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local generation = currentGeneration(ARGV[1], false)
local epoch, sequence, heldUntil
local function whole(number) return string.format('%.0f', number) end

local function keepFor(milliseconds)
  milliseconds = math.max(milliseconds, ${MIN_STATE_MS})
  if redis.call('PTTL', state) < milliseconds then redis.call('PEXPIRE', state, whole(milliseconds)) end
end

local function nextNumber()
  sequence = sequence + 1
  redis.call('HSET', state, 'sequence', whole(sequence))
  return whole(sequence)
end

-- Starts a new epoch, in which no entry is usable. Writes stay in progress; if there are very many, the whole partition is held until they end.
-- Returns whether there is neither a write in progress nor a time up to which the partition is held.
local function renew(holdMs)
  local fields = redis.pcall('HGETALL', state)
  local marks, count, lastEnd = {}, 0, 0
  for i = 1, fields.err and 0 or #fields, 2 do
    if string.sub(fields[i], 1, 1) == 'm' then
      marks[fields[i]] = fields[i + 1]
      count = count + 1
      for ends in string.gmatch(fields[i + 1], '=(%d+);') do lastEnd = math.max(lastEnd, tonumber(ends)) end
    end
  end
  heldUntil = math.max(heldUntil or 0, now + holdMs)
  if heldUntil <= now then heldUntil = 0 end
  if count > ${MAX_STATE_FIELDS / 4} then
    marks = {}
    heldUntil = math.max(heldUntil, lastEnd)
  end
  epoch, sequence = ARGV[1], 0
  redis.call('DEL', state)
  redis.call('HSET', state, 'generation', generation, 'epoch', epoch, 'sequence', '0', 'held', whole(heldUntil))
  for field, value in pairs(marks) do redis.call('HSET', state, field, value) end
  keepFor(math.max(heldUntil, lastEnd) - now + ${MIN_STATE_MS})
  return count == 0 and heldUntil == 0
end

local function load()
  local known = redis.pcall('HMGET', state, 'generation', 'epoch', 'sequence', 'held')
  epoch, sequence, heldUntil = known[2], tonumber(known[3] or nil), tonumber(known[4] or nil)
  if known[1] ~= generation or not epoch or not sequence or not heldUntil or (heldUntil > 0 and heldUntil <= now) then
    renew(0)
  end
end

local function eachTag(tags) return string.gmatch(tags, '[^,]+') end

local function applied(tag) redis.call('HSET', state, 't' .. tag, nextNumber()) end

-- Replaces the marks of a tag without one of them, or with another one. Expired ones end: their writes count as applied.
local function changeMarks(tag, marks, withoutId, addition)
  local live, isExpired = {}, false
  for id, ends in string.gmatch(marks or '', '([^=;]+)=(%d+);') do
    if id ~= withoutId then
      if tonumber(ends) > now then live[#live + 1] = id .. '=' .. ends .. ';' else isExpired = true end
    end
  end
  if isExpired then applied(tag) end
  live = table.concat(live) .. (addition or '')
  if live == '' then redis.call('HDEL', state, 'm' .. tag) else redis.call('HSET', state, 'm' .. tag, live) end
  return live ~= ''
end

local function isUsable(tags, since)
  if heldUntil > now then return false end
  for tag in eachTag(tags) do
    local found = redis.call('HMGET', state, 't' .. tag, 'm' .. tag)
    if found[2] then
      changeMarks(tag, found[2])
      return false
    end
    if found[1] and tonumber(found[1]) > since then return false end
  end
  return true
end

local function readHeader(value)
  return string.find(value, '^(%d+) ((%S+) (%d+) (%S*) %S)\\n')
end

load()
`;
