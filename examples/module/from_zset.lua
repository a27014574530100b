-- from_zset.lua - moves events from a sorted set to a lawn key.
--
--     redis-cli --eval from_zset.lua ZSET KEY [HASH] , UNIT COUNT
--
-- The members of ZSET are ids. The scores are Unix times in seconds (UNIT 1000) or
-- milliseconds (UNIT 1). The payloads are in HASH; without HASH, the members are the
-- payloads. Moves up to COUNT events, earliest first, and returns their number: call the
-- script until it returns 0 or fails. A call is atomic, so old pollers and new consumers
-- can run at the same time: each event is in one place. If KEY has an event with the id of
-- a member, the event is kept and the member is removed.
--
-- A member without a field in HASH stays in ZSET: its producer may be about to write the
-- field. A call that reads a thousand such members or more, and no others, fails.
local zset, key, hash = KEYS[1], KEYS[2], KEYS[3]
local unit, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local ORPHANS = 1000

local members = redis.call('ZRANGE', zset, 0, count + ORPHANS - 1, 'WITHSCORES')
local moved, orphans = 0, 0
for i = 1, #members, 2 do
    local id = members[i]
    local payload = not hash and id or redis.call('HGET', hash, id)
    if moved == count then break end
    if payload then
        local at = string.format('%.0f', math.min(2 ^ 53,
                                 math.max(0, members[i + 1] * unit)))
        redis.call('LAWN.PUSH', key, id, payload, 'AT', at, 'NX')
        -- After the push: if it is refused, for example by maxlen, nothing has changed.
        redis.call('ZREM', zset, id)
        if hash then redis.call('HDEL', hash, id) end
        moved = moved + 1
    else
        orphans = orphans + 1
    end
end
if moved == 0 and orphans >= ORPHANS then
    return redis.error_reply('ERR the first ' .. orphans .. ' members of ' .. zset ..
                             ' have no field in ' .. hash)
end
return moved
