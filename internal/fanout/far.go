package fanout

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"circle/internal/social"
)

// Heads reads the heads of feeds on the primary; unknown ones are absent.
type Heads interface {
	Load(ctx context.Context, ids []social.FeedID) (map[social.FeedID]*social.Feed, error)
}

// Fans lists at most limit fans of an author on the primary, by their ids, from behind after on.
type Fans interface {
	FansOf(ctx context.Context, author, after social.PlayerID, limit int) ([]social.PlayerID, error)
}

// Pusher brings what became of a feed to players: to the author, who comes first, and to fans. It may do so
// for some of them before it fails, and again for all of them later.
type Pusher interface {
	// Push writes into live logs unless the event is a replay, which is for indexes alone.
	Push(ctx context.Context, players []social.PlayerID, entry social.LiveEntry, replay bool) error
}

// fansPerPush bounds what is done again after a break: some ten script calls' worth.
const fansPerPush = 1000

// FeedFar is the far stage of the events of feeds: it brings them to their author and, unless the feed is
// PRIVATE, to every fan, and to whoever listens to the feed itself.
type FeedFar struct {
	Heads  Heads
	Fans   Fans
	Pusher Pusher
	Logs   Logs
}

// Far runs the stage. Its place is the last fan that has been served; before the first chunk of fans there is
// none.
func (f *FeedFar) Far(ctx context.Context, event social.Event, place []byte, save func(context.Context, []byte) error) error {
	after, err := unpackPlace(place)
	if err != nil {
		return err
	}
	id := social.FeedID(event.Subject)
	heads, err := f.Heads.Load(ctx, []social.FeedID{id})
	if err != nil {
		return fmt.Errorf("read a feed's head: %w", err)
	}
	head := heads[id]
	if head == nil {
		return nil
	}
	entry, ok := liveEntry(event, head)
	if !ok {
		return nil
	}
	if after == 0 && entry.Kind != social.LiveFeedAdded && !event.Replay {
		if err := announce(ctx, f.Logs, id, entry); err != nil {
			return err
		}
	}
	for {
		players, last, err := f.chunk(ctx, head, after)
		if err != nil {
			return err
		}
		if len(players) > 0 {
			if err := f.Pusher.Push(ctx, players, entry, event.Replay); err != nil {
				return fmt.Errorf("push a feed: %w", err)
			}
		}
		if last == 0 {
			return nil
		}
		if err := save(ctx, packPlace(last)); err != nil {
			return err
		}
		after = last
	}
}

// chunk is whom to serve next; last is 0 when there is nobody behind them.
func (f *FeedFar) chunk(ctx context.Context, head *social.Feed, after social.PlayerID) (players []social.PlayerID, last social.PlayerID, err error) {
	if after == 0 {
		players = append(players, head.AuthorID)
	}
	if head.Visibility == social.Private {
		return players, 0, nil
	}
	fans, err := f.Fans.FansOf(ctx, head.AuthorID, after, fansPerPush)
	if err != nil {
		return nil, 0, err
	}
	if len(fans) == fansPerPush {
		last = fans[len(fans)-1]
	}
	return append(players, fans...), last, nil
}

// liveEntry says what became of a feed. The entry is the same however often the event runs, but for later
// changes, whose own events say no more then. A feed that is gone before it was brought to anybody is
// nothing.
func liveEntry(event social.Event, head *social.Feed) (social.LiveEntry, bool) {
	made := event.Object == event.Subject
	entry := social.LiveEntry{Kind: social.LiveFeedEdited, ID: event.Subject, Version: head.Version}
	switch {
	case made:
		entry.Kind, entry.Version = social.LiveFeedAdded, event.Object
	case head.Deleted:
		entry.Kind = social.LiveFeedRemoved
	}
	return entry, !made || !head.Deleted
}

func packPlace(last social.PlayerID) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(last))
}

func unpackPlace(place []byte) (social.PlayerID, error) {
	switch len(place) {
	case 0:
		return 0, nil
	case 8:
		return social.PlayerID(binary.BigEndian.Uint64(place)), nil
	}
	return 0, errors.New("the place of a far stage can't be read")
}
