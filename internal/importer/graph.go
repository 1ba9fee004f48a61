package importer

import (
	"math/rand/v2"
	"slices"

	"circle/internal/social"
)

// The streams of random numbers, so that one is the same however much of another is drawn.
const (
	streamOrder = iota + 1
	streamInterests
	streamFollows
	streamFollowsBack
	streamName
	streamFeed
	streamLikes
	streamHot
)

// random is a source for one player or feed, the same for the same arguments.
func random(seed, stream uint64, n int) *rand.Rand {
	const odd = 0x9e3779b97f4a7c15
	return rand.New(rand.NewPCG(seed, (stream<<40|uint64(n))*odd))
}

// skewed is a number below n, small ones more often.
func skewed(r *rand.Rand, n int) int {
	u := r.Float64()
	return int(u * u * float64(n))
}

// graph says who follows whom. Players are numbers from 0.
type graph struct {
	// following and fans are sorted.
	following, fans [][]uint32
	interests       [][]uint8
	// popular are all players, those whom many follow first; members are the same by interest.
	popular []uint32
	members [len(topics)][]uint32
	// seen marks players with the number of the list that is being made.
	seen []uint32
	list uint32
}

func newGraph(cfg SeedConfig) *graph {
	g := &graph{following: make([][]uint32, cfg.Players), interests: make([][]uint8, cfg.Players), seen: make([]uint32, cfg.Players)}
	g.order(cfg)
	degrees := make([]int, cfg.Players)
	for p := range g.following {
		r := random(cfg.Seed, streamFollows, p)
		degrees[p] = degree(r, cfg)
		g.begin(uint32(p))
		g.following[p] = g.pick(r, uint32(p), nil, degrees[p]*7/10)
	}
	g.followBack(cfg, degrees)
	if cfg.Hot != nil {
		g.befriend(cfg)
	}
	for _, f := range g.following {
		slices.Sort(f)
	}
	g.fans = inverse(g.following)
	return g
}

// order makes the players' interests and the orders in which they are chosen.
func (g *graph) order(cfg SeedConfig) {
	for _, p := range random(cfg.Seed, streamOrder, 0).Perm(cfg.Players) {
		g.popular = append(g.popular, uint32(p))
	}
	for _, p := range g.popular {
		r := random(cfg.Seed, streamInterests, int(p))
		for range 1 + r.IntN(3) {
			if t := uint8(skewed(r, len(topics))); !slices.Contains(g.interests[p], t) {
				g.interests[p] = append(g.interests[p], t)
				g.members[t] = append(g.members[t], p)
			}
		}
	}
}

// degree is how many a player follows: 90 % below 100, 8 % 300 to 1,000, 2 % up to the limit; less
// where there are few players.
func degree(r *rand.Rand, cfg SeedConfig) int {
	scale := min(1, float64(cfg.Players)/2/float64(cfg.FollowLimit))
	n := 0
	switch u := r.Float64(); {
	case u < 0.90:
		n = r.IntN(100)
	case u < 0.98:
		n = 300 + r.IntN(701)
	default:
		n = 1001 + r.IntN(max(1, cfg.FollowLimit-1000))
	}
	limit := cfg.FollowLimit
	if cfg.Hot != nil {
		limit-- // room for the viewer of cfg.Hot
	}
	if cfg.MaxFollows > 0 {
		limit = min(limit, cfg.MaxFollows)
	}
	return min(int(scale*float64(n)), limit, cfg.Players-1)
}

// begin begins a list of players, without the one whose it is.
func (g *graph) begin(owner uint32) {
	g.list++
	g.seen[owner] = g.list
}

// add says whether the player is new to the list.
func (g *graph) add(p uint32) bool {
	if g.seen[p] == g.list {
		return false
	}
	g.seen[p] = g.list
	return true
}

// pick adds players to the list until it has n: such with the same interests before others, and
// popular ones.
func (g *graph) pick(r *rand.Rand, p uint32, list []uint32, n int) []uint32 {
	list = slices.Grow(list, max(0, n-len(list)))
	for tries := 8 * n; len(list) < n && tries > 0; tries-- {
		from := g.popular
		if r.IntN(10) < 7 {
			from = g.members[g.interests[p][r.IntN(len(g.interests[p]))]]
		}
		if q := from[skewed(r, len(from))]; g.add(q) {
			list = append(list, q)
		}
	}
	for _, q := range g.popular {
		if len(list) >= n {
			break
		}
		if g.add(q) {
			list = append(list, q)
		}
	}
	return list
}

// followBack fills each list up to the player's degree, with fans as far as there are some.
func (g *graph) followBack(cfg SeedConfig, degrees []int) {
	fans := inverse(g.following)
	for p, list := range g.following {
		r := random(cfg.Seed, streamFollowsBack, p)
		g.begin(uint32(p))
		for _, q := range list {
			g.add(q)
		}
		r.Shuffle(len(fans[p]), func(i, j int) { fans[p][i], fans[p][j] = fans[p][j], fans[p][i] })
		for _, q := range fans[p] {
			if len(list) >= degrees[p] {
				break
			}
			if g.add(q) {
				list = append(list, q)
			}
		}
		g.following[p] = g.pick(r, uint32(p), list, degrees[p])
	}
}

// befriend gives the viewer of cfg.Hot exactly so many friends, and nobody else whom the viewer
// follows.
func (g *graph) befriend(cfg SeedConfig) {
	friends := hotPlayers(cfg, cfg.Hot.Friends, 0, hotViewer)
	g.following[hotViewer] = friends
	for _, p := range friends {
		if !slices.Contains(g.following[p], hotViewer) {
			g.following[p] = append(g.following[p], hotViewer)
		}
	}
}

// inverse lists by player in whose lists the player is; sorted.
func inverse(lists [][]uint32) [][]uint32 {
	sizes := make([]int, len(lists))
	for _, list := range lists {
		for _, q := range list {
			sizes[q]++
		}
	}
	inverse := make([][]uint32, len(lists))
	for q, n := range sizes {
		inverse[q] = make([]uint32, 0, n)
	}
	for p, list := range lists {
		for _, q := range list {
			inverse[q] = append(inverse[q], uint32(p))
		}
	}
	return inverse
}

func (g *graph) follows(p, q uint32) bool {
	_, found := slices.BinarySearch(g.following[p], q)
	return found
}

// friends are those of a player's fans whom the player follows.
func (g *graph) friends(p uint32) []uint32 {
	var friends []uint32
	for _, q := range g.fans[p] {
		if g.follows(p, q) {
			friends = append(friends, q)
		}
	}
	return friends
}

// likers chooses about n players who like a feed, none of whom is kept from seeing it: most share its
// topic, some are fans of its author. They come in the order of their likes.
func (g *graph) likers(r *rand.Rand, f seedFeed, n int) []uint32 {
	switch f.visibility {
	case social.Public:
		return g.anyLikers(r, f, n)
	case social.Fans:
		return sample(r, slices.Clone(g.fans[f.author]), n)
	case social.Friends:
		return sample(r, g.friends(f.author), n)
	}
	return nil
}

func (g *graph) anyLikers(r *rand.Rand, f seedFeed, n int) []uint32 {
	var likers []uint32
	g.begin(f.author)
	members, fans := g.members[f.topic], g.fans[f.author]
	for tries := 4 * n; len(likers) < n && tries > 0; tries-- {
		p := uint32(r.IntN(len(g.following)))
		switch u := r.IntN(20); {
		case u < 11 && len(members) > 0:
			p = members[skewed(r, len(members))]
		case u < 16 && len(fans) > 0:
			p = fans[r.IntN(len(fans))]
		}
		if g.add(p) {
			likers = append(likers, p)
		}
	}
	return likers
}

// sample shuffles the players and keeps n.
func sample(r *rand.Rand, players []uint32, n int) []uint32 {
	r.Shuffle(len(players), func(i, j int) { players[i], players[j] = players[j], players[i] })
	return players[:min(n, len(players))]
}
