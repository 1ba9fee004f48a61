package sqlstore

import (
	"context"
	"fmt"

	"circle/internal/social"
)

// Likers reads a piece of the likers of several feeds, newest first, in the order asked, without those whom the
// viewer may not see. The anonymous viewer, 0, has no friends, and is kept from nobody.
func (s *Store) Likers(
	ctx context.Context, part social.LikerPart, viewer social.PlayerID, asks []social.ListAsk[social.FeedID],
) ([][]social.Like, error) {
	if viewer == 0 && part == social.FriendLikers {
		return make([][]social.Like, len(asks)), nil
	}
	q := likersQuery(part, viewer)
	terms := make([][]any, len(asks))
	for i, ask := range asks {
		switch {
		case part != social.AllLikers:
			terms[i] = []any{viewer, ask.Of, ask.Below, max(ask.Limit, 0)}
		case viewer != 0:
			terms[i] = []any{ask.Of, ask.Below, viewer, max(ask.Limit, 0)}
		default:
			terms[i] = []any{ask.Of, ask.Below, max(ask.Limit, 0)}
		}
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, fmt.Errorf("read likers: %w", err)
	}
	lists := make([][]social.Like, len(asks))
	for i, list := range found {
		lists[i] = make([]social.Like, len(list))
		for j, e := range list {
			key := social.LikeKey{Feed: asks[i].Of, Player: social.PlayerID(e.member)}
			friend := e.friend || part == social.FriendLikers
			lists[i][j] = social.Like{Key: key, Order: social.LikeID(e.place), Friend: friend}
		}
	}
	return lists, nil
}

// likersQuery leaves it to the server whether to begin with the likes of a feed or with the friends
// of the viewer; servers with statistics take the fewer. The edges of non-friends are looked up one
// by one, in the order of the likes, until the list is long enough.
func likersQuery(part social.LikerPart, viewer social.PlayerID) listQuery {
	join := ""
	switch part {
	case social.FriendLikers:
		join = " JOIN edges e ON e.player_id = ? AND e.peer_id = l.player_id AND e.friend_id > 0"
	case social.OtherLikers:
		join = " LEFT JOIN edges e ON e.player_id = ? AND e.peer_id = l.player_id"
	}
	where := " WHERE l.feed_id = ? AND l.liked = 1 AND l.like_id < ?"
	q := listQuery{}
	switch {
	case part == social.OtherLikers:
		where += " AND COALESCE(e.friend_id, 0) = 0 AND COALESCE(e.block_id, 0) = 0 AND COALESCE(e.blocked_id, 0) = 0"
	case part == social.AllLikers && viewer != 0:
		where += together("?", "l.player_id")
		q.viewer = int64(viewer)
	}
	q.term = "l.player_id AS member, l.like_id AS place FROM likes l" + join + where + " ORDER BY l.like_id DESC LIMIT ?"
	return q
}

// FriendLikeCounts tells how many of the viewer's friends like each of the feeds; feeds that none
// likes are absent.
func (s *Store) FriendLikeCounts(ctx context.Context, viewer social.PlayerID, feeds []social.FeedID) (map[social.FeedID]int, error) {
	counts := make(map[social.FeedID]int, len(feeds))
	if viewer == 0 {
		return counts, nil
	}
	// A term per feed, so that the server begins with the fewer for each of them.
	q := listQuery{term: "COUNT(*) AS member, 0 AS place FROM likes l" +
		" JOIN edges e ON e.player_id = ? AND e.peer_id = l.player_id AND e.friend_id > 0" +
		" WHERE l.feed_id = ? AND l.liked = 1 LIMIT ?"}
	terms := make([][]any, len(feeds))
	for i, id := range feeds {
		terms[i] = []any{viewer, id, 1}
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, fmt.Errorf("count friends' likes: %w", err)
	}
	for i, list := range found {
		if len(list) > 0 && list[0].member > 0 {
			counts[feeds[i]] = int(list[0].member)
		}
	}
	return counts, nil
}

// LikedFeeds lists a player's likes of feeds that the player may see, newest like first.
func (s *Store) LikedFeeds(ctx context.Context, viewer social.Viewer, below int64, limit int) ([]social.Like, error) {
	const sql = "SELECT l.feed_id, l.like_id FROM likes l JOIN feeds f ON f.id = l.feed_id" +
		" LEFT JOIN edges e ON e.player_id = l.player_id AND e.peer_id = f.author_id" +
		" WHERE l.player_id = ? AND l.liked = 1 AND l.like_id < ? AND f.deleted = 0 AND (f.author_id = l.player_id OR" +
		" f.hidden <= ? AND COALESCE(e.block_id, 0) = 0 AND COALESCE(e.blocked_id, 0) = 0 AND (f.visibility = 1 OR" +
		" f.visibility = 2 AND e.following_id > 0 OR f.visibility = 3 AND e.friend_id > 0))" +
		" ORDER BY l.like_id DESC LIMIT ?"
	var likes []social.Like
	err := query(s.reader(ctx), sql, []any{viewer.Player, below, viewer.SeesHidden(), limit}, func(scan scanner) error {
		like := social.Like{Key: social.LikeKey{Player: viewer.Player}}
		err := scan(&like.Key.Feed, &like.Order)
		likes = append(likes, like)
		return err
	})
	return likes, wrap(err, "read liked feeds")
}
