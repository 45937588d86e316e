/** A process's report on a bucket, and its request for admissions. Times are milliseconds from now. */
export interface Step {
  /** Calls waiting in this process. */
  readonly wanted: number;
  /** The window of the last turn, and the requests admitted in it that are still in flight. */
  readonly window: number;
  readonly inFlight: number;
  /** Responses since the last step: requests served, and requests rejected (429) without rate-limit headers. */
  readonly served: number;
  readonly unexplained: number;
  /** From responses since the last step: the window's figures, and how long nothing may be sent. */
  readonly observed: Known | undefined;
  readonly blockedFor: number;
  /** The last known values of both, in case Redis has lost them. */
  readonly remembered: { readonly known: Known | undefined; readonly blockedFor: number };
  /** The number of processes that Redis last reported. */
  readonly processes: number;
}

/** The service's window, from its rate-limit headers. */
export interface Known {
  readonly limit: number;
  readonly remaining: number;
  readonly untilReset: number;
}

/** The result of a step. */
export interface Turn {
  /** How many waiting calls may be sent, and after how many milliseconds the others should ask again. */
  readonly granted: number;
  readonly again: number;
  readonly window: number;
  readonly known: Known | undefined;
  /** The length of a window (ms). */
  readonly length: number;
  readonly blockedFor: number;
  /** Processes that used this window or the previous one. */
  readonly processes: number;
}

export function argumentsOf(process: string, step: Step): string[] {
  const { wanted, window, inFlight, served, unexplained, observed, blockedFor, remembered, processes } = step;
  const numbers = [
    ...[wanted, window, inFlight, served, unexplained],
    ...[...figuresOf(observed), blockedFor],
    ...[...figuresOf(remembered.known), remembered.blockedFor],
    processes,
  ];
  return [process, ...numbers.map((number) => String(Math.ceil(number)))];
}

function figuresOf(known: Known | undefined): number[] {
  return known === undefined ? [0, 0, 0] : [known.limit, known.remaining, known.untilReset];
}

export function readTurn(reply: unknown): Turn {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  if (numbers.length !== 9 || numbers.some(Number.isNaN)) throw new TypeError('Redis gave no answer of the script.');
  // The cast is true: the length was checked above.
  const [granted, again, window, limit, remaining, untilReset, length, blockedFor, processes] = numbers as Nine;
  const known = untilReset > 0 ? { limit, remaining, untilReset } : undefined;
  return { granted, again, window, known, length, blockedFor, processes };
}

type Nine = [number, number, number, number, number, number, number, number, number];

/**
 * One atomic step, by the clock of Redis. `KEYS` are the hash of the window and the hash of the processes. Each process
 * is a field of the latter, with the value `window:flying:taken:unmet:contends`.
 *
 * A call is admitted while the calls in flight, in all processes together, are fewer than the window has left. Each
 * process reports its number in flight with each step. So the error from a lost response, a restart or a killed process
 * ends with the window.
 *
 * If a process had to wait in the last window, an equal share of this one is reserved for it. The unused part of that
 * share is released gradually until the window ends.
 */
export const SCRIPT = `
local POLL, UNKNOWN_LENGTH, LONGEST_WINDOW, FIRST_SECOND = 100, 60000, 300000, 15
local window_key, processes_key, me = KEYS[1], KEYS[2], ARGV[1]
local n = {}
for i = 2, #ARGV do n[i - 1] = tonumber(ARGV[i]) end
local wanted, my_window, my_flying, served, unexplained = n[1], n[2], n[3], n[4], n[5]
local told_limit, told_remaining, told_reset, told_block = n[6], n[7], n[8], n[9]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- limit: 0 if unknown. named: 1 if headers gave the limit, 0 if it was counted. ends_known: 0 if ends_at is a guess.
local s = {
  window = my_window, limit = 0, named = 0, remaining = 0, flying = 0, began_at = now, length = UNKNOWN_LENGTH,
  ends_at = now + UNKNOWN_LENGTH, ends_known = 0, last_ended_at = 0, share = 0, kept = 0, blocked_until = 0,
  counting = 0, counted_from = 0, served = 0, sent = 0, growth = 1, seeded = 0
}
local stored = redis.call('HGETALL', window_key)
for i = 1, #stored, 2 do s[stored[i]] = tonumber(stored[i + 1]) end

local function read(entry)
  local f = {}
  for number in string.gmatch(entry or '0:0:0:0:0', '%d+') do f[#f + 1] = tonumber(number) end
  return { window = f[1], flying = f[2], taken = f[3], unmet = f[4], contends = f[5] }
end

local function begin()
  local all, contenders = redis.call('HGETALL', processes_key), 0
  for i = 1, #all, 2 do
    local process = read(all[i + 1])
    if process.window < s.window then redis.call('HDEL', processes_key, all[i])
    elseif process.unmet > 0 then contenders = contenders + 1 end
  end
  local used_up = s.remaining - s.flying <= 0
  s.window, s.flying, s.began_at = s.window + 1, 0, now
  s.last_ended_at, s.ends_at, s.ends_known = math.min(s.ends_at, now), now + 2 * s.length, 0
  if s.counting == 1 and s.limit > 0 then
    -- The window was used up without a 429, so the limit may be higher: raise the guess, faster each time.
    if used_up then s.limit, s.growth = s.limit + s.growth, s.growth * 2 end
    s.ends_at, s.counted_from, s.served = now + s.length, now, 0
  end
  s.remaining = s.limit
  s.share = contenders > 1 and math.floor(s.limit / contenders) or 0
  s.kept = s.share * contenders
end

-- Redis has lost its data, so use the values that the process remembers. Until the window ends, reserve the shares of
-- processes that still run without Redis.
if #stored == 0 then
  local limit, remaining, reset, block, processes = n[10], n[11], n[12], n[13], n[14]
  if told_reset == 0 then told_limit, told_remaining, told_reset = limit, remaining, reset end
  told_block = math.max(told_block, block)
  if told_reset > 0 and processes > 1 then
    s.seeded, s.share = s.window, math.floor(told_remaining / processes)
    s.kept = s.share * processes
  end
end

if now >= s.ends_at then begin() end

-- Update the number in flight with that of this process.
local process = read(redis.call('HGET', processes_key, me))
if process.window == s.window then s.flying = s.flying - process.flying
else
  local contends = s.seeded == s.window or (process.window == s.window - 1 and process.unmet > 0)
  process = { taken = 0, contends = contends and 1 or 0 }
end
local flying = my_window == s.window and my_flying or 0
s.flying = s.flying + flying

-- Apply the responses of this process. Resets and dates are in whole seconds, so the reported ends of one window vary
-- by more than a second.
if told_reset > 0 and told_reset <= LONGEST_WINDOW then
  local ends_at = now + told_reset
  local scatter = math.max(1000, math.min(1500, s.length / 2))
  if ends_at > s.last_ended_at + scatter then
    local news = s.ends_known == 1 and math.abs(ends_at - s.ends_at) > scatter
    -- A delayed response is not a new window.
    if ends_at > s.ends_at and told_remaining <= s.remaining then news = false end
    if news and ends_at > s.ends_at then
      begin()
      process, flying = { taken = 0, contends = 0 }, 0
    end
    if s.named == 0 or news then s.remaining = told_remaining end
    s.remaining = math.min(s.remaining, told_remaining)
    s.length = s.ends_known == 1 and not news and math.max(s.length, told_reset) or told_reset
    s.ends_at = s.ends_known == 1 and not news and math.min(s.ends_at, ends_at) or ends_at
    s.limit, s.named, s.ends_known, s.counting = math.max(1, told_limit), 1, 1, 0
  end
end
s.blocked_until = math.max(s.blocked_until, now + told_block)

-- The service sends a 429 without a limit. The best guess of the limit is the number served since its last block ended.
if s.named == 0 then
  if now >= s.counted_from then s.served, s.remaining = s.served + served, s.remaining - served end
  if unexplained > 0 and (s.counting == 0 or now >= s.counted_from) then
    local length = s.blocked_until - s.counted_from
    local seen_whole = s.counting == 1 and s.served > 0 and length <= LONGEST_WINDOW
    s.limit = seen_whole and s.served or 0
    s.length = seen_whole and length or UNKNOWN_LENGTH
    s.counting, s.counted_from, s.served, s.sent, s.growth = 1, s.blocked_until, 0, 0, 1
    s.remaining, s.ends_at = 0, s.limit > 0 and s.blocked_until or now + UNKNOWN_LENGTH
  end
end

local free = wanted
if now < s.blocked_until then free = 0
elseif s.limit > 0 then free = s.remaining - s.flying
elseif s.counting == 1 then free = FIRST_SECOND * 2 ^ ((now - s.counted_from) / 1000) - s.sent end
free = math.max(0, math.floor(free))
local mine = process.contends == 1 and math.max(0, s.share - process.taken) or 0
local kept = 0
if s.kept > mine then
  local left = math.max(0, (s.ends_at - now) / (s.ends_at - s.began_at))
  kept = math.floor((s.kept - mine) * math.min(left, free / s.kept))
end
local granted = math.max(0, math.min(wanted, free - kept))
s.kept = s.kept - math.min(mine, granted)
s.flying, s.sent = s.flying + granted, s.sent + granted

local again = 0
if granted < wanted then
  again = POLL
  if now < s.blocked_until then again = s.blocked_until - now
  elseif s.limit > 0 and s.remaining <= 0 then again = s.ends_at - now
  elseif s.limit > 0 then again = math.min(POLL, s.ends_at - now) end
  again = math.max(1, again)
end

local entry = { s.window, flying + granted, process.taken + granted, wanted - granted, process.contends }
for i = 1, #entry do entry[i] = string.format('%.0f', entry[i]) end
redis.call('HSET', processes_key, me, table.concat(entry, ':'))
local fields = {}
for name, value in pairs(s) do
  fields[#fields + 1] = name
  fields[#fields + 1] = string.format('%.0f', value)
end
redis.call('HSET', window_key, unpack(fields))
local lifetime = math.max(s.ends_at - now, s.blocked_until - now, s.length) + s.length
redis.call('PEXPIRE', window_key, string.format('%.0f', lifetime))
redis.call('PEXPIRE', processes_key, string.format('%.0f', lifetime))

local until_reset = s.ends_known == 1 and s.ends_at - now or 0
return {
  granted, again, s.window, s.limit, s.remaining, until_reset, s.length,
  math.max(0, s.blocked_until - now), redis.call('HLEN', processes_key)
}
`;
