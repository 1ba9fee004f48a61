package redisstore

import (
	"circle/internal/social"
	"circle/internal/store/compress"
)

// Visibility and marks of a feed share a byte.
const (
	visibilityBits = 0b111
	deletedBit     = 1 << 3
	wholeBit       = 1 << 4
	editedBit      = 1 << 5
	hiddenBit      = 1 << 6
)

// Feeds are the heads.
func (s *Store) Feeds() *Entities[social.FeedID, *social.Feed] {
	return &Entities[social.FeedID, *social.Feed]{
		store:   s,
		keys:    feedKeys,
		version: func(f *social.Feed) int64 { return f.Version },
		pack:    packFeed,
		unpack:  unpackFeed,
	}
}

func packFeed(b []byte, f *social.Feed) []byte {
	b = append(b, marks(f.Visibility, f.Deleted)|bit(f.Hidden, hiddenBit)|bit(f.Whole, wholeBit)|bit(f.EditedAt != nil, editedBit))
	b = appendCount(b, int(f.AuthorID))
	if f.EditedAt != nil {
		b = appendTime(b, *f.EditedAt)
	}
	return appendText(b, f.Excerpt)
}

func unpackFeed(id social.FeedID, version int64, r *reader) (*social.Feed, bool) {
	m := r.byte()
	f := &social.Feed{
		ID:         id,
		Visibility: social.Visibility(m & visibilityBits),
		Deleted:    m&deletedBit != 0,
		Hidden:     m&hiddenBit != 0,
		Whole:      m&wholeBit != 0,
		Version:    version,
	}
	f.AuthorID = social.PlayerID(r.count())
	if m&editedBit != 0 {
		t := r.time()
		f.EditedAt = &t
	}
	f.Excerpt = r.text()
	return f, r.ok() && f.Visibility.String() != ""
}

// Bodies are the whole texts of feeds, compressed where that pays.
func (s *Store) Bodies() *Entities[social.FeedID, *social.FeedBody] {
	return &Entities[social.FeedID, *social.FeedBody]{
		store:   s,
		keys:    bodyKeys,
		version: func(b *social.FeedBody) int64 { return b.Version },
		pack: func(b []byte, body *social.FeedBody) []byte {
			codec, data := compress.Text(body.Content)
			return append(append(b, codec), data...)
		},
		unpack: func(id social.FeedID, version int64, r *reader) (*social.FeedBody, bool) {
			codec := r.byte()
			content, err := compress.Open(codec, []byte(r.rest))
			return &social.FeedBody{ID: id, Content: content, Version: version}, !r.bad && err == nil
		},
	}
}

// Counters are the counters of feeds.
func (s *Store) Counters() *Entities[social.FeedID, *social.FeedCounters] {
	return &Entities[social.FeedID, *social.FeedCounters]{
		store:   s,
		keys:    countKeys,
		version: func(c *social.FeedCounters) int64 { return c.Version },
		pack:    packCounters,
		unpack:  unpackCounters,
	}
}

func packCounters(b []byte, c *social.FeedCounters) []byte {
	b = append(b, marks(c.Visibility, c.Deleted)|bit(c.Hidden, hiddenBit))
	b = appendCount(b, int(c.AuthorID))
	for _, n := range []int{c.Likes, c.Comments, c.Heads, c.Views} {
		b = appendCount(b, n)
	}
	return b
}

func unpackCounters(id social.FeedID, version int64, r *reader) (*social.FeedCounters, bool) {
	m := r.byte()
	c := &social.FeedCounters{
		FeedID:     id,
		Visibility: social.Visibility(m & visibilityBits),
		Deleted:    m&deletedBit != 0,
		Hidden:     m&hiddenBit != 0,
		Version:    version,
	}
	c.AuthorID = social.PlayerID(r.count())
	for _, n := range []*int{&c.Likes, &c.Comments, &c.Heads, &c.Views} {
		*n = int(r.count())
	}
	return c, r.ok() && c.Visibility.String() != ""
}

func marks(v social.Visibility, deleted bool) byte { return byte(v) | bit(deleted, deletedBit) }

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}
