package importer

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"circle/internal/social"
)

const (
	// seedFeedsAtOnce have some 5,000 likes together.
	seedFeedsAtOnce = 500
	maxSeedLikes    = 10_000
	maxSeedLength   = 5000
)

// seedFeed is what a made-up feed is, apart from its text.
type seedFeed struct {
	author     uint32
	topic      uint8
	visibility social.Visibility
	// place is the feed's identifier among those of the seeding's time.
	place int64
}

// feeds writes the feeds by pieces, each after its likes.
func (s *seeding) feeds(ctx context.Context) error {
	for from := 0; from < s.cfg.Feeds; from += seedFeedsAtOnce {
		feeds := make([]seedFeed, min(seedFeedsAtOnce, s.cfg.Feeds-from))
		b := &social.Batch{Feeds: make([]social.BulkFeed, len(feeds))}
		for i := range feeds {
			feeds[i] = s.newFeed(from+i, &b.Feeds[i])
		}
		if err := s.placeFeeds(ctx, feeds, b.Feeds); err != nil {
			return err
		}
		for i, f := range feeds {
			n := len(b.Likes)
			b.Likes = s.appendLikes(b.Likes, from+i, f, b.Feeds[i].ID)
			b.Feeds[i].Likes = len(b.Likes) - n
		}
		s.result.Likes += len(b.Likes)
		for len(b.Likes) > likesAtOnce {
			if err := s.write(ctx, &social.Batch{Likes: b.Likes[:likesAtOnce]}); err != nil {
				return err
			}
			b.Likes = b.Likes[likesAtOnce:]
		}
		if err := s.write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *seeding) newFeed(n int, feed *social.BulkFeed) seedFeed {
	r := random(s.cfg.Seed, streamFeed, n)
	f := seedFeed{author: s.graph.popular[skewed(r, s.cfg.Players)], visibility: visibility(r)}
	if s.cfg.Hot != nil && n == hotFeed {
		f.author, f.visibility = hotAuthor, social.Public
	}
	interests := s.graph.interests[f.author]
	f.topic = interests[r.IntN(len(interests))]
	// Lengths by a power law: 2 % have more than 1,000 characters.
	length := min(maxSeedLength, int(20/(1e-9+r.Float64())))
	feed.Content = content(r, topics[f.topic], length)
	summary(feed)
	feed.AuthorID, feed.Visibility, feed.Version = s.playerID(f.author), f.visibility, s.version
	s.feedCounts[f.author]++
	// The feeds come in their order, with room behind each.
	stride := s.span / int64(s.cfg.Feeds)
	f.place = int64(n)*stride + r.Int64N(stride/2)
	return f
}

func visibility(r *rand.Rand) social.Visibility {
	switch u := r.IntN(100); {
	case u < 88:
		return social.Public
	case u < 94:
		return social.Fans
	case u < 98:
		return social.Friends
	}
	return social.Private
}

// placeFeeds gives the feeds their identifiers, moving on those that were made before.
func (s *seeding) placeFeeds(ctx context.Context, feeds []seedFeed, rows []social.BulkFeed) error {
	open := make([]int, len(feeds))
	for i := range feeds {
		open[i] = i
	}
	for len(open) > 0 {
		ids := make([]social.FeedID, len(open))
		for k, i := range open {
			rows[i].ID = social.FeedID(s.ids.At(feeds[i].place))
			ids[k] = rows[i].ID
		}
		taken, err := s.Store.TakenFeedIDs(ctx, ids)
		if err != nil {
			return err
		}
		open = slices.DeleteFunc(open, func(i int) bool { return !taken[rows[i].ID] })
		for _, i := range open {
			feeds[i].place++
		}
	}
	return nil
}

// appendLikes adds the likes of the n-th feed, sorted by player. The time behind the feed is cut in
// pieces of as many identifiers as there are feeds; each like takes the n-th of a piece, so that no
// two likes have the same. Most come soon.
func (s *seeding) appendLikes(likes []social.Like, n int, f seedFeed, id social.FeedID) []social.Like {
	r := random(s.cfg.Seed, streamLikes, n)
	feeds := int64(s.cfg.Feeds)
	first := f.place/feeds + 1
	room := (s.span-1-int64(n))/feeds - first + 1
	likers := s.likers(r, n, f)
	likers = likers[:max(0, min(int64(len(likers)), room))]
	begin, last := len(likes), int64(-1)
	for i, liker := range likers {
		share := (float64(i) + r.Float64()) / float64(len(likers))
		left := int64(len(likers) - i) // pieces that this and the later ones need
		last = min(max(last+1, int64(share*share*share*float64(room))), room-left)
		likes = append(likes, social.Like{
			Key:   social.LikeKey{Feed: id, Player: s.playerID(liker)},
			Order: social.LikeID(s.ids.At((first+last)*feeds + int64(n))),
		})
	}
	slices.SortFunc(likes[begin:], func(a, b social.Like) int { return cmp.Compare(a.Key.Player, b.Key.Player) })
	return likes
}

func (s *seeding) likers(r *rand.Rand, n int, f seedFeed) []uint32 {
	if s.cfg.Hot != nil && n == hotFeed {
		return hotPlayers(s.cfg, s.cfg.Hot.Likers, 1, hotAuthor)
	}
	// A power law: one feed in n has n likes or more.
	count := int(1 / (1e-9 + r.Float64()))
	return s.graph.likers(r, f, min(count, maxSeedLikes, max(1, s.cfg.Players/3)))
}
