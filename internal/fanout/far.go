package fanout

import (
	"context"
	"encoding/binary"
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
// PRIVATE, to every fan, and to whoever listens to the feed itself. A feed of a pulled author it brings to
// those fans who listen; the others take it when they read their home pages.
type FeedFar struct {
	Heads  Heads
	Fans   Fans
	Pusher Pusher
	Logs   Logs
	Pulled Pulled
	// Limit is above how many fans an author becomes pulled.
	Limit int
}

// Far runs the stage. Its place is the last fan that has been served, or how far a pulled feed came.
func (f *FeedFar) Far(ctx context.Context, event social.Event, place []byte, save func(context.Context, []byte) error) error {
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
	way, err := f.way(ctx, head, entry, place)
	if err != nil {
		return err
	}
	push := func(ctx context.Context, players []social.PlayerID) error {
		if len(players) == 0 {
			return nil
		}
		if err := f.Pusher.Push(ctx, players, entry, event.Replay); err != nil {
			return fmt.Errorf("push a feed: %w", err)
		}
		return nil
	}
	if ok && len(place) == 0 && entry.Kind != social.LiveFeedAdded && !event.Replay {
		if err := announce(ctx, f.Logs, id, entry); err != nil {
			return err
		}
	}
	stage := stage{far: f, head: head, replay: event.Replay, push: push, save: save}
	if way.walks {
		if err := stage.tell(ctx, place); err != nil {
			return err
		}
	}
	switch {
	case !ok:
		return nil
	case way.pulled:
		return stage.pull(ctx, place)
	case head.Visibility == social.Private:
		return push(ctx, []social.PlayerID{head.AuthorID})
	}
	return stage.toFans(ctx, place)
}

// stage is a far stage that is being run.
type stage struct {
	far    *FeedFar
	head   *social.Feed
	replay bool
	push   func(ctx context.Context, players []social.PlayerID) error
	save   func(ctx context.Context, place []byte) error
}

// toFans brings the feed to its author and to all fans behind the place.
func (s *stage) toFans(ctx context.Context, place []byte) error {
	after, _ := placeOf(toFans, place)
	return s.walk(ctx, toFans, after, func(ctx context.Context, first bool, fans []social.PlayerID) error {
		if first {
			fans = append([]social.PlayerID{s.head.AuthorID}, fans...)
		}
		return s.push(ctx, fans)
	})
}

// walk hands out the author's fans behind after, chunk by chunk, and saves its place behind each but the
// last. There is a first chunk also where there are no fans.
func (s *stage) walk(ctx context.Context, kind byte, after int64, visit func(ctx context.Context, first bool, fans []social.PlayerID) error) error {
	for {
		fans, err := s.far.Fans.FansOf(ctx, s.head.AuthorID, social.PlayerID(after), fansPerPush)
		if err != nil {
			return err
		}
		if err := visit(ctx, after == 0, fans); err != nil {
			return err
		}
		if len(fans) < fansPerPush {
			return nil
		}
		after = int64(fans[len(fans)-1])
		if err := s.save(ctx, packPlace(kind, after)); err != nil {
			return err
		}
	}
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
	case head.Deleted || head.Hidden:
		entry.Kind = social.LiveFeedRemoved
	case event.Kind == social.EventFeedShown:
		entry.Kind = social.LiveFeedAdded
	}
	return entry, !made || !head.Deleted
}

// The kinds of places: behind a fan to whom the feed was pushed, behind a fan who was told that the author
// is pulled now, behind a part of those who listen, and behind a player whose timeline was rebuilt.
const (
	toFans      = 'f'
	toPullers   = 'p'
	toListeners = 'l'
	toPlayers   = 't'
)

func packPlace(kind byte, at int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(at))
}

// placeOf is where a walk of a kind goes on: at 0 where the place is of another.
func placeOf(kind byte, place []byte) (at int64, found bool) {
	if len(place) != 9 || place[0] != kind {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(place[1:])), true
}
