-- One atomic step of a process, by the clock of Redis. KEYS are the hash of the window and the hash of the processes,
-- in which each process is a field: "window:in_flight:taken:unmet:quota:credit". Times are milliseconds; those that end
-- in _after are from now.
--
-- A request is admitted while the requests in flight, in all processes together, are fewer than the window has
-- remaining. Each process reports its number in flight with each step. So the error from a lost response, a restart or a
-- killed process ends with the window.
--
-- The processes that had to wait in the last window share this one equally. If the limit is not a multiple of their
-- number, they take the rest in turn. A part of a share that is not used is released gradually until the window ends.
local POLL, UNKNOWN_LENGTH, MAX_WINDOW, MAX_SCATTER, FIRST_SECOND = 100, 60000, 300000, 1500, 15
local window_key, processes_key, me = KEYS[1], KEYS[2], ARGV[1]
local n = {}
for i = 2, #ARGV do n[i - 1] = tonumber(ARGV[i]) end
local sent_at, timeout, wanted, my_window, my_in_flight, accepted = n[1], n[2], n[3], n[4], n[5], n[6]
local limit, remaining, reset_after, retry_after, was_alone, processes = n[7], n[8], n[9], n[10], n[11], n[12]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A step that was delayed on its way: its times have passed, and after the timeout nothing waits for its reply.
local delay = sent_at > 0 and math.max(0, now - sent_at) or 0
reset_after, retry_after = reset_after - delay, retry_after - delay
if delay > timeout then wanted = 0 end

-- limit: 0 if unknown. reset_known: 0 if reset_at is an estimate. quotas: what is reserved in all. shared: the window of
-- which every process has reserved a share. seen_at: when the last step was.
local s = {
  window = my_window, limit = 0, remaining = 0, in_flight = 0, started_at = now, ended_at = 0, length = UNKNOWN_LENGTH,
  reset_at = now + UNKNOWN_LENGTH, reset_known = 0, quotas = 0, shared = 0, share = 0, blocked_until = 0, accepted = 0,
  sent = 0, seen_at = now
}
local stored = redis.call('HGETALL', window_key)
for i = 1, #stored, 2 do s[stored[i]] = tonumber(stored[i + 1]) end

-- If the clock has gone back, the stored times go back with it. The process may know best by how much.
local last_now = math.max(s.seen_at, s.started_at)
if now < last_now then
  local back = math.max(last_now, sent_at) - now
  for _, name in ipairs({ 'started_at', 'ended_at', 'reset_at', 'blocked_until' }) do s[name] = s[name] - back end
end
s.seen_at = now

local function read(entry)
  local f = {}
  for number in string.gmatch(entry or '0:0:0:0:0:0', '%-?%d+') do f[#f + 1] = tonumber(number) end
  return { window = f[1], in_flight = f[2], taken = f[3], unmet = f[4], quota = f[5], credit = f[6] }
end

local function write(id, p)
  local entry = string.format('%.0f:%.0f:%.0f:%.0f:%.0f:%.0f', p.window, p.in_flight, p.taken, p.unmet, p.quota, p.credit)
  redis.call('HSET', processes_key, id, entry)
end

-- Divides the new window among the processes that had to wait in the last one.
local function divide()
  local all, waiting = redis.call('HGETALL', processes_key), {}
  for i = 1, #all, 2 do
    local process = read(all[i + 1])
    process.id = all[i]
    if process.window < s.window - 1 then redis.call('HDEL', processes_key, process.id)
    elseif process.unmet > 0 then waiting[#waiting + 1] = process end
  end
  s.quotas = 0
  if #waiting < 2 or s.limit == 0 then return end
  local share, rest = math.floor(s.limit / #waiting), s.limit % #waiting
  -- The rest goes to those who have gone without it for longest.
  for _, process in ipairs(waiting) do process.credit = process.credit + math.floor(1000 * rest / #waiting) end
  table.sort(waiting, function(a, b)
    if a.credit == b.credit then return a.id < b.id end
    return a.credit > b.credit
  end)
  for place, process in ipairs(waiting) do
    local extra = place <= rest and 1 or 0
    process.window, process.in_flight, process.taken, process.unmet = s.window, 0, 0, 0
    process.quota, process.credit = share + extra, process.credit - 1000 * extra
    write(process.id, process)
  end
  s.quotas = s.limit
end

local function begin()
  s.window, s.in_flight, s.started_at, s.remaining = s.window + 1, 0, now, s.limit
  s.ended_at, s.reset_at, s.reset_known = math.min(s.reset_at, now), now + 2 * s.length, 0
  divide()
end

if now >= s.reset_at then begin() end

local process
-- Replaces this process's number in flight.
local function enter()
  process = read(redis.call('HGET', processes_key, me))
  if process.window == s.window then s.in_flight = s.in_flight - process.in_flight
  else process = { taken = 0, quota = 0, credit = process.credit } end
  process.in_flight = my_window == s.window and my_in_flight or 0
  s.in_flight = s.in_flight + process.in_flight
end
enter()

-- Apply what the process has seen in responses. Resets and dates are in whole seconds, so the reported ends of one
-- window vary by more than a second.
local reset_at = now + reset_after
local scatter = math.min(MAX_SCATTER, math.max(s.length, reset_after) / 2)
if reset_after > 0 and reset_after <= MAX_WINDOW and reset_at > s.ended_at + scatter then
  local is_new = s.reset_known == 1 and math.abs(reset_at - s.reset_at) > scatter
  -- A delayed response is not a new window.
  if reset_at > s.reset_at and remaining <= s.remaining then is_new = false end
  if is_new and reset_at > s.reset_at then
    begin()
    my_window = s.window - 1
    enter()
  end
  local is_same = s.reset_known == 1 and not is_new
  s.remaining = (s.limit == 0 or is_new) and remaining or math.min(s.remaining, remaining)
  s.length = is_same and math.max(s.length, reset_after) or reset_after
  s.reset_at = is_same and math.min(s.reset_at, reset_at) or reset_at
  s.limit, s.reset_known = math.max(1, limit), 1
end
if retry_after > 0 and now + retry_after > s.blocked_until then
  if now >= s.blocked_until then s.accepted, s.sent = 0, 0 end
  s.blocked_until = now + retry_after
end
if now < s.blocked_until then s.accepted = s.accepted + accepted end

-- The process was without Redis, so others may still be, and use their shares of this window: reserve them.
if (was_alone == 1 or #stored == 0) and s.shared ~= s.window then
  s.shared, s.share = s.window, math.floor(s.remaining / processes)
  s.quotas = s.share * processes
end
if s.shared == s.window and process.quota == 0 then process.quota = s.share end

local free = wanted
if s.limit > 0 then free = s.remaining - s.in_flight end
if now < s.blocked_until then free = 0
elseif s.blocked_until > 0 then
  local allowed = (FIRST_SECOND + s.accepted) * 2 ^ ((now - s.blocked_until) / 1000) - FIRST_SECOND + 1
  free = math.min(free, allowed - s.sent)
end
free = math.max(0, math.floor(free))
local mine = math.min(s.quotas, math.max(0, process.quota - process.taken))
local reserved = 0
if s.quotas > mine then
  local left = math.max(0, (s.reset_at - now) / (s.reset_at - s.started_at))
  reserved = math.floor((s.quotas - mine) * math.min(left, free / s.quotas) + 0.5)
end
local granted = math.max(0, math.min(wanted, free - reserved))
s.quotas = s.quotas - math.min(mine, granted)
s.in_flight, s.sent = s.in_flight + granted, s.sent + granted

-- When to ask again.
local ask_after = 0
if granted < wanted then
  ask_after = math.min(POLL, s.reset_at - now)
  if now < s.blocked_until then ask_after = s.blocked_until - now
  elseif s.limit > 0 and s.remaining <= 0 then ask_after = s.reset_at - now end
  ask_after = math.max(1, ask_after)
end

process.window, process.unmet = s.window, wanted - granted
process.in_flight, process.taken = process.in_flight + granted, process.taken + granted
write(me, process)
local fields = {}
for name, value in pairs(s) do
  fields[#fields + 1] = name
  fields[#fields + 1] = string.format('%.0f', value)
end
redis.call('HSET', window_key, unpack(fields))
local lifetime = math.max(s.reset_at - now, s.blocked_until - now, s.length) + s.length
redis.call('PEXPIRE', window_key, string.format('%.0f', lifetime))
redis.call('PEXPIRE', processes_key, string.format('%.0f', lifetime))

return {
  now, granted, ask_after, s.window, s.limit, s.remaining, s.reset_known == 1 and s.reset_at - now or 0,
  math.max(0, s.blocked_until - now), redis.call('HLEN', processes_key)
}
