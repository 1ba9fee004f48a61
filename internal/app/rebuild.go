package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/internal/store/sqlstore"
)

const (
	// playersPerEvent bounds the timelines that one event has built anew, eventsPerTx the events of one
	// transaction.
	playersPerEvent = 1000
	eventsPerTx     = 100
	// playersPerRead is how many players' differences are printed at once.
	playersPerRead = 20
	// timelineLength is how many feeds a timeline holds.
	timelineLength = 1000
)

// RebuildTimelines has the servers build timelines anew so that they are what the relational store says: that
// of one player, given by name, GraphQL id or external id, or where that is "" all of them. Timelines that
// are not there stay so.
func (c *Commands) RebuildTimelines(ctx context.Context, player string) error {
	first, last, err := c.players(ctx, player)
	if err != nil {
		return err
	}
	for next := first; next <= last; {
		var events []social.Event
		for ; next <= last && len(events) < eventsPerTx; next += playersPerEvent {
			id, err := c.base.ids.Next(ctx)
			if err != nil {
				return err
			}
			events = append(events, social.Event{
				ID: social.EventID(id), Kind: social.EventTimelines,
				Subject: int64(next), Object: int64(min(next+playersPerEvent-1, last)),
			})
		}
		err := c.base.store.InTx(ctx, func(tx *sqlstore.Tx) error {
			for _, event := range events {
				if err := tx.Append(ctx, event); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.out, "asked the servers to rebuild the timelines of %d players, as far as they are there\n", last-first+1)
	return err
}

// players is the range of players that a command is for.
func (c *Commands) players(ctx context.Context, player string) (first, last social.PlayerID, err error) {
	if player == "" {
		last, err = c.base.store.LastPlayer(ctx)
		return 1, last, err
	}
	first, err = c.anyPlayer(ctx, player)
	return first, first, err
}

// anyPlayer finds a player by GraphQL id, external id or name.
func (c *Commands) anyPlayer(ctx context.Context, player string) (social.PlayerID, error) {
	id, err := social.ParsePlayerID(player)
	if err != nil {
		return c.player(ctx, player)
	}
	found, err := c.base.store.Players().Load(ctx, []social.PlayerID{id})
	if err == nil && found[id] == nil {
		err = fmt.Errorf("there is no player %q", player)
	}
	return id, err
}

// redis is what servers read from; nil where it is embedded in the server.
func (c *Commands) redis(ctx context.Context) (*redisstore.Store, error) {
	if c.options.Config.Redis.Embedded() {
		return nil, nil
	}
	cache, err := redisstore.Open(ctx, redisstore.Config{URLs: redisURLs(c.options.Config.Redis), Log: c.options.Log})
	if err != nil {
		return nil, err
	}
	c.closers.add("redis", func(context.Context) error { return cache.Close() })
	if err := cache.Ping(ctx); err != nil {
		return nil, err
	}
	epochs, err := c.base.store.Epochs(ctx)
	cache.SetEpochs(epochs)
	return cache, err
}

// CompareTimelines prints what RebuildTimelines would change, and changes nothing: of each timeline that is
// not what the relational store says how many members are missing and how many are too much, and the sum.
// What servers are about to write counts too.
func (c *Commands) CompareTimelines(ctx context.Context, player string) error {
	first, last, err := c.players(ctx, player)
	if err != nil {
		return err
	}
	cache, err := c.redis(ctx)
	if err != nil {
		return err
	}
	if cache == nil {
		_, err := fmt.Fprintf(c.out, "timelines of %d players would be rebuilt as far as they are there; "+
			"what differs can't be told, because the timelines are in the memory of the server, out of this command's reach\n", last-first+1)
		return err
	}
	sum := comparison{store: c.base.store, homes: cache.Homes()}
	var differ int
	for next := first; next <= last; next += playersPerRead {
		found, err := sum.read(ctx, next, min(next+playersPerRead-1, last))
		if err != nil {
			return err
		}
		differ += len(found)
		if err := c.printDifferences(ctx, found); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.out, "%d timelines are there, %d differ: %d members missing, %d too much\n", sum.there, differ, sum.missing, sum.extra)
	return err
}

func (c *Commands) printDifferences(ctx context.Context, found []difference) error {
	ids := make([]social.PlayerID, len(found))
	for i, d := range found {
		ids[i] = d.player
	}
	players, err := c.base.store.Players().Load(ctx, ids)
	for _, d := range found {
		_, printed := fmt.Fprintf(c.out, "%s: %d missing, %d too much\n", named(players[d.player], d.player), d.missing, d.extra)
		err = errors.Join(err, printed)
	}
	return err
}

// comparison adds up what differs between timelines and their definition.
type comparison struct {
	store                 *sqlstore.Store
	homes                 *redisstore.Homes
	there, missing, extra int
}

type difference struct {
	player         social.PlayerID
	missing, extra int
}

// read compares the timelines of the players first to last that are there.
func (s *comparison) read(ctx context.Context, first, last social.PlayerID) (differ []difference, err error) {
	for player := first; player <= last; player++ {
		home, err := s.homes.Read(ctx, social.WindowAsk{ID: int64(player), After: social.MaxID + 1, Limit: timelineLength})
		if err != nil {
			return nil, err
		}
		if home.State == social.WindowAbsent {
			continue
		}
		s.there++
		ids, err := s.store.TimelineFeeds(ctx, player, social.MaxID+1, timelineLength)
		if err != nil {
			return nil, err
		}
		missing, extra := compare(home.WindowPage, ids)
		// What pulled authors have posted comes with the next page.
		heads, err := s.store.Feeds().Load(ctx, missing)
		if err != nil {
			return nil, err
		}
		missing = slices.DeleteFunc(missing, func(id social.FeedID) bool { return heads[id] != nil && home.Pulls(heads[id]) })
		if d := (difference{player: player, missing: len(missing), extra: extra}); d.missing+d.extra > 0 {
			differ = append(differ, d)
			s.missing, s.extra = s.missing+d.missing, s.extra+d.extra
		}
	}
	return differ, nil
}

// compare tells what is missing and how much is too much as far as both the timeline and what was read of its
// definition reach.
func compare(page social.WindowPage, ids []social.FeedID) (missing []social.FeedID, extra int) {
	floor := page.Floor
	if len(ids) == timelineLength {
		floor = max(floor, int64(ids[timelineLength-1])-1)
	}
	held := make(map[int64]bool, len(page.Entries))
	for _, e := range page.Entries {
		if e.Member > floor {
			held[e.Member] = true
		}
	}
	for _, id := range ids {
		if int64(id) > floor && !held[int64(id)] {
			missing = append(missing, id)
		}
		delete(held, int64(id))
	}
	return missing, len(held)
}
