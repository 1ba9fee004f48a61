package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"circle/internal/social"
	"circle/internal/text"
)

// SeedConfig says what population to make up.
type SeedConfig struct {
	Players int
	Feeds   int
	// Seed chooses the population: the same one gives the same, but for identifiers, times, and the
	// numbers behind names that are taken.
	Seed uint64
	// FollowLimit is how many a player follows at most; 0 means 2,000.
	FollowLimit int
	// MaxFollows, unless it is 0, cuts what each player follows, for a population that is soon made.
	MaxFollows int
	// Hot, unless it is nil, adds one hot feed with exact numbers.
	Hot *Hot
}

// Hot makes the first player follow, and be followed by, exactly Friends players and follow nobody
// else, and gives the first feed, a public one of the second player, exactly Likers likes. Both are
// drawn from all players, so many of the friends like the feed.
type Hot struct {
	Likers  int
	Friends int
}

const (
	hotViewer = 0
	hotAuthor = 1
	hotFeed   = 0
)

// hotPlayers draws players for cfg.Hot, all but one.
func hotPlayers(cfg SeedConfig, n, draw int, without uint32) []uint32 {
	var players []uint32
	for _, p := range random(cfg.Seed, streamHot, draw).Perm(cfg.Players) {
		if uint32(p) != without && len(players) < n {
			players = append(players, uint32(p))
		}
	}
	return players
}

// maxPopulation bounds players and feeds: edges of two players are held in memory, 8 bytes each.
const maxPopulation = 1 << 24

func (cfg *SeedConfig) followLimit() int { return cmp.Or(cfg.FollowLimit, 2000) }

// Check says what can't be meant.
func (cfg *SeedConfig) Check() error {
	switch hot := cfg.Hot; {
	case cfg.Players < 1 || cfg.Players > maxPopulation:
		return fmt.Errorf("the number of players must be from 1 to %d", maxPopulation)
	case cfg.Feeds < 0 || cfg.Feeds > maxPopulation:
		return fmt.Errorf("the number of feeds must be from 0 to %d", maxPopulation)
	case cfg.FollowLimit < 0:
		return errors.New("the follow limit must not be negative")
	case hot != nil && (cfg.Players < 2 || cfg.Feeds < 1 || max(hot.Likers, hot.Friends) >= cfg.Players || hot.Friends > cfg.followLimit()):
		return errors.New("a hot feed needs two players and a feed, more players than likers or friends, and no more friends than the follow limit")
	case hot != nil && int64(hot.Likers)*int64(cfg.Feeds) > social.IDRunLength(seedSpan)/2:
		return errors.New("so many likers of a hot feed have no room beside so many feeds")
	}
	return nil
}

// seedSpan is the time over which follows, feeds and likes are spread.
const seedSpan = 30 * 24 * time.Hour

// Seed makes up a lifelike population: players with interests, who follow and like what shares these
// and what is popular, feeds in Chinese and English with all visibilities, likes by those who may
// see the feed. Each call adds another population. One that is stopped leaves rows behind that
// nobody can see.
func Seed(ctx context.Context, d Deps, cfg SeedConfig) (Result, error) {
	result, err := seed(ctx, d, cfg)
	if err != nil {
		return Result{}, fmt.Errorf("seed: %w", err)
	}
	return result, nil
}

func seed(ctx context.Context, d Deps, cfg SeedConfig) (Result, error) {
	cfg.FollowLimit = cfg.followLimit()
	if err := cfg.Check(); err != nil {
		return Result{}, err
	}
	s, err := newSeeding(ctx, d, cfg)
	if err != nil {
		return Result{}, err
	}
	for _, part := range []struct {
		name  string
		write func(context.Context) error
	}{{phaseEdges, s.edges}, {phaseFeeds, s.feeds}, {phasePlayers, s.players}, {phaseEpochs, d.Store.RaiseEpochs}} {
		began := d.Now()
		if err := part.write(ctx); err != nil {
			return Result{}, err
		}
		d.Log.InfoContext(ctx, "seed", "phase", part.name, "took", d.Now().Sub(began).Round(time.Millisecond))
	}
	return s.result, s.bar.Finish()
}

// seeding is a population under way.
type seeding struct {
	Deps
	cfg    SeedConfig
	graph  *graph
	bar    *progressbar.ProgressBar
	result Result
	// version is fresh; all rows have it.
	version int64
	start   time.Time
	// ids has span identifiers of this process's node from start on. Others of the same node were
	// made in that time, so those of feeds are looked up.
	ids  social.IDRun
	span int64
	// firstEdge is the number of each player's first follow among all follows.
	firstEdge []int
	// feedCounts counts each player's feeds.
	feedCounts []int
}

func newSeeding(ctx context.Context, d Deps, cfg SeedConfig) (*seeding, error) {
	s := &seeding{Deps: d, cfg: cfg, graph: newGraph(cfg), feedCounts: make([]int, cfg.Players), firstEdge: make([]int, cfg.Players)}
	var err error
	if s.version, err = d.IDs.Next(ctx); err != nil {
		return nil, err
	}
	first, err := d.Store.ReservePlayers(ctx, cfg.Players)
	if err != nil {
		return nil, err
	}
	s.start = social.FeedID(s.version).Time().Add(-seedSpan)
	s.ids, s.span = social.IDRunAt(s.start, s.version), social.IDRunLength(seedSpan)
	s.result = Result{Players: cfg.Players, Feeds: cfg.Feeds, FirstPlayer: first}
	for p := range s.graph.following {
		s.firstEdge[p] = s.result.Follows
		s.result.Follows += len(s.graph.following[p])
	}
	s.bar = newBar(d.Progress, 2*s.result.Follows+cfg.Feeds+cfg.Players, "seed")
	return s, nil
}

func (s *seeding) playerID(p uint32) social.PlayerID {
	return s.result.FirstPlayer + social.PlayerID(p)
}

func (s *seeding) write(ctx context.Context, b *social.Batch) error {
	_ = s.bar.Add(len(b.Feeds) + len(b.Players))
	return s.Store.WriteBatch(ctx, b)
}

// edges writes both rows of each pair, in the order of the table.
func (s *seeding) edges(ctx context.Context) error {
	b := &social.Batch{}
	for p := range s.graph.following {
		b.Edges = s.appendEdges(b.Edges, uint32(p))
		_ = s.bar.Add(len(s.graph.following[p]) + len(s.graph.fans[p]))
		if len(b.Edges) < edgesAtOnce && p < s.cfg.Players-1 {
			continue
		}
		for piece := range slices.Chunk(b.Edges, edgesAtOnce) {
			if err := s.write(ctx, &social.Batch{Edges: piece}); err != nil {
				return err
			}
		}
		b.Edges = b.Edges[:0]
	}
	return nil
}

// appendEdges merges those whom a player follows with the player's fans.
func (s *seeding) appendEdges(edges []social.Edge, p uint32) []social.Edge {
	following, fans := s.graph.following[p], s.graph.fans[p]
	for i, j := 0, 0; i < len(following) || j < len(fans); {
		peer := uint32(math.MaxUint32)
		if i < len(following) {
			peer = following[i]
		}
		if j < len(fans) {
			peer = min(peer, fans[j])
		}
		e := social.Edge{Player: s.playerID(p), Peer: s.playerID(peer)}
		if i < len(following) && following[i] == peer {
			e.Following = s.edgeID(s.firstEdge[p] + i)
			i++
		}
		if j < len(fans) && fans[j] == peer {
			at, _ := slices.BinarySearch(s.graph.following[peer], p)
			e.Fan = s.edgeID(s.firstEdge[peer] + at)
			j++
		}
		if e.Relation().Friend() {
			e.Friend = max(e.Following, e.Fan)
			if p < peer {
				s.result.Friends++
			}
		}
		edges = append(edges, e)
	}
	return edges
}

// edgeID scatters the follows over the time, each at a place of its own: an odd factor modulo a
// power of two is a permutation.
func (s *seeding) edgeID(edge int) social.EdgeID {
	const odd = 0x9e3779b97f4a7c15
	log := bits.Len(uint(s.result.Follows))
	place := int64(uint64(edge) * odd & (1<<log - 1))
	return social.EdgeID(s.ids.At(place * (s.span >> log)))
}

// players writes the players, who can be seen from then on.
func (s *seeding) players(ctx context.Context) error {
	names := newNames()
	for from := 0; from < s.cfg.Players; from += playersAtOnce {
		b := &social.Batch{}
		var bases []string
		for p := from; p < min(from+playersAtOnce, s.cfg.Players); p++ {
			r := random(s.cfg.Seed, streamName, p)
			player := social.BulkPlayer{
				ID: s.playerID(uint32(p)), Version: s.version,
				JoinedAt: s.start.Add(-time.Duration(r.Int64N(int64(12 * seedSpan)))),
				Counts: social.PlayerCounts{
					Feeds: s.feedCounts[p], Fans: len(s.graph.fans[p]), Following: len(s.graph.following[p]),
					Friends: len(s.graph.friends(uint32(p))),
				},
			}
			base := lifelikeName(r)
			player.Name, player.NameKey = names.name(base)
			b.Players, bases = append(b.Players, player), append(bases, base)
		}
		_ = s.bar.Add(len(b.Players))
		if err := s.writePlayers(ctx, names, bases, b); err != nil {
			return err
		}
	}
	return nil
}

// summary fills in a feed's excerpt.
func summary(f *social.BulkFeed) {
	f.Excerpt, f.Whole = text.Excerpt(f.Content, social.ExcerptGraphemes, social.MaxExcerptBytes)
}
