package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"circle/internal/social"
)

// HomeFeeds lists the feeds on a player's home page, newest first: the player's own and those of
// followed players that the player may see and has not muted, without deleted ones.
//
// It takes two trips for pages below 100. A page of n feeds can only hold feeds of the n followed
// authors whose newest feeds are the newest, and nothing older than the n-th of these. So the first
// statement looks at one index entry per followed author, and the second at the newest entries of
// those few.
func (s *Store) HomeFeeds(ctx context.Context, viewer social.Viewer, below int64, limit int) ([]social.FeedID, error) {
	return s.homeFeeds(ctx, homeRule{viewer: viewer.Player, widest: social.Fans, hidden: viewer.SeesHidden()}, below, limit)
}

// TimelineFeeds lists what belongs into a player's timeline, newest first: the player's own feeds, and
// all but the private ones of followed players, since what may not be seen now may be seen later: friendships
// are made, muting and hiding end. Deleted ones are left out.
func (s *Store) TimelineFeeds(ctx context.Context, viewer social.PlayerID, below int64, limit int) ([]social.FeedID, error) {
	return s.homeFeeds(ctx, homeRule{viewer: viewer, widest: social.Friends, muted: true, hidden: true}, below, limit)
}

// homeRule chooses among the feeds of followed players: those up to the visibility widest, of friends up to
// FRIENDS, and of muted players and hidden ones only where it says so.
type homeRule struct {
	viewer        social.PlayerID
	widest        social.Visibility
	muted, hidden bool
}

func (s *Store) homeFeeds(ctx context.Context, rule homeRule, below int64, limit int) ([]social.FeedID, error) {
	if limit <= 0 {
		return nil, nil
	}
	authors, err := s.homeAuthors(ctx, rule, below, limit)
	if err != nil {
		return nil, fmt.Errorf("read home feeds: %w", err)
	}
	h := home{store: s, below: below, limit: limit}
	if len(authors) == limit {
		h.floor = authors[limit-1].newest
	}
	authors = slices.Insert(authors, 0, homeAuthor{id: rule.viewer, widest: social.Private, hidden: true, newest: social.MaxID})
	for piece := range slices.Chunk(authors, listPaddings[len(listPaddings)-1]) {
		if piece[0].newest < h.floor {
			break
		}
		if err := h.merge(ctx, piece); err != nil {
			return nil, fmt.Errorf("read home feeds: %w", err)
		}
	}
	return h.page, nil
}

// homeAuthor is an author whose feeds may be on a home page.
type homeAuthor struct {
	id social.PlayerID
	// widest is the last visibility that the viewer may see; each includes those before it.
	widest social.Visibility
	hidden bool
	newest int64
}

// homeAuthors are the followed authors whose newest visible feeds are the newest, those first.
func (s *Store) homeAuthors(ctx context.Context, rule homeRule, below int64, limit int) ([]homeAuthor, error) {
	const sql = "SELECT e.peer_id, CASE WHEN e.friend_id > 0 THEN 3 ELSE ? END AS widest," +
		" (SELECT f.id FROM feeds f WHERE f.author_id = e.peer_id AND f.id < ? AND f.deleted = 0" +
		" AND f.hidden <= ? AND f.visibility <= CASE WHEN e.friend_id > 0 THEN 3 ELSE ? END ORDER BY f.id DESC LIMIT 1) AS newest" +
		" FROM edges e WHERE e.player_id = ? AND e.following_id > 0 AND (e.mute_id = 0 OR ?) ORDER BY newest DESC LIMIT ?"
	var authors []homeAuthor
	args := []any{rule.widest, below, rule.hidden, rule.widest, rule.viewer, rule.muted, limit}
	err := query(s.reader(ctx), sql, args, func(scan scanner) error {
		author := homeAuthor{hidden: rule.hidden}
		var newest *int64
		err := scan(&author.id, &author.widest, &newest)
		if newest != nil {
			author.newest = *newest
			authors = append(authors, author)
		}
		return err
	})
	return authors, err
}

// home is a home page while it is put together.
type home struct {
	store        *Store
	below, floor int64
	limit        int
	page         []social.FeedID
}

// merge puts the feeds of some authors onto the page. A full page raises the floor.
func (h *home) merge(ctx context.Context, authors []homeAuthor) error {
	q := listQuery{
		term: "id AS member, id AS place FROM feeds WHERE author_id = ? AND id >= ? AND id < ? AND deleted = 0" +
			" AND hidden <= ? AND visibility <= ? ORDER BY id DESC LIMIT ?",
		limit: h.limit,
	}
	terms := make([][]any, len(authors))
	for i, a := range authors {
		terms[i] = []any{a.id, h.floor, h.below, a.hidden, a.widest, h.limit}
	}
	lists, err := q.read(ctx, h.store, terms)
	if err != nil {
		return err
	}
	for _, list := range convertLists(lists, func(e listEntry) social.FeedID { return social.FeedID(e.place) }) {
		h.page = append(h.page, list...)
	}
	slices.SortFunc(h.page, func(a, b social.FeedID) int { return cmp.Compare(b, a) })
	if len(h.page) >= h.limit {
		h.page = h.page[:h.limit]
		h.floor = max(h.floor, int64(h.page[h.limit-1]))
	}
	return nil
}
