package redisstore

import "circle/internal/social"

// Comments are comments and answers, with the text.
func (s *Store) Comments() *Entities[social.CommentID, *social.Comment] {
	return &Entities[social.CommentID, *social.Comment]{
		store:   s,
		keys:    commentKeys,
		version: func(c *social.Comment) int64 { return c.Version },
		pack:    packComment,
		unpack:  unpackComment,
	}
}

func packComment(b []byte, c *social.Comment) []byte {
	b = append(b, bit(c.Deleted, deletedBit))
	for _, n := range []int64{int64(c.FeedID), int64(c.AuthorID), int64(c.RootID), int64(c.ReplyToID), int64(c.ReplyCount)} {
		b = appendCount(b, int(n))
	}
	return appendText(b, c.Content)
}

func unpackComment(id social.CommentID, version int64, r *reader) (*social.Comment, bool) {
	c := &social.Comment{ID: id, Deleted: r.byte()&deletedBit != 0, Version: version}
	c.FeedID = social.FeedID(r.count())
	c.AuthorID = social.PlayerID(r.count())
	c.RootID, c.ReplyToID = social.CommentID(r.count()), social.CommentID(r.count())
	c.ReplyCount = int(r.count())
	c.Content = r.text()
	return c, r.ok()
}
