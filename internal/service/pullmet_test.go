package service

import (
	"context"

	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/internal/store/sqlstore"
)

// metStore, metWindow, metHomes and worldPulls are the stores, met before each of their steps.
type metStore struct {
	*sqlstore.Store
	w *pullWorld
}

func (s metStore) TimelineFeeds(ctx context.Context, viewer social.PlayerID, below int64, limit int) ([]social.FeedID, error) {
	s.w.met()
	return s.Store.TimelineFeeds(ctx, viewer, below, limit)
}

func (s metStore) NewestOf(ctx context.Context, author social.PlayerID, limit int) ([]social.FeedID, error) {
	s.w.met()
	return s.Store.NewestOf(ctx, author, limit)
}

func (s metStore) PulledFrom(ctx context.Context, author social.PlayerID) (social.FeedID, error) {
	s.w.met()
	return s.Store.PulledFrom(ctx, author)
}

func (s metStore) PulledOf(ctx context.Context, player social.PlayerID, limit int) ([]social.PlayerID, error) {
	s.w.met()
	return s.Store.PulledOf(ctx, player, limit)
}

func (s metStore) FeedsAbove(ctx context.Context, asks []social.AboveAsk) ([][]social.FeedID, error) {
	s.w.met()
	return s.Store.FeedsAbove(ctx, asks)
}

type metWindow struct {
	*redisstore.Windows
	w *pullWorld
}

func (m metWindow) Push(ctx context.Context, lists []int64, e social.Entry) error {
	m.w.met()
	return m.Windows.Push(ctx, lists, e)
}

func (m metWindow) Merge(ctx context.Context, list int64, entries []social.Entry) error {
	m.w.met()
	return m.Windows.Merge(ctx, list, entries)
}

func (m metWindow) Remove(ctx context.Context, lists, members []int64) error {
	m.w.met()
	return m.Windows.Remove(ctx, lists, members)
}

func (m metWindow) Begin(ctx context.Context, list int64) (string, bool, error) {
	m.w.met()
	return m.Windows.Begin(ctx, list)
}

func (m metWindow) Finish(ctx context.Context, list int64, token string, entries []social.Entry, floor int64) (bool, error) {
	m.w.met()
	return m.Windows.Finish(ctx, list, token, entries, floor)
}

func (m metWindow) Drop(ctx context.Context, lists []int64) error {
	m.w.met()
	return m.Windows.Drop(ctx, lists)
}

func (m metWindow) Above(ctx context.Context, asks []social.AboveAsk) ([]social.WindowPage, error) {
	m.w.met()
	return m.Windows.Above(ctx, asks)
}

type metHomes struct {
	*redisstore.Homes
	w *pullWorld
}

func (m metHomes) Read(ctx context.Context, ask social.WindowAsk) (social.HomeWindow, error) {
	m.w.met()
	return m.Homes.Read(ctx, ask)
}

func (m metHomes) Pull(ctx context.Context, ask social.WindowAsk, feeds []social.Entry, moves []social.PositionMove) (social.HomeWindow, error) {
	m.w.met()
	return m.Homes.Pull(ctx, ask, feeds, moves)
}

type worldPulls struct {
	*sqlstore.Store
	w *pullWorld
}

func (p worldPulls) PullAbove(ctx context.Context, limit int, author social.PlayerID, feed social.FeedID) (social.FeedID, error) {
	p.w.met()
	first, err := p.Store.PullAbove(ctx, limit, author, feed)
	p.w.met()
	return first, err
}

func (p worldPulls) FansOf(ctx context.Context, author, after social.PlayerID, limit int) ([]social.PlayerID, error) {
	p.w.met()
	return p.Store.FansOf(ctx, author, after, limit)
}

func (p worldPulls) Pull(ctx context.Context, fans []social.PlayerID, author social.PlayerID, position social.FeedID) error {
	lists := make([]int64, len(fans))
	for i, fan := range fans {
		lists[i] = int64(fan)
	}
	return metWindow{p.w.cache.Pulls(), p.w}.Push(ctx, lists, social.Entry{Member: int64(author), Key: int64(position)})
}

func (p worldPulls) Listeners(ctx context.Context, part int) ([]social.PlayerID, int, error) {
	return p.w.cache.Logs().Listeners(ctx, part)
}

func (p worldPulls) FansAmong(ctx context.Context, author social.PlayerID, players []social.PlayerID) ([]social.PlayerID, error) {
	return p.w.Relations.FansAmong(ctx, author, players)
}
