package fanout

import (
	"context"
	"slices"

	"circle/internal/social"
)

// Pulled is what is known of pulled authors and of those who pull.
type Pulled interface {
	// PullAbove makes an author with more than limit fans pulled from the feed on, for good, and tells from
	// which feed on he is: 0 where he is not.
	PullAbove(ctx context.Context, limit int, author social.PlayerID, feed social.FeedID) (social.FeedID, error)
	// PulledFrom only tells.
	PulledFrom(ctx context.Context, author social.PlayerID) (social.FeedID, error)
	// Pull puts an author into the fans' lists of pulled authors: all feeds up to the position are in their
	// timelines, or will be pushed there.
	Pull(ctx context.Context, fans []social.PlayerID, author social.PlayerID, position social.FeedID) error
	// Listeners lists players who listen to their home pages, part by part from 0 on; next is 0 after the
	// last part.
	Listeners(ctx context.Context, part int) (players []social.PlayerID, next int, err error)
	// FansAmong tells which of the players follow an author.
	FansAmong(ctx context.Context, author social.PlayerID, players []social.PlayerID) ([]social.PlayerID, error)
}

// way is how a feed is brought to fans.
type way struct {
	// pulled says that only those who listen are told; walks, that all fans first get the author among
	// those whom they pull.
	pulled, walks bool
}

// way tells which way a feed goes. It depends on the feed's id and on the first one that is pulled, which
// never changes, so that it is the same however often and late an event comes: the feed at which the
// author crossed the limit walks, those before it are pushed even if they were committed after it. Of
// these a later change is only told to those who listen. A feed that is shown again, an older one, crosses no limit.
func (f *FeedFar) way(ctx context.Context, head *social.Feed, entry social.LiveEntry, place []byte) (way, error) {
	if head.Visibility == social.Private {
		return way{}, nil
	}
	made := entry.Kind == social.LiveFeedAdded
	_, begun := placeOf(toFans, place)
	var first social.FeedID
	var err error
	if made && !begun && !head.Deleted && entry.Version == entry.ID {
		first, err = f.Pulled.PullAbove(ctx, f.Limit, head.AuthorID, head.ID)
	} else {
		first, err = f.Pulled.PulledFrom(ctx, head.AuthorID)
	}
	if err != nil || first == 0 || made && head.ID < first {
		return way{}, err
	}
	return way{pulled: true, walks: made && head.ID == first}, nil
}

// tell has all fans pull from now on. It is done for the feed at which the author crossed the limit, also
// when that is gone by then.
func (s *stage) tell(ctx context.Context, place []byte) error {
	if _, told := placeOf(toListeners, place); told {
		return nil
	}
	after, _ := placeOf(toPullers, place)
	return s.walk(ctx, toPullers, after, func(ctx context.Context, _ bool, fans []social.PlayerID) error {
		return s.far.Pulled.Pull(ctx, fans, s.head.AuthorID, s.head.ID-1)
	})
}

// pull brings the feed to its author and to those of the fans who listen, but not when it runs again for
// the indexes alone.
func (s *stage) pull(ctx context.Context, place []byte) error {
	part, _ := placeOf(toListeners, place)
	if part == 0 {
		if err := s.push(ctx, []social.PlayerID{s.head.AuthorID}); err != nil {
			return err
		}
	}
	if s.replay {
		return nil
	}
	for {
		next, err := s.toListeners(ctx, int(part))
		if err != nil || next == 0 {
			return err
		}
		part = int64(next)
	}
}

// toListeners brings the feed to the fans among a part of those who listen. Parts in which there is
// somebody are saved.
func (s *stage) toListeners(ctx context.Context, part int) (next int, err error) {
	players, next, err := s.far.Pulled.Listeners(ctx, part)
	if err != nil {
		return 0, err
	}
	reached := false
	for chunk := range slices.Chunk(players, fansPerPush) {
		fans, err := s.far.Pulled.FansAmong(ctx, s.head.AuthorID, chunk)
		if err != nil {
			return 0, err
		}
		if err := s.push(ctx, fans); err != nil {
			return 0, err
		}
		reached = reached || len(fans) > 0
	}
	if reached && next != 0 {
		err = s.save(ctx, packPlace(toListeners, int64(next)))
	}
	return next, err
}
