-- from_zset.lua - moves events from a sorted set into a key of lawn.
--
--     redis-cli --eval from_zset.lua ZSET KEY [HASH] , UNIT COUNT
--
-- The members of ZSET are ids, and the scores times in Unix seconds (UNIT 1000) or
-- milliseconds (UNIT 1); the payloads are in HASH, or else the members themselves.
-- COUNT events are moved, those that are due first before the others, and it replies
-- how many there were: call it until that is 0, or it fails. A call is one step, so
-- pollers of the old kind and consumers of the new may run meanwhile: each event is in
-- one place. An id that KEY has already is left as it is there.
--
-- A member without a field in HASH stays in ZSET: its producer may be about to write
-- it. If there are a thousand of them before the first that has one, it is an error.
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
        -- Only now: if the push was refused, as by maxlen, all is as it was before it.
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
