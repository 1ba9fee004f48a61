package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// follow is what a follow does, without events: it makes the edge id from player to peer and counts it.
func follow(ctx context.Context, tx *sqlstore.Tx, player, peer social.PlayerID, id social.EdgeID) error {
	edge, err := tx.LockPair(ctx, player, peer)
	if err != nil || edge.Following != 0 {
		return err
	}
	edge.Following = id
	mine, theirs := social.PlayerCounts{Following: 1}, social.PlayerCounts{Fans: 1}
	if edge.Fan != 0 {
		edge.Friend = id
		mine.Friends, theirs.Friends = 1, 1
	}
	if err := tx.SavePair(ctx, edge); err != nil {
		return err
	}
	count := func(id social.PlayerID, delta social.PlayerCounts) error {
		_, err := tx.AddCounts(ctx, id, delta, int64(edge.Following))
		return err
	}
	if player < peer {
		if err := count(player, mine); err != nil {
			return err
		}
		return count(peer, theirs)
	}
	if err := count(peer, theirs); err != nil {
		return err
	}
	return count(player, mine)
}

func (f fixture) counts(id social.PlayerID) social.PlayerCounts {
	f.t.Helper()
	details, err := f.Details().Load(f.t.Context(), []social.PlayerID{id})
	require.NoError(f.t, err)
	require.NotNil(f.t, details[id])
	return details[id].PlayerCounts
}

func TestPairsAreMirrored(t *testing.T) {
	for _, c := range []struct {
		name         string
		player, peer social.PlayerID
	}{{"player before peer", 3, 7}, {"peer before player", 7, 3}} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(f fixture) {
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
					edge, err := tx.LockPair(ctx, c.player, c.peer)
					require.NoError(f.t, err)
					require.Equal(f.t, social.Edge{Player: c.player, Peer: c.peer}, edge)
					edge.Following, edge.Fan, edge.Friend = 11, 12, 12
					return tx.SavePair(ctx, edge)
				})
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
					edge, err := tx.LockPair(ctx, c.peer, c.player)
					require.NoError(f.t, err)
					require.Equal(f.t, social.Edge{Player: c.peer, Peer: c.player, Following: 12, Fan: 11, Friend: 12}, edge)
					edge.Following, edge.Friend = 0, 0
					return tx.SavePair(ctx, edge)
				})
				found, err := f.Relations(f.t.Context(), c.player, []social.PlayerID{c.peer, 99})
				require.NoError(f.t, err)
				require.Equal(f.t, map[social.PlayerID]social.Relation{c.peer: {Following: true}}, found)
				found, err = f.Relations(f.t.Context(), c.peer, []social.PlayerID{c.player})
				require.NoError(f.t, err)
				require.Equal(f.t, map[social.PlayerID]social.Relation{c.player: {Fan: true}}, found)
			})
		})
	}
}

func TestManyFollowOneAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		const callers, star = 64, 40
		ids := make([]social.PlayerID, callers+1)
		for i := range ids {
			ids[i] = social.PlayerID(i + 1)
		}
		f.players(ids...)
		f.parallel(callers, func(ctx context.Context, i int) (bool, error) {
			player := ids[i]
			if player >= star {
				player++
			}
			return true, f.InTx(ctx, func(tx *sqlstore.Tx) error { return follow(ctx, tx, player, star, social.EdgeID(100+i)) })
		})
		require.Equal(f.t, social.PlayerCounts{Fans: callers}, f.counts(star))
		require.Equal(f.t, social.PlayerCounts{Following: 1}, f.counts(1))
		lists, err := f.PlayerLists(f.t.Context(), social.ListFans, 0, []social.ListAsk[social.PlayerID]{{Of: star, Below: social.MaxID, Limit: 100}})
		require.NoError(f.t, err)
		require.Len(f.t, lists[0], callers)
	})
}

func TestTwoFollowEachOtherAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		const rounds = 200
		f.players(1)
		for i := range rounds {
			peer := social.PlayerID(i + 2)
			f.players(peer)
			f.parallel(2, func(ctx context.Context, side int) (bool, error) {
				a, b := social.PlayerID(1), peer
				if side == 1 {
					a, b = b, a
				}
				return true, f.InTx(ctx, func(tx *sqlstore.Tx) error { return follow(ctx, tx, a, b, social.EdgeID(1000+2*i+side)) })
			})
			require.Equal(f.t, social.PlayerCounts{Fans: 1, Following: 1, Friends: 1}, f.counts(peer))
		}
		require.Equal(f.t, social.PlayerCounts{Fans: rounds, Following: rounds, Friends: rounds}, f.counts(1))
	})
}

func TestPlayerLists(t *testing.T) {
	each(t, func(f fixture) {
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			// Player 1 follows 2 to 41; the even ones follow back. Player 50 follows 1 alone.
			for i := social.PlayerID(2); i <= 41; i++ {
				edge := social.Edge{Player: 1, Peer: i, Following: social.EdgeID(1000 + i)}
				if i%2 == 0 {
					edge.Fan = social.EdgeID(2000 - i)
					edge.Friend = max(edge.Fan, edge.Following)
				}
				if err := tx.SavePair(ctx, edge); err != nil {
					return err
				}
			}
			return tx.SavePair(ctx, social.Edge{Player: 50, Peer: 1, Following: 3000})
		})
		ask := func(of social.PlayerID, below int64, limit int) social.ListAsk[social.PlayerID] {
			return social.ListAsk[social.PlayerID]{Of: of, Below: below, Limit: limit}
		}
		const top = social.MaxID + 1
		for _, c := range []struct {
			name string
			list social.RelationList
			asks []social.ListAsk[social.PlayerID]
			want [][]social.PlayerEdge
		}{
			{"none asked", social.ListFans, nil, [][]social.PlayerEdge{}},
			{"the newest first", social.ListFollowing, []social.ListAsk[social.PlayerID]{ask(1, top, 2)},
				[][]social.PlayerEdge{{{Player: 41, Edge: 1041}, {Player: 40, Edge: 1040}}}},
			{"below a key", social.ListFollowing, []social.ListAsk[social.PlayerID]{ask(1, 1003, 5)},
				[][]social.PlayerEdge{{{Player: 2, Edge: 1002}}}},
			{"fans by their own edge", social.ListFans, []social.ListAsk[social.PlayerID]{ask(1, top, 3)},
				[][]social.PlayerEdge{{{Player: 50, Edge: 3000}, {Player: 2, Edge: 1998}, {Player: 4, Edge: 1996}}}},
			{"friends only", social.ListFriends, []social.ListAsk[social.PlayerID]{ask(1, 1997, 1), ask(3, top, 9)},
				[][]social.PlayerEdge{{{Player: 4, Edge: 1996}}, {}}},
			{"limit 0 and below", social.ListFriends, []social.ListAsk[social.PlayerID]{ask(1, top, 0), ask(1, top, -1)},
				[][]social.PlayerEdge{{}, {}}},
			{"several in the order asked", social.ListFollowing, []social.ListAsk[social.PlayerID]{ask(50, top, 3), ask(9, top, 3), ask(4, top, 3)},
				[][]social.PlayerEdge{{{Player: 1, Edge: 3000}}, {}, {{Player: 1, Edge: 1996}}}},
		} {
			f.t.Run(c.name, func(t *testing.T) {
				lists, err := f.PlayerLists(t.Context(), c.list, 0, c.asks)
				require.NoError(t, err)
				require.Equal(t, c.want, lists)
			})
		}
	})
}

func TestListsOfManyTakeFewTrips(t *testing.T) {
	for _, c := range []struct {
		name  string
		lists int
		trips int64
	}{{"one", 1, 1}, {"a page", 30, 1}, {"the most of one trip", 128, 1}, {"one more", 129, 2}} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(f fixture) {
				asks := make([]social.ListAsk[social.PlayerID], c.lists)
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
					for i := range asks {
						player := social.PlayerID(i + 1)
						asks[i] = social.ListAsk[social.PlayerID]{Of: player, Below: social.MaxID, Limit: 3}
						if err := tx.SavePair(ctx, social.Edge{Player: player, Peer: player + 1000, Following: social.EdgeID(player)}); err != nil {
							return err
						}
					}
					return nil
				})
				before := f.statements.Load()
				lists, err := f.PlayerLists(f.t.Context(), social.ListFollowing, 0, asks)
				require.NoError(f.t, err)
				require.Equal(f.t, c.trips, f.statements.Load()-before)
				for i, list := range lists {
					require.Equal(f.t, []social.PlayerEdge{{Player: social.PlayerID(i + 1001), Edge: social.EdgeID(i + 1)}}, list)
				}
			})
		})
	}
}

func TestRelationsOfMany(t *testing.T) {
	each(t, func(f fixture) {
		var peers []social.PlayerID
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for i := social.PlayerID(2); i < 302; i++ {
				peers = append(peers, i)
				if err := tx.SavePair(ctx, social.Edge{Player: i, Peer: 1, Following: social.EdgeID(i)}); err != nil {
					return err
				}
			}
			return nil
		})
		before := f.statements.Load()
		found, err := f.Relations(f.t.Context(), 1, peers)
		require.NoError(f.t, err)
		require.Len(f.t, found, 300)
		require.Equal(f.t, social.Relation{Fan: true}, found[301])
		require.Equal(f.t, int64(3), f.statements.Load()-before)
	})
}
