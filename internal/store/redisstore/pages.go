package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"circle/internal/social"
)

// trip gathers reads of one server into one round trip.
type trip struct {
	server *server
	pipe   redis.Pipeliner
	// scripts are the calls with their replies, which are kept where the script ran.
	scripts []queued
}

type queued struct {
	call  *call
	reply *redis.Cmd
}

func (s *server) trip() *trip { return &trip{server: s, pipe: s.client.Pipeline()} }

// queue adds calls of reading scripts. Those that a node refuses for want of the script have no reply
// afterwards, and run by themselves when they are asked for.
func (t *trip) queue(ctx context.Context, calls []call) {
	for i := range calls {
		c := &calls[i]
		t.scripts = append(t.scripts, queued{c, c.script.EvalShaRO(ctx, t.pipe, c.keys, c.args...)})
	}
}

func (t *trip) run(ctx context.Context) {
	if t.pipe.Len() == 0 {
		return
	}
	// Each reply is looked at by itself.
	_, _ = t.pipe.Exec(ctx)
	for _, q := range t.scripts {
		if q.reply.Err() == nil {
			q.call.reply = q.reply.Val()
		}
	}
}

// Cards reads heads and counters of feeds and whether the viewer likes them in one trip. Of the
// anonymous viewer, 0, nothing is asked.
func (s *Store) Cards(ctx context.Context, viewer social.PlayerID, ids []social.FeedID) (social.Cards, error) {
	if len(ids) == 0 {
		return social.Cards{}, nil
	}
	feeds, counters, liked := s.Feeds(), s.Counters(), s.Liked()
	keys := make([]string, 0, 2*len(ids))
	members := make([]int64, len(ids))
	for i, id := range ids {
		keys = append(keys, feedKeys.key(int64(id)))
		members[i] = int64(id)
	}
	for _, id := range ids {
		keys = append(keys, countKeys.key(int64(id)))
	}
	t := feeds.server().trip()
	read := t.server.queueStrings(ctx, t.pipe, keys)
	var calls []call
	asks := membersOf(int64(viewer), members)
	if viewer != 0 {
		calls = liked.memberCalls(asks)
		t.queue(ctx, calls)
	}
	t.run(ctx)
	values, err := read()
	if err != nil {
		return social.Cards{}, away("get cards", err)
	}
	cards := social.Cards{Heads: feeds.open(ids, values[:len(ids)]), Counters: counters.open(ids, values[len(ids):])}
	if viewer == 0 {
		return cards, nil
	}
	pieces, state, err := liked.has(ctx, calls, asks)
	cards.LikedAbsent = state.wanted
	cards.Liked = make(map[social.FeedID]bool, len(ids))
	for i, m := range together(pieces).Answers {
		if m.Presence != social.PresenceUnknown {
			cards.Liked[ids[i]] = m.Presence == social.PresenceYes
		}
	}
	return cards, err
}

// related are the lists that tell what players are to a viewer.
var related = []social.RelationList{
	social.ListFollowing, social.ListFans, social.ListBlocked, social.ListBlockers, social.ListMuted,
}

// People reads the simple info of the players in infos, and what those in relations are to the viewer,
// in one trip, or in one to each of the two deployments at once.
func (s *Store) People(ctx context.Context, viewer social.PlayerID, infos, relations []social.PlayerID) (social.People, error) {
	players := s.Players()
	members := make([]int64, len(relations))
	for i, id := range relations {
		members[i] = int64(id)
	}
	asks, asked := players.asks(infos)
	first := players.server().trip()
	second := first
	if following := s.Following().one.server(); following != first.server {
		second = following.trip()
	}
	read := queueFields(ctx, first.pipe, asks)
	questions := make([]*question, len(related))
	for i, list := range related {
		questions[i] = s.splits[list].question(int64(viewer), members)
		second.queue(ctx, questions[i].calls)
	}
	runBoth(ctx, first, second)

	values, err := read()
	if err != nil {
		return social.People{}, away("get people", err)
	}
	people := social.People{Players: players.openFields(asked, values)}
	var among [][]social.Membership
	for i, q := range questions {
		answers, wanted, err := q.answer(ctx)
		if err != nil {
			return people, err
		}
		if wanted {
			people.Absent = append(people.Absent, related[i])
		}
		among = append(among, answers)
	}
	people.Relations = relationsOf(relations, among)
	return people, nil
}

// relationsOf tells what players are to a viewer, by who is in which of the related lists. Of whom one of these
// can't tell nothing is told.
func relationsOf(players []social.PlayerID, among [][]social.Membership) map[social.PlayerID]social.Relation {
	relations := make(map[social.PlayerID]social.Relation, len(players))
	for i, player := range players {
		edge, known := social.Edge{}, true
		for j, in := range []*social.EdgeID{&edge.Following, &edge.Fan, &edge.Block, &edge.Blocked, &edge.Mute} {
			known = known && among[j][i].Presence != social.PresenceUnknown
			*in = social.EdgeID(among[j][i].Key)
		}
		if known {
			relations[player] = edge.Relation()
		}
	}
	return relations
}

// friendsAtOnce is how many of the viewer's friends are read along with likers: most players have no more.
const friendsAtOnce = 256

// Likers reads a piece of the likers of each feed, and the viewer's first friends, in one trip, or in one
// to each of the two deployments at once. Of the anonymous viewer, 0, no friends are read.
func (s *Store) Likers(ctx context.Context, viewer social.PlayerID, asks []social.WindowAsk) (social.Likers, error) {
	likes, friends := s.Likes(), s.Friends()
	var who []social.WindowAsk
	if viewer != 0 {
		ask := social.WindowAsk{ID: int64(viewer), After: social.MaxID + 1, Limit: friendsAtOnce}
		if friends.long.Contains(ask.ID) {
			// Each part would be asked for that many.
			ask.Limit = 0
		}
		who = append(who, ask)
	}
	first := likes.server().trip()
	second := first
	if friends.one.server() != first.server {
		second = friends.one.server().trip()
	}
	calls, reading := likes.pageCalls(asks), friends.reading(who)
	first.queue(ctx, calls)
	second.queue(ctx, reading.calls)
	runBoth(ctx, first, second)

	replies, err := likes.ask(ctx, "read", calls)
	if err != nil {
		return social.Likers{}, err
	}
	var found social.Likers
	var aging []int64
	found.Pages, aging = likes.pages(asks, replies)
	likes.prolong(ctx, aging)
	pages, err := reading.answer(ctx)
	if len(pages) > 0 {
		found.Friends = pages[0]
	}
	return found, err
}

// runBoth runs two trips at once, or one when they are the same.
func runBoth(ctx context.Context, first, second *trip) {
	if first == second {
		first.run(ctx)
		return
	}
	var both errgroup.Group
	both.Go(func() error { first.run(ctx); return nil })
	both.Go(func() error { second.run(ctx); return nil })
	_ = both.Wait()
}
