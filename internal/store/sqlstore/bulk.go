package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"circle/internal/social"
	"circle/internal/store/compress"
)

// bulkRows is how many rows one INSERT of a batch has at most: their parameters stay below SQLite's
// 32,766, their bytes far below MySQL's packet.
const bulkRows = 1000

// WriteBatch writes all of the batch in one transaction. With a step it does so only if the import
// still is where the step begins. Afterwards it leaves time for others to write, where only one can.
//
// A name that somebody took meanwhile is NAME_TAKEN.
func (s *Store) WriteBatch(ctx context.Context, b *social.Batch) error {
	began := s.now()
	if err := s.InTx(ctx, func(tx *Tx) error { return tx.writeBatch(ctx, b) }); err != nil {
		return wrap(err, "write a batch")
	}
	pause := time.NewTimer(s.dialect.bulkPause(s.now().Sub(began)))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	return nil
}

// bulkPause is nothing: a MySQL server takes many writers at once.
func (mysqlDialect) bulkPause(time.Duration) time.Duration { return 0 }

// bulkPause is a part of the time for which the one lock was held: those who wait for it only ask
// for it now and then.
func (sqliteDialect) bulkPause(wrote time.Duration) time.Duration {
	return max(wrote/6, time.Millisecond)
}

func (tx *Tx) writeBatch(ctx context.Context, b *social.Batch) error {
	if b.Step != nil {
		// First, so that a second import of the same waits here and then finds that it is late.
		if err := tx.takeStep(ctx, *b.Step); err != nil {
			return err
		}
	}
	for _, write := range []func(context.Context, *social.Batch) error{
		tx.bulkEdges, tx.bulkLikes, tx.bulkFeeds, tx.bulkBodies, tx.bulkPlayers, tx.bulkExternalIDs,
	} {
		if err := write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) bulkEdges(ctx context.Context, b *social.Batch) error {
	return bulkInsert(ctx, tx, "edges (player_id, peer_id, following_id, fan_id, friend_id)", b.Edges, func(e *social.Edge) []any {
		return []any{e.Player, e.Peer, e.Following, e.Fan, e.Friend}
	})
}

func (tx *Tx) bulkLikes(ctx context.Context, b *social.Batch) error {
	return bulkInsert(ctx, tx, "likes (feed_id, player_id, like_id, liked)", b.Likes, func(l *social.Like) []any {
		return []any{l.Key.Feed, l.Key.Player, l.Order, true}
	})
}

func (tx *Tx) bulkFeeds(ctx context.Context, b *social.Batch) error {
	err := bulkInsert(ctx, tx, "feed_counts (feed_id, author_id, visibility, deleted, likes, comments, views, version)", b.Feeds,
		func(f *social.BulkFeed) []any {
			return []any{f.ID, f.AuthorID, f.Visibility, false, f.Likes, 0, 0, f.Version}
		})
	if err != nil {
		return err
	}
	return bulkInsert(ctx, tx, "feeds (id, author_id, visibility, deleted, excerpt, whole, version)", b.Feeds,
		func(f *social.BulkFeed) []any {
			return []any{f.ID, f.AuthorID, f.Visibility, false, f.Excerpt, f.Whole, f.Version}
		})
}

func (tx *Tx) bulkBodies(ctx context.Context, b *social.Batch) error {
	var long []*social.BulkFeed
	for i := range b.Feeds {
		if f := &b.Feeds[i]; !f.Whole {
			long = append(long, f)
		}
	}
	return bulkInsert(ctx, tx, "feed_bodies (feed_id, codec, content, version)", long, func(f **social.BulkFeed) []any {
		codec, content := compress.Text((*f).Content)
		return []any{(*f).ID, codec, content, (*f).Version}
	})
}

func (tx *Tx) bulkPlayers(ctx context.Context, b *social.Batch) error {
	err := bulkInsert(ctx, tx, "player_counts (player_id, feeds, fans, following, friends, version)", b.Players,
		func(p *social.BulkPlayer) []any {
			return []any{p.ID, p.Counts.Feeds, p.Counts.Fans, p.Counts.Following, p.Counts.Friends, p.Version}
		})
	if err != nil {
		return err
	}
	err = bulkInsert(ctx, tx, "players (id, name, name_key, level, bio, role, suspended, joined_at, version)", b.Players,
		func(p *social.BulkPlayer) []any {
			return []any{p.ID, p.Name, p.NameKey, 1, "", social.RolePlayer, false, milliseconds(&p.JoinedAt), p.Version}
		})
	if isDuplicate(err) {
		return &social.Error{Code: social.CodeNameTaken, Message: "Somebody has one of these names.", Err: err}
	}
	return err
}

func (tx *Tx) bulkExternalIDs(ctx context.Context, b *social.Batch) error {
	return bulkInsert(ctx, tx, "external_ids (kind, external_id, id)", b.External, func(e *social.ExternalID) []any {
		return []any{e.Kind, e.External, e.ID}
	})
}

// bulkInsert inserts rows into a table, which is named with its columns.
func bulkInsert[T any](ctx context.Context, tx *Tx, table string, rows []T, values func(row *T) []any) error {
	row := "(?" + strings.Repeat(",?", strings.Count(table, ",")) + ")"
	for len(rows) > 0 {
		n := min(len(rows), bulkRows)
		var args []any
		for i := range rows[:n] {
			args = append(args, values(&rows[i])...)
		}
		sql := "INSERT INTO " + table + " VALUES " + row + strings.Repeat(","+row, n-1)
		if err := tx.with(ctx).Exec(sql, args...).Error; err != nil {
			return fmt.Errorf("insert into %s: %w", table, err)
		}
		rows = rows[n:]
	}
	return nil
}
