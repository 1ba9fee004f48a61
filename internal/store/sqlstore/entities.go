package sqlstore

import (
	"context"
	"fmt"

	"circle/internal/social"
	"circle/internal/store/compress"
)

// Truth is one kind of entity, read in bulk. Keys without a row are absent from the answers.
type Truth[K ~int64, V any] struct {
	store *Store
	name  string
	// rows is a statement that ends before the list of keys.
	rows string
	scan func(scan scanner) (K, V, error)
}

// Load reads the entities of the given keys.
func (t Truth[K, V]) Load(ctx context.Context, keys []K) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	for piece := range chunks(keys) {
		err := query(t.store.reader(ctx), t.rows+" IN ?", []any{piece}, func(row scanner) error {
			key, value, err := t.scan(row)
			if err == nil {
				found[key] = value
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", t.name, err)
		}
	}
	return found, nil
}

// Players reads players' simple info.
func (s *Store) Players() Truth[social.PlayerID, *social.Player] {
	return Truth[social.PlayerID, *social.Player]{
		store: s, name: "players",
		rows: "SELECT id, name, level, avatar_url, version FROM players WHERE id",
		scan: func(scan scanner) (social.PlayerID, *social.Player, error) {
			var p social.Player
			err := scan(&p.ID, &p.Name, &p.Level, &p.AvatarURL, &p.Version)
			return p.ID, &p, err
		},
	}
}

// Details reads what only players' profile pages show.
func (s *Store) Details() Truth[social.PlayerID, *social.PlayerDetail] {
	return Truth[social.PlayerID, *social.PlayerDetail]{
		store: s, name: "details",
		rows: "SELECT p.id, p.bio, p.guild_id, p.joined_at, c.feeds, c.fans, c.following, c.friends, c.version" +
			" FROM players p JOIN player_counts c ON c.player_id = p.id WHERE p.id",
		scan: func(scan scanner) (social.PlayerID, *social.PlayerDetail, error) {
			var d social.PlayerDetail
			err := scan(&d.ID, &d.Bio, &d.GuildID, &d.JoinedAt, &d.Feeds, &d.Fans, &d.Following, &d.Friends, &d.Version)
			return d.ID, &d, err
		},
	}
}

// Feeds reads the heads of feeds, tombstones too.
func (s *Store) Feeds() Truth[social.FeedID, *social.Feed] {
	return Truth[social.FeedID, *social.Feed]{
		store: s, name: "feeds",
		rows: "SELECT id, author_id, visibility, deleted, hidden, excerpt, whole, edited_at, version FROM feeds WHERE id",
		scan: func(scan scanner) (social.FeedID, *social.Feed, error) {
			var f social.Feed
			err := scan(&f.ID, &f.AuthorID, &f.Visibility, &f.Deleted, &f.Hidden, &f.Excerpt, &f.Whole, &f.EditedAt, &f.Version)
			return f.ID, &f, err
		},
	}
}

// Bodies reads the texts that heads don't hold whole.
func (s *Store) Bodies() Truth[social.FeedID, *social.FeedBody] {
	return Truth[social.FeedID, *social.FeedBody]{
		store: s, name: "bodies",
		rows: "SELECT feed_id, codec, content, version FROM feed_bodies WHERE feed_id",
		scan: func(scan scanner) (social.FeedID, *social.FeedBody, error) {
			var b social.FeedBody
			var codec uint8
			var data []byte
			err := scan(&b.ID, &codec, &data, &b.Version)
			if err == nil {
				b.Content, err = compress.Open(codec, data)
			}
			return b.ID, &b, err
		},
	}
}

// Counters reads the counters of feeds, tombstones' too.
func (s *Store) Counters() Truth[social.FeedID, *social.FeedCounters] {
	return Truth[social.FeedID, *social.FeedCounters]{
		store: s, name: "counters",
		rows: "SELECT feed_id, author_id, visibility, deleted, hidden, likes, comments, heads, views, version FROM feed_counts WHERE feed_id",
		scan: func(scan scanner) (social.FeedID, *social.FeedCounters, error) {
			var c social.FeedCounters
			err := scan(&c.FeedID, &c.AuthorID, &c.Visibility, &c.Deleted, &c.Hidden, &c.Likes, &c.Comments, &c.Heads, &c.Views, &c.Version)
			return c.FeedID, &c, err
		},
	}
}

// Comments reads comments, tombstones too.
func (s *Store) Comments() Truth[social.CommentID, *social.Comment] {
	return Truth[social.CommentID, *social.Comment]{
		store: s, name: "comments",
		rows: "SELECT id, feed_id, author_id, root_id, reply_to, deleted, replies, content, version FROM comments WHERE id",
		scan: func(scan scanner) (social.CommentID, *social.Comment, error) {
			var c social.Comment
			err := scan(&c.ID, &c.FeedID, &c.AuthorID, &c.RootID, &c.ReplyToID, &c.Deleted, &c.ReplyCount, &c.Content, &c.Version)
			return c.ID, &c, err
		},
	}
}
