package importer

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/schollz/progressbar/v3"

	"circle/internal/social"
)

// pcc is an import under way. All rows follow from the data and the state, each time the same.
type pcc struct {
	Deps
	data  *pccData
	state social.ImportState
	bar   *progressbar.ProgressBar
	// ids are those of the feeds, and behind them of the likes in the order of the files.
	ids social.IDRun
	// edges are the ids of the friendships, from before the feeds. They need to differ within the
	// lists of these players only, so none are reserved.
	edges    social.IDRun
	joinedAt time.Time

	// peers of player i are peers[offsets[i]:offsets[i+1]], sorted; pairs has the place of each
	// pair in the data.
	offsets      []int
	peers, pairs []uint32
	// likes of an object stand together, sorted by liker.
	likes []pccLike
	// players have the names that they have unless these are in use in the store; bases are the
	// names as the file has them.
	players []social.BulkPlayer
	bases   []string
	names   *names
}

// pccLike is a like; place is its place among all likes of the files.
type pccLike struct{ object, liker, place uint32 }

func newPCC(d Deps, data *pccData, state social.ImportState) *pcc {
	p := &pcc{Deps: d, data: data, state: state, names: newNames()}
	start := social.FeedID(state.FirstID).Time()
	p.ids = social.IDRunAt(start, state.FirstID)
	atOnce := int(social.IDRunLength(time.Millisecond))
	p.joinedAt = start.Add(-time.Duration(len(data.pairs)/atOnce+1) * time.Millisecond)
	p.edges = social.IDRunAt(p.joinedAt, state.FirstID)
	p.indexPairs()
	p.indexLikes()
	p.namePlayers()
	return p
}

// indexPairs lists each player's peers. The pairs come sorted, so each list grows in order.
func (p *pcc) indexPairs() {
	p.offsets = make([]int, len(p.data.users)+1)
	for _, pair := range p.data.pairs {
		a, b := unpack(pair)
		p.offsets[a+1]++
		p.offsets[b+1]++
	}
	for i := range p.data.users {
		p.offsets[i+1] += p.offsets[i]
	}
	ends := slices.Clone(p.offsets)
	p.peers = make([]uint32, 2*len(p.data.pairs))
	p.pairs = make([]uint32, 2*len(p.data.pairs))
	for k, pair := range p.data.pairs {
		a, b := unpack(pair)
		p.peers[ends[a]], p.pairs[ends[a]] = b, uint32(k)
		p.peers[ends[b]], p.pairs[ends[b]] = a, uint32(k)
		ends[a]++
		ends[b]++
	}
}

func (p *pcc) indexLikes() {
	for i, o := range p.data.objects {
		first := len(p.likes)
		for _, liker := range o.likers {
			p.likes = append(p.likes, pccLike{object: uint32(i), liker: liker, place: uint32(len(p.likes))})
		}
		slices.SortFunc(p.likes[first:], func(a, b pccLike) int { return cmp.Compare(a.liker, b.liker) })
	}
}

func (p *pcc) namePlayers() {
	p.players = make([]social.BulkPlayer, len(p.data.users))
	p.bases = make([]string, len(p.data.users))
	for i, u := range p.data.users {
		p.bases[i] = cleanName(u.name)
		p.players[i].Name, p.players[i].NameKey = p.names.name(p.bases[i])
	}
}

func (p *pcc) playerID(place uint32) social.PlayerID {
	return p.state.FirstPlayer + social.PlayerID(place)
}

func (p *pcc) feedID(object int) social.FeedID { return social.FeedID(p.ids.At(int64(object))) }

// author spreads the objects evenly over the players.
func (p *pcc) author(object int) uint32 { return uint32(object % len(p.data.users)) }

// fillEdges makes both rows of each pair of friends, in the order of the table. Both edges of a
// pair have one id.
func (p *pcc) fillEdges(b *social.Batch, from, to int) {
	player := sort.SearchInts(p.offsets, from+1) - 1
	for row := from; row < to; row++ {
		for row >= p.offsets[player+1] {
			player++
		}
		id := social.EdgeID(p.edges.At(int64(p.pairs[row])))
		b.Edges = append(b.Edges, social.Edge{
			Player: p.playerID(uint32(player)), Peer: p.playerID(p.peers[row]), Following: id, Fan: id, Friend: id,
		})
	}
}

func (p *pcc) fillLikes(b *social.Batch, from, to int) {
	behind := int64(len(p.data.objects))
	for _, like := range p.likes[from:to] {
		b.Likes = append(b.Likes, social.Like{
			Key:   social.LikeKey{Feed: p.feedID(int(like.object)), Player: p.playerID(like.liker)},
			Order: social.LikeID(p.ids.At(behind + int64(like.place))),
		})
	}
}

func (p *pcc) fillFeeds(b *social.Batch, from, to int) {
	for i := from; i < to; i++ {
		o, id := p.data.objects[i], p.feedID(i)
		content := fmt.Sprintf(objectTexts[i%len(objectTexts)], o.id)
		b.Feeds = append(b.Feeds, social.BulkFeed{
			Feed: social.Feed{
				ID: id, AuthorID: p.playerID(p.author(i)), Visibility: social.Public,
				Excerpt: content, Whole: true, Version: p.state.FirstID,
			},
			Content: content, Likes: len(o.likers),
		})
		b.External = append(b.External, social.ExternalID{Kind: social.ExternalFeed, External: o.id, ID: int64(id)})
	}
}

func (p *pcc) fillPlayers(b *social.Batch, from, to int) {
	for i := from; i < to; i++ {
		player := p.players[i]
		player.ID, player.JoinedAt, player.Version = p.playerID(uint32(i)), p.joinedAt, p.state.FirstID
		friends := p.offsets[i+1] - p.offsets[i]
		player.Counts = social.PlayerCounts{Feeds: p.feedsOf(i), Fans: friends, Following: friends, Friends: friends}
		b.Players = append(b.Players, player)
		b.External = append(b.External, social.ExternalID{Kind: social.ExternalPlayer, External: p.data.users[i].id, ID: int64(player.ID)})
	}
}

// feedsOf counts a player's feeds, as author spreads them.
func (p *pcc) feedsOf(player int) int {
	players, objects := len(p.data.users), len(p.data.objects)
	n := objects / players
	if player < objects%players {
		n++
	}
	return n
}

// objectTexts are the texts of the feeds, each with the object's id; short enough for an excerpt.
var objectTexts = []string{
	"Found this one today: no. %s. Worth a look!",
	"分享一个新发现，编号 %s，大家觉得怎么样？",
	"No. %s made my evening. Who else has it?",
	"今天又看到 %s，真不错。",
	"Does anybody know more about %s?",
	"收藏了 %s，推荐给朋友们。",
	"%s, as promised. Tell me what you think.",
	"周末和队友一起看 %s，太有意思了！",
}
