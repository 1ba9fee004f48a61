package sqlstore

import (
	"context"
	"fmt"

	"gorm.io/gorm/clause"

	"circle/internal/social"
	"circle/internal/store/compress"
)

// InsertFeed writes head, counters and, unless the head is whole, the body. When the id is taken
// the error is social.ErrIDTaken.
func (tx *Tx) InsertFeed(ctx context.Context, feed social.Feed, content string) error {
	row := newFeedRow(feed)
	if err := tx.with(ctx).Create(&row).Error; err != nil {
		if isDuplicate(err) {
			err = fmt.Errorf("%w: %w", social.ErrIDTaken, err)
		}
		return fmt.Errorf("insert a feed: %w", err)
	}
	counts := feedCountsRow{FeedID: feed.ID, AuthorID: feed.AuthorID, Visibility: feed.Visibility, Hidden: feed.Hidden, Version: feed.Version}
	if err := tx.with(ctx).Create(&counts).Error; err != nil {
		return fmt.Errorf("insert a feed's counters: %w", err)
	}
	if feed.Whole {
		return nil
	}
	return tx.putBody(ctx, feed, content)
}

func (tx *Tx) putBody(ctx context.Context, feed social.Feed, content string) error {
	body := feedBodyRow{FeedID: feed.ID, Version: feed.Version}
	body.Codec, body.Content = compress.Text(content)
	replace := clause.OnConflict{
		Columns:   []clause.Column{{Name: "feed_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"codec", "content", "version"}),
	}
	if err := tx.with(ctx).Clauses(replace).Create(&body).Error; err != nil {
		return fmt.Errorf("write a feed's body: %w", err)
	}
	return nil
}

func (tx *Tx) dropBody(ctx context.Context, id social.FeedID) error {
	if err := tx.with(ctx).Exec("DELETE FROM feed_bodies WHERE feed_id = ?", id).Error; err != nil {
		return fmt.Errorf("remove a feed's body: %w", err)
	}
	return nil
}

// LockFeed reads a feed's head and locks its row; nil when there is none.
func (tx *Tx) LockFeed(ctx context.Context, id social.FeedID) (*social.Feed, error) {
	var rows []feedRow
	if err := tx.with(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("lock a feed: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return rows[0].feed(), nil
}

// SaveText writes a locked feed's excerpt, wholeness, time of edit, version and body.
func (tx *Tx) SaveText(ctx context.Context, feed social.Feed, content string) error {
	row := newFeedRow(feed)
	set := tx.with(ctx).Model(&row).Select("excerpt", "whole", "edited_at", "version").Updates(row)
	if set.Error != nil {
		return fmt.Errorf("save a feed's text: %w", set.Error)
	}
	if feed.Whole {
		return tx.dropBody(ctx, feed.ID)
	}
	return tx.putBody(ctx, feed, content)
}

// SetHidden hides a locked feed and its counters, or shows them again. Both versions are lifted at least to
// version.
func (tx *Tx) SetHidden(ctx context.Context, id social.FeedID, hidden bool, version int64) error {
	for _, sql := range []string{
		"UPDATE feeds SET hidden = ?, version = ? WHERE id = ?", "UPDATE feed_counts SET hidden = ?, version = ? WHERE feed_id = ?",
	} {
		if err := tx.with(ctx).Exec(sql, hidden, lifted(version), id).Error; err != nil {
			return fmt.Errorf("hide a feed: %w", err)
		}
	}
	return nil
}

// MarkDeleted makes a locked feed and its counters tombstones and removes its body. Both versions
// are lifted at least to version.
func (tx *Tx) MarkDeleted(ctx context.Context, id social.FeedID, version int64) error {
	const head = "UPDATE feeds SET deleted = 1, excerpt = '', whole = 1, version = ? WHERE id = ?"
	if err := tx.with(ctx).Exec(head, lifted(version), id).Error; err != nil {
		return fmt.Errorf("delete a feed: %w", err)
	}
	const counts = "UPDATE feed_counts SET deleted = 1, version = ? WHERE feed_id = ?"
	if err := tx.with(ctx).Exec(counts, lifted(version), id).Error; err != nil {
		return fmt.Errorf("delete a feed's counters: %w", err)
	}
	return tx.dropBody(ctx, id)
}

// AuthorFeeds reads a piece of several profile lists, newest first, in the order asked, without
// deleted feeds.
func (s *Store) AuthorFeeds(ctx context.Context, asks []social.AuthorFeedsAsk) ([][]social.FeedID, error) {
	q := listQuery{term: "id AS member, id AS place FROM feeds WHERE author_id = ? AND id < ? AND deleted = 0" +
		" AND hidden <= ? AND visibility IN (?, ?, ?, ?) ORDER BY id DESC LIMIT ?"}
	terms := make([][]any, len(asks))
	for i, ask := range asks {
		// There are four visibilities; 0 is none of them.
		var wanted [4]social.Visibility
		copy(wanted[:], ask.Visibilities)
		terms[i] = []any{ask.Of, ask.Below, ask.Hidden, wanted[0], wanted[1], wanted[2], wanted[3], max(ask.Limit, 0)}
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, fmt.Errorf("read authors' feeds: %w", err)
	}
	return convertLists(found, func(e listEntry) social.FeedID { return social.FeedID(e.member) }), nil
}
