package service

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"circle/internal/social"
	"circle/internal/text"
)

// NewFeed is what a feed is made of.
type NewFeed struct {
	Content    string
	Visibility social.Visibility
	// Key is the idempotency key, nil without one.
	Key *string
}

// Create posts a feed. Errors: REQUIRED and TOO_LONG at content, REQUIRED and TOO_LONG at
// idempotencyKey, IDEMPOTENCY_CONFLICT, and NOT_FOUND for a repeated request whose feed was deleted.
func (f *Feeds) Create(ctx context.Context, viewer social.Viewer, in NewFeed) (*social.Feed, error) {
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	if err := checkContent(in.Content); err != nil {
		return nil, err
	}
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return create(
		func() (*social.Feed, social.FeedID, error) { return f.insert(ctx, viewer.Player, in) },
		func(id social.FeedID) (*social.Feed, error) { return f.repeated(ctx, id) },
	)
}

// insert writes a feed, or tells which one an earlier request with the same key wrote.
func (f *Feeds) insert(ctx context.Context, author social.PlayerID, in NewFeed) (feed *social.Feed, repeated social.FeedID, err error) {
	id, err := nextID(ctx, f.ids)
	if err != nil {
		return nil, 0, err
	}
	feed = &social.Feed{ID: social.FeedID(id), AuthorID: author, Visibility: in.Visibility, Version: id}
	feed.Excerpt, feed.Whole = text.Excerpt(in.Content, social.ExcerptGraphemes, social.MaxExcerptBytes)
	err = f.do(ctx, func(tx Tx) error {
		noted, err := recall(ctx, tx, in.Key, Remembered{
			Player: author, Operation: "createFeed", Hash: in.hash(), Result: id, At: f.now(),
		})
		if repeated = social.FeedID(noted); err != nil || noted != 0 {
			return err
		}
		if err := tx.InsertFeed(ctx, *feed, in.Content); err != nil {
			return err
		}
		return f.wrote(ctx, tx, feed.ID, author, 1, id)
	})
	return feed, repeated, err
}

// wrote ends a feed's transaction: the author's count where it changes, and the event.
func (f *Feeds) wrote(ctx context.Context, tx Tx, id social.FeedID, author social.PlayerID, delta int, version int64) error {
	if delta != 0 {
		ok, err := tx.AddCounts(ctx, author, social.PlayerCounts{Feeds: delta}, version)
		if err != nil {
			return err
		}
		if !ok {
			return social.NotFound()
		}
	}
	return tx.Append(ctx, social.Event{Kind: social.EventFeed, Actor: author, Subject: int64(id), Object: version})
}

func (f *Feeds) repeated(ctx context.Context, id social.FeedID) (*social.Feed, error) {
	heads, err := f.heads.truth.Load(ctx, []social.FeedID{id})
	if err != nil {
		return nil, err
	}
	if head := heads[id]; head != nil && !head.Deleted {
		return head, nil
	}
	return nil, social.NotFound()
}

func (in NewFeed) hash() [32]byte {
	return inputHash("createFeed", in.Visibility.String(), in.Content)
}

// Edit changes the text of one of the viewer's feeds. Errors: NOT_FOUND, REQUIRED, TOO_LONG.
func (f *Feeds) Edit(ctx context.Context, viewer social.Viewer, id social.FeedID, content string) (*social.Feed, error) {
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	if err := checkContent(content); err != nil {
		return nil, err
	}
	var feed *social.Feed
	err := f.do(ctx, func(tx Tx) error {
		var err error
		if feed, err = f.lockOwn(ctx, tx, viewer, id); err != nil {
			return err
		}
		now := f.now().UTC().Truncate(time.Millisecond)
		feed.EditedAt = &now
		feed.Excerpt, feed.Whole = text.Excerpt(content, social.ExcerptGraphemes, social.MaxExcerptBytes)
		if err := tx.SaveText(ctx, *feed, content); err != nil {
			return err
		}
		return f.wrote(ctx, tx, id, viewer.Player, 0, feed.Version)
	})
	if err != nil {
		return nil, err
	}
	return feed, nil
}

// Delete deletes one of the viewer's feeds. Error: NOT_FOUND.
func (f *Feeds) Delete(ctx context.Context, viewer social.Viewer, id social.FeedID) error {
	if err := viewer.Require(); err != nil {
		return err
	}
	return f.do(ctx, func(tx Tx) error {
		feed, err := f.lockOwn(ctx, tx, viewer, id)
		if err != nil {
			return err
		}
		if err := tx.MarkDeleted(ctx, id, feed.Version); err != nil {
			return err
		}
		return f.wrote(ctx, tx, id, viewer.Player, -1, feed.Version)
	})
}

// lockOwn locks one of the viewer's feeds and gives it its next version.
func (f *Feeds) lockOwn(ctx context.Context, tx Tx, viewer social.Viewer, id social.FeedID) (*social.Feed, error) {
	feed, err := tx.LockFeed(ctx, id)
	if err != nil {
		return nil, err
	}
	if feed == nil || feed.Deleted || feed.AuthorID != viewer.Player {
		return nil, social.NotFound("feedId")
	}
	version, err := nextID(ctx, f.ids)
	if err != nil {
		return nil, err
	}
	feed.Version = max(version, feed.Version+1)
	return feed, nil
}

func checkContent(content string) error {
	if strings.TrimSpace(content) == "" {
		return social.Fail(social.CodeRequired, "A feed needs a text.", "content")
	}
	if utf8.RuneCountInString(content) > social.MaxContentLength {
		return social.Fail(social.CodeTooLong, "A feed has at most 100,000 characters.", "content")
	}
	return nil
}

func checkKey(key *string) error {
	switch {
	case key == nil:
		return nil
	case *key == "":
		return social.Fail(social.CodeRequired, "An idempotency key has at least one character.", "idempotencyKey")
	case utf8.RuneCountInString(*key) > social.MaxIdempotencyLength:
		return social.Fail(social.CodeTooLong, "An idempotency key has at most 255 characters.", "idempotencyKey")
	}
	return nil
}
