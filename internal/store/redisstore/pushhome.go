package redisstore

import (
	"context"
	"errors"
	"slices"

	"circle/internal/social"
)

// homesPerTrip bounds the players of one trip: the embedded Redis must answer in time too.
const homesPerTrip = 500

// PushHome brings an entry to players' home pages: into the timelines that are there or being built, and
// into the live logs of those who listen, for each player in one step. Where there is no memory for that, both are removed. It returns how many timelines and
// logs there were; after an error some of the players may have it. It takes one trip for 500 players, three
// when a server lacks the script.
func (s *Store) PushHome(ctx context.Context, players []social.PlayerID, entry social.LiveEntry) (pushed, told int, err error) {
	w := s.Timelines()
	shared := append(w.pairs(w.shared(), []social.Entry{{Member: entry.ID, Key: entry.ID}}), packEntry(entry), logLength)
	most := 1
	if w.server().single {
		most = keysPerCall
	}
	for some := range slices.Chunk(players, homesPerTrip) {
		b := batch{server: w.server(), keys: w.keys}
		for chunk := range slices.Chunk(some, most) {
			keys := make([]string, 2*len(chunk))
			for i, player := range chunk {
				keys[i], keys[len(chunk)+i] = w.keys.key(int64(player)), homeLogKeys.key(int64(player))
			}
			b.calls = append(b.calls, call{script: s.scripts.pushHome, keys: keys, args: shared})
		}
		switch err := b.run(ctx, "push to"); {
		case outOfMemory(err):
			if err := s.dropHome(ctx, some); err != nil {
				return pushed, told, err
			}
			continue
		case err != nil:
			return pushed, told, err
		}
		for _, c := range b.calls {
			counts, _ := c.reply.([]any)
			if len(counts) != 2 {
				return pushed, told, away("push to home pages", errNoReply)
			}
			lists, _ := counts[0].(int64)
			logs, _ := counts[1].(int64)
			pushed, told = pushed+int(lists), told+int(logs)
		}
	}
	return pushed, told, nil
}

// dropHome removes players' timelines and ends their logs.
func (s *Store) dropHome(ctx context.Context, players []social.PlayerID) error {
	timelines, logs := make([]int64, len(players)), make([]social.LogID, len(players))
	for i, player := range players {
		timelines[i], logs[i] = int64(player), social.LogID{Kind: social.LogHome, Of: int64(player)}
	}
	return errors.Join(s.Timelines().Drop(ctx, timelines), s.Logs().Reset(ctx, logs))
}
