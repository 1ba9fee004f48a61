package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// truth answers with nothing, and counts what it is asked for. What it has no method for is not asked.
type truth struct {
	Lists
	asked int
}

func (s *truth) HomeFeeds(context.Context, social.Viewer, int64, int) ([]social.FeedID, error) {
	s.asked++
	return nil, nil
}

func (s *truth) AuthorFeeds(_ context.Context, asks []AuthorFeedsAsk) ([][]social.FeedID, error) {
	s.asked++
	return make([][]social.FeedID, len(asks)), nil
}

func (s *truth) Relations(context.Context, social.PlayerID, []social.PlayerID) (map[social.PlayerID]social.Relation, error) {
	s.asked++
	return map[social.PlayerID]social.Relation{}, nil
}

func (s *truth) PlayerLists(_ context.Context, _ social.RelationList, _ social.PlayerID, asks []ListAsk[social.PlayerID]) ([][]social.PlayerEdge, error) {
	s.asked++
	return make([][]social.PlayerEdge, len(asks)), nil
}

func (s *truth) Liked(context.Context, social.PlayerID, []social.FeedID) (map[social.FeedID]bool, error) {
	s.asked++
	return map[social.FeedID]bool{}, nil
}

func (s *truth) CommentLists(_ context.Context, _ social.PlayerID, asks []social.ThreadAsk) ([][]social.CommentID, error) {
	s.asked++
	return make([][]social.CommentID, len(asks)), nil
}

func (s *truth) ReceivedMessages(context.Context, social.PlayerID, social.MessageID, social.MessageID, int, bool) ([]social.MessageID, error) {
	s.asked++
	return nil, nil
}

// redis is one that is away, or has all lists, which reach as far as has been read.
type redis struct {
	FeedWindow
	PageCache
	away, unfinished bool
}

var errAway = errors.New("redis is away")

func (r *redis) err() error {
	if r.away {
		return errAway
	}
	return nil
}

func (r *redis) Read(_ context.Context, asks []social.WindowAsk) ([]social.WindowPage, error) {
	pages := make([]social.WindowPage, len(asks))
	for i, ask := range asks {
		pages[i] = social.WindowPage{State: social.WindowWhole, Floor: ask.After, Unfinished: r.unfinished}
	}
	return pages, r.err()
}

// TestListsThatEndTooSoonAreBuiltFurther reads lists whose building was broken off.
func TestListsThatEndTooSoonAreBuiltFurther(t *testing.T) {
	viewer, all := social.Viewer{Player: 1}, int64(social.MaxID+1)
	for _, c := range []struct {
		kind string
		read func(ctx context.Context, s *Services) error
	}{
		{"profile", func(ctx context.Context, s *Services) error {
			_, err := s.Feeds.Profiles(ctx, viewer, []ProfileAsk{{Author: 1, First: 10, Below: all}})
			return err
		}},
		{"fans", func(ctx context.Context, s *Services) error {
			_, _, err := s.Relations.Lists(ctx, viewer, []PlayerListAsk{{Owner: 1, List: social.ListFans, First: 10, Below: all}})
			return err
		}},
		{"comments", func(ctx context.Context, s *Services) error {
			_, _, err := s.Comments.Pages(ctx, viewer, []CommentsAsk{{Thread: social.Thread{Feed: 1}, First: 10}})
			return err
		}},
		{"inbox", func(ctx context.Context, s *Services) error {
			_, _, err := s.Messages.Inbox(ctx, viewer, social.PageArgs{First: 10})
			return err
		}},
	} {
		for _, unfinished := range []bool{false, true} {
			t.Run(fmt.Sprint(c.kind, " unfinished ", unfinished), func(t *testing.T) {
				cache := &redis{unfinished: unfinished}
				s := New(Deps{
					Lists: &truth{}, Caches: Caches{Pages: cache}, FallbackReads: 1, Observe: &seen{}, Now: time.Now,
					Windows: Windows{Profiles: cache, Comments: cache, Fans: cache, Inboxes: cache},
					Log:     slog.New(slog.DiscardHandler),
				})
				require.NoError(t, c.read(t.Context(), s))
				var wanted []buildKey
				for key := range s.Home.lists.going {
					wanted = append(wanted, key)
				}
				if unfinished {
					require.Equal(t, []buildKey{{c.kind, 1}}, wanted)
				} else {
					require.Empty(t, wanted)
				}
			})
		}
	}
}

// homes reads the same timelines, of players who follow no pulled authors.
type homes struct {
	HomeWindows
	*redis
}

func (h homes) Read(ctx context.Context, ask social.WindowAsk) (social.HomeWindow, error) {
	pages, err := h.redis.Read(ctx, []social.WindowAsk{ask})
	return social.HomeWindow{WindowPage: pages[0]}, err
}

func (r *redis) Has(_ context.Context, _ int64, members []int64) ([]social.Membership, error) {
	return make([]social.Membership, len(members)), r.err()
}

func (r *redis) People(_ context.Context, _ social.PlayerID, _, relations []social.PlayerID) (social.People, error) {
	if r.away {
		return social.People{}, errAway
	}
	people := social.People{Relations: make(map[social.PlayerID]social.Relation)}
	for _, p := range relations {
		people.Relations[p] = social.Relation{}
	}
	return people, nil
}

// seen notes how home pages fell back.
type seen struct {
	Observer
	lacking []bool
}

func (s *seen) HomeFellBack(lacking bool) { s.lacking = append(s.lacking, lacking) }

func TestReadsInPlaceOfRedisWaitForTheirTurn(t *testing.T) {
	viewer := social.Viewer{Player: 1}
	page := func(ctx context.Context, s *Services) error {
		_, err := s.Home.Page(ctx, viewer, social.PageArgs{First: 10})
		return err
	}
	profile := func(ctx context.Context, s *Services) error {
		_, err := s.Feeds.Profiles(ctx, viewer, []ProfileAsk{{Author: 1, First: 10, Below: social.MaxID + 1}})
		return err
	}
	fans := func(ctx context.Context, s *Services) error {
		_, _, err := s.Relations.Lists(ctx, viewer, []PlayerListAsk{{Owner: 1, List: social.ListFans, First: 10, Below: social.MaxID + 1}})
		return err
	}
	comments := func(ctx context.Context, s *Services) error {
		_, _, err := s.Comments.Pages(ctx, viewer, []CommentsAsk{{Thread: social.Thread{Feed: 1}, First: 10}, {Thread: social.Thread{Feed: 1, Head: 2}, First: 10}})
		return err
	}
	for _, c := range []struct {
		name  string
		away  bool
		read  func(ctx context.Context, s *Services) error
		waits bool
	}{
		{"a home page with redis away", true, page, true},
		{"a home page below the timeline's floor", false, page, false},
		{"a profile list with redis away", true, profile, true},
		{"a profile list below the window's floor", false, profile, false},
		{"a list of players with redis away", true, fans, true},
		{"a list of players below the window's floor", false, fans, false},
		{"comments with redis away", true, comments, true},
		{"comments behind the window's floor", false, comments, false},
		{"relations", true, func(ctx context.Context, s *Services) error {
			_, err := s.Relations.Of(ctx, viewer, []social.PlayerID{2})
			return err
		}, true},
		{"likes", true, func(ctx context.Context, s *Services) error {
			_, err := s.Likes.Liked(ctx, viewer, []social.FeedID{2})
			return err
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, cache, observer := &truth{}, &redis{away: c.away}, &seen{}
			s := New(Deps{
				Lists: store, Caches: Caches{Pages: cache}, FallbackReads: 1, Observe: observer,
				Windows: Windows{
					Homes: homes{redis: cache}, Profiles: cache, Liked: cache, Comments: cache, Replies: cache, Fans: cache,
				},
				Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			})
			synctest.Test(t, func(t *testing.T) {
				gate := s.Home.lists.gate
				leave, err := gate.enter(t.Context())
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				err = c.read(ctx, s)
				leave()
				if !c.waits {
					require.NoError(t, err)
					assert.Equal(t, 1, store.asked)
					assert.NotContains(t, observer.lacking, true)
					return
				}
				assert.Equal(t, social.CodeUnavailable, social.CodeOf(err))
				assert.Zero(t, store.asked, "nobody else is let in")
				require.NoError(t, c.read(t.Context(), s))
				assert.Positive(t, store.asked, "as soon as there is room, it goes on")
				assert.NotContains(t, observer.lacking, false)
			})
		})
	}
}
