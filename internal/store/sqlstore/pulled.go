package sqlstore

import (
	"context"
	"fmt"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// pulledRow notes from which feed on an author is pulled.
type pulledRow struct {
	AuthorID    social.PlayerID `gorm:"column:author_id;primaryKey;autoIncrement:false"`
	FirstFeedID social.FeedID   `gorm:"column:first_feed_id"`
}

// TableName names the row's table.
func (pulledRow) TableName() string { return "pulled_authors" }

// PulledFrom is the first feed of an author that is not pushed to fans, 0 where all are.
func (s *Store) PulledFrom(ctx context.Context, author social.PlayerID) (first social.FeedID, err error) {
	const sql = "SELECT first_feed_id FROM pulled_authors WHERE author_id = ?"
	err = query(s.reader(ctx), sql, []any{author}, func(scan scanner) error { return scan(&first) })
	return first, wrap(err, "read from where an author is pulled")
}

// PullAbove makes an author pulled from the feed on if he has more than limit fans. It tells from which
// feed on he is pulled then: another one if he was before, 0 where he is not.
func (s *Store) PullAbove(ctx context.Context, limit int, author social.PlayerID, feed social.FeedID) (first social.FeedID, err error) {
	if first, err = s.PulledFrom(ctx, author); err != nil || first != 0 {
		return first, err
	}
	var fans int
	const count = "SELECT fans FROM player_counts WHERE player_id = ?"
	err = query(s.reader(ctx), count, []any{author}, func(scan scanner) error { return scan(&fans) })
	if err != nil || fans <= limit {
		return 0, wrap(err, "read how many fans an author has")
	}
	err = s.InTx(ctx, func(tx *Tx) error {
		row := pulledRow{AuthorID: author, FirstFeedID: feed}
		return tx.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
	})
	if err != nil {
		return 0, fmt.Errorf("make an author pulled: %w", err)
	}
	return s.PulledFrom(ctx, author)
}

// PulledOf lists at most limit of the pulled authors whom a player follows.
func (s *Store) PulledOf(ctx context.Context, player social.PlayerID, limit int) ([]social.PlayerID, error) {
	var authors []social.PlayerID
	const sql = "SELECT p.author_id FROM edges e JOIN pulled_authors p ON p.author_id = e.peer_id" +
		" WHERE e.player_id = ? AND e.following_id > 0 LIMIT ?"
	err := query(s.reader(ctx), sql, []any{player, limit}, func(scan scanner) error {
		var author social.PlayerID
		err := scan(&author)
		authors = append(authors, author)
		return err
	})
	return authors, wrap(err, "read pulled authors")
}

// FeedsAbove reads the feeds of several authors above the key of each, in the order asked, newest first:
// none that are deleted or private.
func (s *Store) FeedsAbove(ctx context.Context, asks []social.AboveAsk) ([][]social.FeedID, error) {
	q := listQuery{term: "id AS member, id AS place FROM feeds WHERE author_id = ? AND id > ? AND deleted = 0" +
		" AND visibility < ? ORDER BY id DESC LIMIT ?"}
	terms := make([][]any, len(asks))
	for i, ask := range asks {
		terms[i] = []any{ask.ID, ask.Above, social.Private, ask.Limit}
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, fmt.Errorf("read feeds above a key: %w", err)
	}
	return convertLists(found, func(e listEntry) social.FeedID { return social.FeedID(e.member) }), nil
}
