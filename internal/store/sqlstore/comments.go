package sqlstore

import (
	"context"
	"fmt"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// InsertComment writes a comment. When the id is taken the error is social.ErrIDTaken.
func (tx *Tx) InsertComment(ctx context.Context, c social.Comment) error {
	row := newCommentRow(c)
	if err := tx.with(ctx).Create(&row).Error; err != nil {
		if isDuplicate(err) {
			err = fmt.Errorf("%w: %w", social.ErrIDTaken, err)
		}
		return fmt.Errorf("insert a comment: %w", err)
	}
	return nil
}

// LockComment reads a comment and locks its row; nil when there is none.
func (tx *Tx) LockComment(ctx context.Context, id social.CommentID) (*social.Comment, error) {
	var rows []commentRow
	if err := tx.with(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("lock a comment: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return rows[0].comment(), nil
}

// SaveComment writes what may change of a locked comment.
func (tx *Tx) SaveComment(ctx context.Context, c social.Comment) error {
	row := newCommentRow(c)
	set := tx.with(ctx).Model(&row).Select("author_id", "deleted", "listed", "replies", "content", "version").Updates(row)
	if set.Error != nil {
		return fmt.Errorf("save a comment: %w", set.Error)
	}
	return nil
}

// AddReply counts a new answer in the thread of a head and lifts the head's version at least to version.
// False when the head stands in no list or, with whole set, is deleted.
func (tx *Tx) AddReply(ctx context.Context, head social.CommentID, whole bool, version int64) (bool, error) {
	sql := "UPDATE comments SET replies = replies + 1, version = ? WHERE id = ? AND listed = 1"
	if whole {
		sql += " AND deleted = 0"
	}
	done := tx.with(ctx).Exec(sql, lifted(version), head)
	if done.Error != nil {
		return false, fmt.Errorf("count an answer: %w", done.Error)
	}
	return done.RowsAffected > 0, nil
}

// AddComments adds to a feed's counts of comments and of heads and lifts the version of its counters at
// least to version; false when the feed is unknown or deleted.
func (tx *Tx) AddComments(ctx context.Context, feed social.FeedID, comments, heads int, version int64) (bool, error) {
	const sql = "UPDATE feed_counts SET comments = comments + ?, heads = heads + ?, version = ? WHERE feed_id = ? AND deleted = 0"
	done := tx.with(ctx).Exec(sql, comments, heads, lifted(version), feed)
	if done.Error != nil {
		return false, fmt.Errorf("count comments: %w", done.Error)
	}
	return done.RowsAffected > 0, nil
}

// CommentLists reads a piece of several lists of comments, oldest first, in the order asked, without those of
// authors whom the viewer, unless he is 0, may not see.
func (s *Store) CommentLists(ctx context.Context, viewer social.PlayerID, asks []social.ThreadAsk) ([][]social.CommentID, error) {
	where := " WHERE c.feed_id = ? AND c.root_id = ? AND c.listed = 1 AND c.id > ?"
	if viewer != 0 {
		where += together("?", "c.author_id")
	}
	// Of the places, the largest of which come first, the oldest comment has the largest.
	q := listQuery{term: "c.id AS member, -c.id AS place FROM comments c" + where + " ORDER BY c.id LIMIT ?"}
	terms := make([][]any, len(asks))
	for i, ask := range asks {
		terms[i] = []any{ask.Feed, ask.Head, ask.After}
		if viewer != 0 {
			terms[i] = append(terms[i], viewer)
		}
		terms[i] = append(terms[i], max(ask.Limit, 0))
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	return convertLists(found, func(e listEntry) social.CommentID { return social.CommentID(e.member) }), nil
}
