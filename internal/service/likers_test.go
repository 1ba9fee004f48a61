package service

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

// listWindow is a window in memory: its nearest entries, complete down to its floor.
type listWindow struct {
	EachWindow
	page social.WindowPage
	away bool
}

// newListWindow makes a window of the first of the entries.
func newListWindow(r *rapid.T, label string, entries []social.Entry) *listWindow {
	w := &listWindow{away: rapid.IntRange(0, 9).Draw(r, label+" away") == 0}
	if rapid.IntRange(0, 9).Draw(r, label+" absent") == 0 {
		return w
	}
	n := rapid.OneOf(rapid.Just(len(entries)), rapid.IntRange(0, len(entries))).Draw(r, label+" in the window")
	w.page = social.WindowPage{State: social.WindowWhole, Entries: entries[:n], Size: n}
	if n < len(entries) {
		w.page.Floor = entries[n].Key
	}
	return w
}

func (w *listWindow) whole() bool {
	return !w.away && w.page.State == social.WindowWhole && w.page.Floor == 0
}

func (w *listWindow) Read(_ context.Context, asks []social.WindowAsk) ([]social.WindowPage, error) {
	if w.away {
		return nil, errAway
	}
	pages := make([]social.WindowPage, len(asks))
	for i, ask := range asks {
		pages[i] = w.page
		behind := slices.IndexFunc(w.page.Entries, func(e social.Entry) bool { return e.Key < ask.After })
		if behind < 0 {
			behind = len(w.page.Entries)
		}
		rest := w.page.Entries[behind:]
		pages[i].Entries = rest[:min(len(rest), ask.Limit)]
		pages[i].Ended = w.whole() && len(rest) <= ask.Limit
	}
	return pages, nil
}

func (w *listWindow) Has(_ context.Context, _ int64, members []int64) ([]social.Membership, error) {
	answers := make([]social.Membership, len(members))
	for i, m := range members {
		if at := slices.IndexFunc(w.page.Entries, func(e social.Entry) bool { return e.Member == m }); at >= 0 {
			answers[i] = social.Membership{Presence: social.PresenceYes, Key: w.page.Entries[at].Key}
		} else if w.whole() {
			answers[i].Presence = social.PresenceNo
		}
	}
	if w.away {
		return nil, errAway
	}
	return answers, nil
}

func (w *listWindow) HasEach(ctx context.Context, lists, members []int64) ([]social.Members, error) {
	answers, err := w.Has(ctx, 0, members)
	found := make([]social.Members, len(lists))
	for i := range found {
		found[i] = social.Members{State: w.page.State, Answers: answers, Floor: w.page.Floor}
	}
	return found, err
}

// likerWorld is a feed's likers, the viewer's friends, and windows of both.
type likerWorld struct {
	Lists
	likes, friends *listWindow
	// atOnce is how many friends come along with likers.
	atOnce int
	all    []social.Like
	// blocked are players whom the viewer does not see; none of them is a friend.
	blocked map[social.PlayerID]bool
	asked   int
}

const probedFeed = social.FeedID(7)

func newLikerWorld(r *rapid.T) *likerWorld {
	w := &likerWorld{atOnce: rapid.IntRange(0, 8).Draw(r, "friends at once"), blocked: map[social.PlayerID]bool{}}
	blocks := rapid.Bool().Draw(r, "blocks")
	var likers, friends []social.Entry
	for player := int64(2); player < 50; player++ {
		liked, friend := rapid.Bool().Draw(r, "liked"), rapid.IntRange(0, 2).Draw(r, "friend") == 0
		if blocks && !friend && rapid.IntRange(0, 3).Draw(r, "blocked") == 0 {
			w.blocked[social.PlayerID(player)] = true
		}
		if liked {
			e := social.Entry{Member: player, Key: 1000 - player*7%97}
			likers = append(likers, e)
			w.all = append(w.all, likeOf(probedFeed, e, friend))
		}
		if friend {
			friends = append(friends, social.Entry{Member: player, Key: 1000 - player*11%89})
		}
	}
	newest := func(a, b social.Entry) int { return cmp.Compare(b.Key, a.Key) }
	slices.SortFunc(likers, newest)
	slices.SortFunc(friends, newest)
	slices.SortFunc(w.all, func(a, b social.Like) int { return cmp.Compare(b.Order, a.Order) })
	w.likes, w.friends = newListWindow(r, "likes", likers), newListWindow(r, "friends", friends)
	return w
}

func (w *likerWorld) Likers(_ context.Context, part LikerPart, _ social.PlayerID, asks []ListAsk[social.FeedID]) ([][]social.Like, error) {
	w.asked++
	lists := make([][]social.Like, len(asks))
	for i, ask := range asks {
		for _, like := range w.all {
			wanted := part == AllLikers || like.Friend == (part == FriendLikers)
			if wanted && !w.blocked[like.Key.Player] && int64(like.Order) < ask.Below && len(lists[i]) < ask.Limit {
				lists[i] = append(lists[i], like)
			}
		}
	}
	return lists, nil
}

func (w *likerWorld) FriendLikeCounts(context.Context, social.PlayerID, []social.FeedID) (map[social.FeedID]int, error) {
	w.asked++
	return map[social.FeedID]int{probedFeed: len(w.inOrder(social.FriendsFirst, true))}, nil
}

// probed is a likerWorld as the cache of pages.
type probed struct {
	PageCache
	*likerWorld
}

func (p probed) Likers(ctx context.Context, _ social.PlayerID, asks []social.WindowAsk) (social.Likers, error) {
	pages, err := p.likes.Read(ctx, asks)
	if err != nil {
		return social.Likers{}, err
	}
	friends, err := p.friends.Read(ctx, []social.WindowAsk{{After: social.MaxID + 1, Limit: p.atOnce}})
	if err != nil {
		return social.Likers{}, err
	}
	return social.Likers{Pages: pages, Friends: friends[0]}, nil
}

// People knows all players and blocks of the viewer.
func (p probed) People(_ context.Context, _ social.PlayerID, infos, relations []social.PlayerID) (social.People, error) {
	people := social.People{Players: map[social.PlayerID]*social.Player{}, Relations: map[social.PlayerID]social.Relation{}}
	for _, id := range infos {
		people.Players[id] = &social.Player{ID: id}
	}
	for _, id := range relations {
		people.Relations[id] = social.Relation{Blocking: p.blocked[id]}
	}
	return people, nil
}

// inOrder is the whole list that the viewer may see, or its friends alone.
func (w *likerWorld) inOrder(order social.LikeOrder, friendsAlone bool) []social.Like {
	list := slices.DeleteFunc(slices.Clone(w.all), func(l social.Like) bool {
		return friendsAlone && !l.Friend || w.blocked[l.Key.Player]
	})
	if order == social.FriendsFirst {
		slices.SortStableFunc(list, func(a, b social.Like) int {
			switch {
			case a.Friend == b.Friend:
				return 0
			case a.Friend:
				return -1
			}
			return 1
		})
	}
	return list
}

// walk reads a list page by page.
func walk(r *rapid.T, likes *Likes, viewer social.Viewer, order social.LikeOrder, first int) (all []social.Like, friends []int) {
	ask := LikersAsk{Feed: probedFeed, Order: order, First: first}
	for {
		pages, _, err := likes.Likers(context.Background(), viewer, []LikersAsk{ask})
		require.NoError(r, err)
		page := pages[ask]
		all = append(all, page.Items...)
		if page.Friends != nil {
			friends = append(friends, *page.Friends)
		}
		if !page.HasNext {
			return all, friends
		}
		require.Len(r, page.Items, first, "a page that others follow is full")
		ask.Begun, ask.After = true, PositionOf(order, &page.Items[first-1])
	}
}

// Whatever of likers and friends is in Redis: the pages together are the list, and friends are counted.
func TestLikersAreTheListWhateverTheWindowsHold(t *testing.T) {
	viewer := social.Viewer{Player: 1}
	rapid.Check(t, func(r *rapid.T) {
		w := newLikerWorld(r)
		likes := New(Deps{
			Lists: w, Caches: Caches{Pages: probed{likerWorld: w}}, FallbackReads: 1, Observe: &seen{},
			Windows: Windows{Likes: w.likes, Friends: w.friends}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		}).Likes
		friends := len(w.inOrder(social.FriendsFirst, true))
		for _, order := range []social.LikeOrder{social.FriendsFirst, social.Newest} {
			want := w.inOrder(order, false)
			for _, first := range []int{1, 2, 7, 100} {
				got, counts := walk(r, likes, viewer, order, first)
				require.Equal(r, want, got, "pages of %d", first)
				for _, n := range counts {
					require.Equal(r, friends, n)
				}
			}
		}
		counts, err := likes.FriendCounts(context.Background(), viewer, []social.FeedID{probedFeed})
		require.NoError(r, err)
		require.Equal(r, friends, counts[probedFeed])
		if w.likes.whole() && w.friends.whole() && len(w.blocked) == 0 {
			require.Zero(r, w.asked, "whole windows answer alone")
		}
	})
}
