package redisstore

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"circle/internal/social"
)

// Who listens to his home page is noted in sorted sets, by the time until which his log may live at most,
// so that an author's feed can be brought to those who listen without asking all of his fans. Players are
// dealt out to a fixed number of sets, so that none grows large and a cluster's nodes share them.
const (
	listeningSets = 64
	// setsPerTrip bounds what one trip brings.
	setsPerTrip = 8
)

// luaListen notes players and takes out those whose time is over, by the server's clock.
//
//	KEYS[1]    a set
//	ARGV[1]    how long an entry stays, in seconds
//	ARGV[2 …]  the players
//
// Result: those of them who were not noted.
const luaListen = `
local key, now, fresh = KEYS[1], tonumber(redis.call('TIME')[1]), {}
local till = string.format('%.0f', now + tonumber(ARGV[1]))
redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. string.format('%.0f', now))
for i = 2, #ARGV do
  if redis.call('ZADD', key, till, ARGV[i]) == 1 then fresh[#fresh + 1] = ARGV[i] end
end
redis.call('EXPIRE', key, ARGV[1])
return fresh
`

// luaListeners lists the players of a set.
//
//	KEYS[1]  the set
const luaListeners = `
return redis.call('ZRANGE', KEYS[1], 0, -1)
`

// note notes the players of the visited logs among those who listen, and tells who was not there.
func (l *Logs) note(ctx context.Context, asks []social.LogAsk, visits []logVisit) (fresh map[int64]bool, err error) {
	sets := make(map[int64][]any)
	for _, v := range visits {
		player := asks[v.at].Log.Of
		sets[player%listeningSets] = append(sets[player%listeningSets], player)
	}
	calls := make([]call, 0, len(sets))
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		calls = append(calls, call{script: l.store.scripts.listen, keys: []string{listeningKeys.key(set)},
			args: append([]any{seconds(listeningKeys.ttl)}, sets[set]...)})
	}
	if err := l.server().run(ctx, calls); err != nil {
		return nil, away("note listeners", err)
	}
	fresh = make(map[int64]bool)
	for _, c := range calls {
		players, ok := c.reply.([]any)
		if !ok {
			return nil, away("note listeners", errNoReply)
		}
		for _, p := range players {
			text, _ := p.(string)
			player, _ := strconv.ParseInt(text, 10, 64)
			fresh[player] = true
		}
	}
	return fresh, nil
}

// Listeners lists players whose home page is listened to, part by part from 0 on; next is the part that
// follows, 0 after the last. It may list some who no longer listen. It takes one trip, three
// when a server lacks the script.
func (l *Logs) Listeners(ctx context.Context, part int) (players []social.PlayerID, next int, err error) {
	calls := make([]call, setsPerTrip)
	for i := range calls {
		calls[i] = call{script: l.store.scripts.listeners, keys: []string{listeningKeys.key(int64(part*setsPerTrip + i))}}
	}
	// Not on replicas, which may not have heard of who has just begun.
	if err := l.server().run(ctx, calls); err != nil {
		return nil, 0, away("read listeners", err)
	}
	for _, c := range calls {
		set, _ := c.reply.([]any)
		for _, player := range set {
			text, _ := player.(string)
			if id, err := strconv.ParseInt(text, 10, 64); err == nil {
				players = append(players, social.PlayerID(id))
			}
		}
	}
	if next = part + 1; next*setsPerTrip >= listeningSets {
		next = 0
	}
	return players, next, nil
}
