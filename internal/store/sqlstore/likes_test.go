package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// like is what a like does, without its event; false when it stands already.
func (f fixture) like(ctx context.Context, feed social.FeedID, player social.PlayerID, order social.LikeID) (fresh bool, err error) {
	err = f.InTx(ctx, func(tx *sqlstore.Tx) error {
		fresh, err = tx.PutLike(ctx, social.LikeKey{Feed: feed, Player: player}, order)
		if err != nil || !fresh {
			return err
		}
		_, err = tx.AddLikes(ctx, feed, 1, int64(order))
		return err
	})
	return fresh, err
}

func (f fixture) unlike(ctx context.Context, feed social.FeedID, player social.PlayerID, version int64) (was bool, err error) {
	err = f.InTx(ctx, func(tx *sqlstore.Tx) error {
		was, err = tx.RemoveLike(ctx, social.LikeKey{Feed: feed, Player: player})
		if err != nil || !was {
			return err
		}
		_, err = tx.AddLikes(ctx, feed, -1, version)
		return err
	})
	return was, err
}

func TestLikeAndUnlike(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		f.feed(10, 3, social.Public)
		key := social.LikeKey{Feed: 10, Player: 5}
		for _, step := range []struct {
			name  string
			do    func() (bool, error)
			did   bool
			likes int
			order social.LikeID
		}{
			{"unlike what was never liked", func() (bool, error) { return f.unlike(ctx, 10, 5, 20) }, false, 0, 0},
			{"like", func() (bool, error) { return f.like(ctx, 10, 5, 21) }, true, 1, 21},
			{"like again", func() (bool, error) { return f.like(ctx, 10, 5, 22) }, false, 1, 21},
			{"unlike", func() (bool, error) { return f.unlike(ctx, 10, 5, 23) }, true, 0, 0},
			{"unlike again", func() (bool, error) { return f.unlike(ctx, 10, 5, 24) }, false, 0, 0},
			{"like once more", func() (bool, error) { return f.like(ctx, 10, 5, 25) }, true, 1, 25},
		} {
			did, err := step.do()
			require.NoError(f.t, err, step.name)
			require.Equal(f.t, step.did, did, step.name)
			_, _, counters := f.stored(10)
			require.Equal(f.t, step.likes, counters.Likes, step.name)
			liked, err := f.Liked(ctx, 5, []social.FeedID{10, 11})
			require.NoError(f.t, err)
			likes, err := f.LikesByKeys(ctx, []social.LikeKey{key, {Feed: 10, Player: 6}})
			require.NoError(f.t, err)
			if step.order == 0 {
				require.Empty(f.t, liked, step.name)
				require.Empty(f.t, likes, step.name)
			} else {
				require.Equal(f.t, map[social.FeedID]bool{10: true}, liked, step.name)
				require.Equal(f.t, map[social.LikeKey]social.LikeID{key: step.order}, likes, step.name)
			}
		}
	})
}

func TestAddLikes(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(10, 3, social.Friends)
		f.feed(20, 3, social.Public)
		f.deleteFeed(20, 30)
		for _, c := range []struct {
			name    string
			feed    social.FeedID
			version int64
			want    *social.FeedCounters
		}{
			{"a feed", 10, 50, &social.FeedCounters{FeedID: 10, AuthorID: 3, Visibility: social.Friends, Likes: 2, Version: 50}},
			{"an older version", 10, 40, &social.FeedCounters{FeedID: 10, AuthorID: 3, Visibility: social.Friends, Likes: 4, Version: 51}},
			{"a deleted feed", 20, 50, nil},
			{"an unknown feed", 99, 50, nil},
		} {
			f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
				counters, err := tx.AddLikes(ctx, c.feed, 2, c.version)
				require.Equal(f.t, c.want, counters, c.name)
				return err
			})
		}
	})
}

func TestOneLikesOneFeedManyTimesAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(10, 3, social.Public)
		for round := range social.LikeID(3) {
			done := f.parallel(200, func(ctx context.Context, i int) (bool, error) {
				return f.like(ctx, 10, 5, 100+1000*round+social.LikeID(i))
			})
			require.Equal(f.t, 1, done)
			_, _, counters := f.stored(10)
			require.Equal(f.t, 1, counters.Likes)
			done = f.parallel(100, func(ctx context.Context, i int) (bool, error) {
				return f.unlike(ctx, 10, 5, int64(500+1000*int(round)+i))
			})
			require.Equal(f.t, 1, done)
		}
		_, _, counters := f.stored(10)
		require.Zero(f.t, counters.Likes)
	})
}

func TestManyLikeOneFeedAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(10, 3, social.Public)
		done := f.parallel(200, func(ctx context.Context, i int) (bool, error) {
			return f.like(ctx, 10, social.PlayerID(i+1), social.LikeID(100+i))
		})
		require.Equal(f.t, 200, done)
		_, _, counters := f.stored(10)
		require.Equal(f.t, 200, counters.Likes)
	})
}

func TestLikesOfMany(t *testing.T) {
	each(t, func(f fixture) {
		keys := make([]social.LikeKey, 150)
		feeds := make([]social.FeedID, len(keys))
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for i := range keys {
				feeds[i] = social.FeedID(i + 1)
				keys[i] = social.LikeKey{Feed: feeds[i], Player: 7}
				if _, err := tx.PutLike(ctx, keys[i], social.LikeID(1000+i)); err != nil {
					return err
				}
			}
			return nil
		})
		liked, err := f.Liked(f.t.Context(), 7, feeds)
		require.NoError(f.t, err)
		require.Len(f.t, liked, len(feeds))
		likes, err := f.LikesByKeys(f.t.Context(), keys)
		require.NoError(f.t, err)
		require.Len(f.t, likes, len(keys))
		require.Equal(f.t, social.LikeID(1149), likes[keys[149]])
	})
}

func TestLikers(t *testing.T) {
	each(t, func(f fixture) {
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			// Player 1: 2 and 4 are friends, 3 is followed, 5 a fan; 6 is a stranger. Their likes of
			// feed 10 are in the order of their ids; 4 has taken his back and 2 likes feed 20 too.
			for _, edge := range []social.Edge{
				{Player: 1, Peer: 2, Following: 11, Fan: 12, Friend: 12}, {Player: 1, Peer: 4, Following: 13, Fan: 14, Friend: 14},
				{Player: 1, Peer: 3, Following: 15}, {Player: 1, Peer: 5, Fan: 16}, {Player: 1, Peer: 7, Following: 17, Fan: 18, Friend: 18},
			} {
				if err := tx.SavePair(ctx, edge); err != nil {
					return err
				}
			}
			for player := social.PlayerID(1); player <= 7; player++ {
				if _, err := tx.PutLike(ctx, social.LikeKey{Feed: 10, Player: player}, social.LikeID(100+player)); err != nil {
					return err
				}
			}
			if _, err := tx.RemoveLike(ctx, social.LikeKey{Feed: 10, Player: 4}); err != nil {
				return err
			}
			_, err := tx.PutLike(ctx, social.LikeKey{Feed: 20, Player: 2}, 200)
			return err
		})
		const top = social.MaxID + 1
		of := func(feed social.FeedID, below int64, limit int) social.ListAsk[social.FeedID] {
			return social.ListAsk[social.FeedID]{Of: feed, Below: below, Limit: limit}
		}
		like := func(feed social.FeedID, player social.PlayerID, order social.LikeID, friend bool) social.Like {
			return social.Like{Key: social.LikeKey{Feed: feed, Player: player}, Order: order, Friend: friend}
		}
		for _, c := range []struct {
			name   string
			part   social.LikerPart
			viewer social.PlayerID
			asks   []social.ListAsk[social.FeedID]
			want   [][]social.Like
		}{
			{"all", social.AllLikers, 1, []social.ListAsk[social.FeedID]{of(10, top, 9)}, [][]social.Like{{
				like(10, 7, 107, true), like(10, 6, 106, false), like(10, 5, 105, false), like(10, 3, 103, false),
				like(10, 2, 102, true), like(10, 1, 101, false)}}},
			{"all for nobody", social.AllLikers, 0, []social.ListAsk[social.FeedID]{of(10, top, 2)}, [][]social.Like{{
				like(10, 7, 107, false), like(10, 6, 106, false)}}},
			{"friends of several feeds", social.FriendLikers, 1, []social.ListAsk[social.FeedID]{of(20, top, 9), of(30, top, 9), of(10, top, 9)},
				[][]social.Like{{like(20, 2, 200, true)}, {}, {like(10, 7, 107, true), like(10, 2, 102, true)}}},
			{"friends below", social.FriendLikers, 1, []social.ListAsk[social.FeedID]{of(10, 107, 9)}, [][]social.Like{{like(10, 2, 102, true)}}},
			{"friends of nobody", social.FriendLikers, 0, []social.ListAsk[social.FeedID]{of(10, top, 9)}, [][]social.Like{nil}},
			{"others", social.OtherLikers, 1, []social.ListAsk[social.FeedID]{of(10, top, 2), of(10, 105, 9)}, [][]social.Like{
				{like(10, 6, 106, false), like(10, 5, 105, false)}, {like(10, 3, 103, false), like(10, 1, 101, false)}}},
			{"others for nobody", social.OtherLikers, 0, []social.ListAsk[social.FeedID]{of(10, top, 1)}, [][]social.Like{{like(10, 7, 107, false)}}},
		} {
			f.t.Run(c.name, func(t *testing.T) {
				before := f.statements.Load()
				lists, err := f.Likers(t.Context(), c.part, c.viewer, c.asks)
				require.NoError(t, err)
				require.Equal(t, c.want, lists)
				require.LessOrEqual(t, f.statements.Load()-before, int64(1))
			})
		}
		counts, err := f.FriendLikeCounts(f.t.Context(), 1, []social.FeedID{10, 20, 30})
		require.NoError(f.t, err)
		require.Equal(f.t, map[social.FeedID]int{10: 2, 20: 1}, counts)
		counts, err = f.FriendLikeCounts(f.t.Context(), 0, []social.FeedID{10})
		require.NoError(f.t, err)
		require.Empty(f.t, counts)
	})
}
