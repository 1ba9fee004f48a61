package redisstore

// luaWindow is shared by the scripts that write windows. They all begin with
//
//	ARGV[1]  the order: newest, oldest or players
//	ARGV[2]  how many entries a list may hold, a space, and how many are few
//
// and take an entry as its score and its member. The first member of a list is its mark, which none
// of its entries sorts before:
//
//	!{epoch}:{floor}          complete down to the floor, which is an id and itself outside; 0 for no end
//	!{epoch}:{floor}:{token}  the same, and the holder of the token may lower the floor
//	!building:{token}         being built; behind it the members removed meanwhile, each after a "-"
//
// What was removed while a list is being built is not added from what its builder has read. It may be
// among the entries all the same: then it was pushed later.
//
// A list without a mark is no list. Where any number is few, a list that has an end and no more entries
// than that is dropped, so the floor of a short list is known to be 0 without a look at its mark; and a full list loses some more
// than it must, so that not every push has to write the mark anew.
//
// Numbers are read with tonumber where they may begin with zeros,
// and by arithmetic where they may have an exponent: the embedded server takes the one for octal in
// arithmetic and the other for no number in tonumber.
const luaWindow = `
local order = ARGV[1]
local cap, few = ARGV[2]:match('^(%d+) (%d+)$')
cap, few = tonumber(cap), tonumber(few)
local room = few > 0 and math.min(15, math.floor(cap / 20)) or 0
local head = order == 'players' and '-inf' or '0'

local function id(score, member)
  if order == 'players' then return 0 - score end
  if order == 'oldest' then return tonumber(member) end
  return 9007199254740991 - tonumber(member)
end

local function open(key)
  local mark = redis.call('ZRANGE', key, 0, 0)[1] or ''
  local epoch, rest = mark:match('^!(%w+):(.*)$')
  if not epoch then return nil end
  local list = {key = key, mark = mark, epoch = epoch, building = epoch == 'building', floor = 0, token = rest}
  if not list.building then
    local floor, token = rest:match('^(%d+):?(.*)$')
    list.floor, list.token = tonumber(floor), token
  end
  return list
end

-- The new mark is added before the old one goes: an emptied list would lose its time to live.
local function set_floor(list, floor, token)
  if floor == 0 then token = '' end
  local mark = string.format('!%s:%.0f', list.epoch, floor)
  if token ~= '' then mark = mark .. ':' .. token end
  if mark ~= list.mark then
    redis.call('ZADD', list.key, head, mark)
    redis.call('ZREM', list.key, list.mark)
  end
  list.mark, list.floor, list.token = mark, floor, token
end

-- Whoever grows a list has read before what comes or goes beyond its floor, so his token goes.
local function unhand(list)
  if list.token ~= '' then set_floor(list, list.floor, '') end
end

local function beyond(floor, id)
  if floor == 0 then return false end
  if order == 'oldest' then return id >= floor end
  return id <= floor
end

-- What is being built and grows over the cap is given up.
local function trim(list)
  local extra = redis.call('ZCARD', list.key) - 1 - cap
  if extra <= 0 then return end
  extra = extra + room
  if list.building then
    redis.call('DEL', list.key)
    list.ended = true
    return
  end
  local nearest = redis.call('ZRANGE', list.key, -extra, -extra, 'WITHSCORES')
  redis.call('ZREMRANGEBYRANK', list.key, -extra, -1)
  set_floor(list, id(nearest[2], nearest[1]), '')
end

-- Drops a list that has become short but has an end.
local function shrunk(list)
  if few == 0 or list.floor == 0 or redis.call('ZCARD', list.key) > few + 1 then return false end
  redis.call('DEL', list.key)
  return true
end

-- Of two scores of a member the lower one stays: that of the later edge or like.
local function add(list, pairs)
  if redis.call('ZADD', list.key, 'LT', unpack(pairs)) > 0 then trim(list) end
end

-- put adds the entries from ARGV[first] on, which come nearest first, but not those in gone. Where
-- there is room for all, the farthest go first, since the compact encoding takes an entry the faster
-- the nearer to the head it goes. It trims after every 16, so that a list of 1,000 never holds more
-- than that encoding takes. (No swap of from and to: the embedded server's Lua gets that wrong.)
local function put(list, first, gone)
  local from, to, by = first, #ARGV - 1, 2
  if to > from and redis.call('ZCARD', list.key) + (to - from) / 2 <= cap then
    from = #ARGV - 1
    to, by = first, -2
  end
  local step, n = {}, 0
  for i = from, to, by do
    local score, member = ARGV[i], ARGV[i + 1]
    if beyond(list.floor, id(score, member)) then
      unhand(list)
    elseif not gone[member] then
      step[n + 1], step[n + 2] = score, member
      n = n + 2
    end
    if n == 32 then
      add(list, step)
      if list.ended then return end
      step, n = {}, 0
    end
  end
  if n > 0 then add(list, step) end
end
`

// luaPushOne is shared by the scripts that push. It does what luaMerge does, in as few steps as may be,
// and says whether there is a list.
//
//	ARGV[3, 4]  score and member
const luaPushOne = luaWindow + `
local call, score, member = redis.call, ARGV[3], ARGV[4]
local new = id(score, member)
local short = few > 0 and few + 1 or 0
local function push(key)
  local count = call('ZCARD', key)
  if count == 0 then return false end
  if count > short and beyond(tonumber(call('ZRANGE', key, 0, 0)[1]:match('^!%d+:(%d+)') or 0), new) then
    unhand(open(key))
  elseif order == 'players' then
    call('ZADD', key, 'LT', score, member)
  else
    call('ZADD', key, score, member)
  end
  if count > cap then trim(open(key)) end
  return true
end
`

// luaPush adds an entry to each list that is whole or being built, whatever its epoch. In Cluster it is
// called with one key.
//
//	KEYS[i]  a list
const luaPush = luaPushOne + `
for _, key in ipairs(KEYS) do push(key) end
`

// luaPushHome is luaPush that also appends to the logs that have a mark. In Cluster it is called with one
// list and one log, which share a slot.
//
//	KEYS[i]    for the first half lists, for the second their players' logs
//	ARGV[5]    the log's entry
//	ARGV[6]    how many entries a log keeps
//
// Result: how many lists there are, and how many logs have a mark.
const luaPushHome = luaPushOne + luaAppend + `
local half = #KEYS / 2
local heard = call('EXISTS', unpack(KEYS, half + 1)) > 0
local pushed, told = 0, 0
for i = 1, half do
  if push(KEYS[i]) then pushed = pushed + 1 end
  if heard and append(KEYS[half + i], ARGV[5], ARGV[6]) then told = told + 1 end
end
return {pushed, told}
`

// luaMerge adds entries to a list that is whole or being built, whatever its epoch.
//
//	KEYS[1]       the list
//	ARGV[3, 4 …]  score and member of each entry, nearest first
const luaMerge = luaWindow + `
local list = open(KEYS[1])
if list then put(list, 3, {}) end
`

// luaRemove removes members from each list. A removed member that is not there may be beyond the
// floor, where whoever grows the list may have read it before: his token goes. In Cluster it is called
// with one key.
//
//	KEYS[i]    a list
//	ARGV[3 …]  the members, some hundreds at most
const luaRemove = luaWindow + `
local members, noted = {}, {}
for i = 3, #ARGV do
  members[i - 2] = ARGV[i]
  noted[2 * i - 5], noted[2 * i - 4] = head, '-' .. ARGV[i]
end
for _, key in ipairs(KEYS) do
  local list = open(key)
  if list then
    local found = redis.call('ZREM', key, unpack(members))
    if list.building then
      redis.call('ZADD', key, unpack(noted))
      trim(list)
    elseif not shrunk(list) and found < #members then
      unhand(list)
    end
  end
end
`

// luaBegin begins to build a list.
//
//	KEYS[1]  the list
//	ARGV[3]  the index epoch
//	ARGV[4]  the token
//	ARGV[5]  how long the building may take, in seconds
//
// Result: 1; 0 when the list is being built or whole and of this epoch.
const luaBegin = luaWindow + `
local list = open(KEYS[1])
if list and (list.building or list.epoch == ARGV[3]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZADD', KEYS[1], head, '!building:' .. ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return 1
`

// luaFinish makes a list that is being built whole.
//
//	KEYS[1]       the list
//	ARGV[3]       the index epoch
//	ARGV[4]       the token
//	ARGV[5]       the time to live in seconds
//	ARGV[6]       the floor
//	ARGV[7]       where the range of what is at or beyond the floor begins
//	ARGV[8, 9 …]  score and member of each entry, nearest first
//
// Result: 1; 0 when it is not being built with this token, or was dropped.
const luaFinish = luaWindow + `
local key = KEYS[1]
local list = open(key)
if not list or not list.building or list.token ~= ARGV[4] then return 0 end
local gone, n = {}, 0
for _, member in ipairs(redis.call('ZRANGE', key, 1, -1)) do
  if member:sub(1, 1) ~= '-' then break end
  n = n + 1
  gone[member:sub(2)] = true
end
if n > 0 then redis.call('ZREMRANGEBYRANK', key, 1, n) end
list.building, list.epoch = false, ARGV[3]
set_floor(list, tonumber(ARGV[6]), ARGV[4])
if list.floor ~= 0 then
  redis.call(order == 'players' and 'ZREMRANGEBYSCORE' or 'ZREMRANGEBYLEX', key, ARGV[7], order == 'players' and '+inf' or '+')
end
put(list, 8, gone)
if shrunk(list) then return 0 end
redis.call('EXPIRE', key, ARGV[5])
return 1
`

// luaResume lets the holder of a token lower the floor of a list that has room.
//
//	KEYS[1]  the list
//	ARGV[3]  the index epoch
//	ARGV[4]  the token
//
// Result: the floor as text; empty when the list is not whole, has no end or is full.
const luaResume = luaWindow + `
local list = open(KEYS[1])
if not list or list.epoch ~= ARGV[3] or list.floor == 0 or redis.call('ZCARD', KEYS[1]) > cap - room then return '' end
set_floor(list, list.floor, ARGV[4])
return string.format('%.0f', list.floor)
`

// luaGrow adds entries beyond the floor and lowers it. Entries on this side of the floor are left out,
// since they may be gone by now; a list that reaches further already stays as it is.
//
//	KEYS[1]       the list
//	ARGV[3]       the token
//	ARGV[4]       the new floor
//	ARGV[5, 6 …]  score and member of each entry, nearest first
//
// Result: 1; 0 when the token is no longer there.
const luaGrow = luaWindow + `
local list = open(KEYS[1])
if not list or list.building or list.token == '' or list.token ~= ARGV[3] then return 0 end
local old, new, known = list.floor, tonumber(ARGV[4]), {}
if new ~= 0 and not beyond(old, new) then return 1 end
for i = 5, #ARGV - 1, 2 do
  if not beyond(old, id(ARGV[i], ARGV[i + 1])) then known[ARGV[i + 1]] = true end
end
set_floor(list, new, list.token)
put(list, 5, known)
return 1
`

// luaMove makes a list that is whole hold nothing from no floor on, so that nothing is pushed into it.
//
//	KEYS[1]  the list
//	ARGV[3]  the index epoch
//	ARGV[4]  the time to live in seconds
const luaMove = luaWindow + `
local list = open(KEYS[1])
if list and not list.building and list.epoch == ARGV[3] then
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], head, string.format('!%s:9007199254740991', ARGV[3]))
  redis.call('EXPIRE', KEYS[1], ARGV[4])
end
`

// luaRenew renews the time to live of each list that is whole. In Cluster it is called with one key.
//
//	KEYS[i]  a list
//	ARGV[3]  the time to live in seconds
const luaRenew = luaWindow + `
for _, key in ipairs(KEYS) do
  local list = open(key)
  if list and not list.building then redis.call('EXPIRE', key, ARGV[3]) end
end
`

// luaPage reads a piece of a list that is whole.
//
//	KEYS[1]  the list
//	ARGV[1]  the order
//	ARGV[2]  the index epoch
//	ARGV[3]  where the range begins
//	ARGV[4]  where it ends
//	ARGV[5]  how many entries at most
//
// Result: the floor, the time to live in seconds, the number of entries, and members, of players with
// their scores; nothing when the list is absent, of another epoch or being built.
const luaPage = `
local key = KEYS[1]
local floor = (redis.call('ZRANGE', key, 0, 0)[1] or ''):match('^!' .. ARGV[2] .. ':(%d+)')
if not floor then return {} end
local ttl, size = redis.call('TTL', key), redis.call('ZCARD', key) - 1
if ARGV[1] == 'players' then
  return {floor, ttl, size, redis.call('ZRANGEBYSCORE', key, ARGV[3], ARGV[4], 'WITHSCORES', 'LIMIT', 0, ARGV[5])}
end
return {floor, ttl, size, redis.call('ZRANGEBYLEX', key, ARGV[3], ARGV[4], 'LIMIT', 0, ARGV[5])}
`

// luaScores looks members up in a list that is whole.
//
//	KEYS[1]    the list
//	ARGV[1]    the index epoch
//	ARGV[2 …]  the members, some hundreds at most
//
// Result: the floor, the time to live in seconds, the number of entries, and the scores, nil for those
// that are not there; nothing when the list is absent, of another epoch or being built.
const luaScores = `
local key = KEYS[1]
local floor = (redis.call('ZRANGE', key, 0, 0)[1] or ''):match('^!' .. ARGV[1] .. ':(%d+)')
if not floor then return {} end
return {floor, redis.call('TTL', key), redis.call('ZCARD', key) - 1, redis.call('ZMSCORE', key, unpack(ARGV, 2))}
`

// luaIn looks one member up in many lists. In Cluster it is called with one key.
//
//	KEYS[i]  a list
//	ARGV[1]  the index epoch
//	ARGV[2]  the member
//
// Result: for each list 2 when the member is there, 1 when it is not, 0 when the list can't tell: it is
// absent, of another epoch, being built, or does not hold all there are.
const luaIn = `
local out = {}
for i, key in ipairs(KEYS) do
  local floor = (redis.call('ZRANGE', key, 0, 0)[1] or ''):match('^!' .. ARGV[1] .. ':(%d+)')
  if floor and redis.call('ZSCORE', key, ARGV[2]) then
    out[i] = 2
  else
    out[i] = floor == '0' and 1 or 0
  end
end
return out
`
