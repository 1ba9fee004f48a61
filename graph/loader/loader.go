// Package loader gathers what the fields of one answer ask for into bulk reads. A set of loaders
// serves one answer, or one event of a subscription, and one viewer; it is never shared further.
package loader

import (
	"context"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"circle/internal/service"
	"circle/internal/social"
)

const (
	// wait is how long the first to ask waits for others. Fields of one level ask within
	// microseconds of each other; the kernel rounds up to about a millisecond.
	wait = 200 * time.Microsecond
	// capacity bounds one bulk read: 100 feeds a page with 100 likers each.
	capacity = 10_000
	// timeout bounds a bulk read, which goes on when the one who asked first goes away.
	timeout = 10 * time.Second
)

// Loaders are the bulk reads of one answer.
type Loaders struct {
	// Players are those who stand where the viewer was found to see them.
	Players *Loader[social.PlayerID, *social.Player]
	// Known are players who are asked for alone; nil for those who are not there for the viewer.
	Known     *Loader[social.PlayerID, *social.Player]
	Details   *Loader[social.PlayerID, *social.PlayerDetail]
	Relations *Loader[social.PlayerID, social.Relation]
	Feeds     *Loader[social.FeedID, *social.Feed]
	Counters  *Loader[social.FeedID, *social.FeedCounters]
	Liked     *Loader[social.FeedID, bool]
	Contents  *Loader[*social.Feed, string]
	Likes     *Loader[social.LikeKey, *social.Like]
	Reports   *Loader[social.ReportID, *social.Report]
	// Reported are the things that reports name, whoever may see them: only reports lead there.
	Reported   *Loader[social.Target, any]
	Likers     *Loader[service.LikersAsk, service.LikersPage]
	LikeFriend *Loader[social.FeedID, int]
	Comments   *Loader[social.CommentID, *social.Comment]
	Threads    *Loader[service.CommentsAsk, social.Page[*social.Comment]]
	Lists      *Loader[service.PlayerListAsk, social.Page[social.PlayerEdge]]
	Profiles   *Loader[service.ProfileAsk, social.Page[service.FeedEntry]]
	Messages   *Loader[social.MessageID, *social.Message]
	ReadAts    *Loader[*social.Message, *time.Time]
	// Conversations are the viewer's, by peer.
	Conversations     *Loader[social.PlayerID, *social.Conversation]
	ConversationPages *Loader[service.ConversationPageAsk, social.Page[*social.Message]]
}

// New makes the loaders of one answer to the viewer.
func New(s *service.Services, viewer social.Viewer) *Loaders {
	l := &Loaders{
		Players: newLoader(s.Players.ByIDs),
		Relations: newLoader(func(ctx context.Context, ids []social.PlayerID) (map[social.PlayerID]social.Relation, error) {
			return s.Relations.Of(ctx, viewer, ids)
		}),
		Feeds: newLoader(func(ctx context.Context, ids []social.FeedID) (map[social.FeedID]*social.Feed, error) {
			return s.Feeds.Visible(ctx, viewer, ids)
		}),
		Counters: newLoader(s.Feeds.Counters),
		Liked: newLoader(func(ctx context.Context, ids []social.FeedID) (map[social.FeedID]bool, error) {
			return s.Likes.Liked(ctx, viewer, ids)
		}),
		Contents: newLoader(func(ctx context.Context, feeds []*social.Feed) (map[*social.Feed]string, error) {
			return contents(ctx, s.Feeds, feeds)
		}),
		Likes: newLoader(func(ctx context.Context, keys []social.LikeKey) (map[social.LikeKey]*social.Like, error) {
			return s.Likes.ByKeys(ctx, viewer, keys)
		}),
		LikeFriend: newLoader(func(ctx context.Context, ids []social.FeedID) (map[social.FeedID]int, error) {
			return s.Likes.FriendCounts(ctx, viewer, ids)
		}),
		Profiles: newLoader(func(ctx context.Context, asks []service.ProfileAsk) (map[service.ProfileAsk]social.Page[service.FeedEntry], error) {
			return s.Feeds.Profiles(ctx, viewer, asks)
		}),
		ReadAts: newLoader(s.Messages.ReadAts),
		Conversations: newLoader(func(ctx context.Context, peers []social.PlayerID) (map[social.PlayerID]*social.Conversation, error) {
			return s.Messages.With(ctx, viewer, peers)
		}),
	}
	l.withPeople(s, viewer)
	return l
}

// withPeople makes the loaders that judge by what players are to the viewer, and so read these along.
func (l *Loaders) withPeople(s *service.Services, viewer social.Viewer) {
	l.Known = newLoader(func(ctx context.Context, ids []social.PlayerID) (map[social.PlayerID]*social.Player, error) {
		people, err := s.Relations.Known(ctx, viewer, ids)
		l.PrimePeople(ctx, people)
		return people.Players, err
	})
	l.Details = newLoader(func(ctx context.Context, ids []social.PlayerID) (map[social.PlayerID]*social.PlayerDetail, error) {
		relations, err := l.Relations.LoadMap(ctx, ids)
		if err != nil {
			return nil, err
		}
		return s.Players.Details(ctx, ids, relations)
	})
	l.Reports = newLoader(func(ctx context.Context, ids []social.ReportID) (map[social.ReportID]*social.Report, error) {
		return s.Moderation.ByIDs(ctx, viewer, ids)
	})
	l.Reported = newLoader(func(ctx context.Context, targets []social.Target) (map[social.Target]any, error) {
		content, err := s.Moderation.Content(ctx, viewer, targets)
		if err != nil {
			return nil, err
		}
		return l.reported(ctx, content), nil
	})
	l.Comments = newLoader(func(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
		found, people, err := s.Comments.ByIDs(ctx, viewer, ids)
		l.PrimePeople(ctx, people)
		return found, err
	})
	l.Threads = newLoader(func(ctx context.Context, asks []service.CommentsAsk) (map[service.CommentsAsk]social.Page[*social.Comment], error) {
		pages, people, err := s.Comments.Pages(ctx, viewer, asks)
		l.PrimePeople(ctx, people)
		return pages, err
	})
	l.Likers = newLoader(func(ctx context.Context, asks []service.LikersAsk) (map[service.LikersAsk]service.LikersPage, error) {
		pages, people, err := s.Likes.Likers(ctx, viewer, asks)
		l.PrimePeople(ctx, people)
		return pages, err
	})
	l.Lists = newLoader(func(ctx context.Context, asks []service.PlayerListAsk) (map[service.PlayerListAsk]social.Page[social.PlayerEdge], error) {
		pages, people, err := s.Relations.Lists(ctx, viewer, asks)
		l.PrimePeople(ctx, people)
		return pages, err
	})
	l.Messages = newLoader(func(ctx context.Context, ids []social.MessageID) (map[social.MessageID]*social.Message, error) {
		found, people, err := s.Messages.Visible(ctx, viewer, ids)
		l.PrimePeople(ctx, people)
		return found, err
	})
	l.ConversationPages = newLoader(func(ctx context.Context, asks []service.ConversationPageAsk) (map[service.ConversationPageAsk]social.Page[*social.Message], error) {
		pages, people, err := s.Messages.Pages(ctx, viewer, asks)
		l.PrimePeople(ctx, people)
		return pages, err
	})
}

// PrimePeople notes players, and what they are to the viewer, that were read along with something else.
func (l *Loaders) PrimePeople(ctx context.Context, people social.People) {
	for id, player := range people.Players {
		l.Players.Prime(ctx, id, player)
		l.Relations.Prime(ctx, id, people.Relations[id])
	}
}

func contents(ctx context.Context, feeds *service.Feeds, asked []*social.Feed) (map[*social.Feed]string, error) {
	byID, err := feeds.Contents(ctx, asked)
	if err != nil {
		return nil, err
	}
	out := make(map[*social.Feed]string, len(asked))
	for _, feed := range asked {
		out[feed] = byID[feed.ID]
	}
	return out, nil
}

// Fetch is a bulk read; keys that it does not know are absent from its answer.
type Fetch[K comparable, V any] func(ctx context.Context, keys []K) (map[K]V, error)

// Loader gathers single reads of one kind into bulk reads and remembers what came of them.
type Loader[K comparable, V any] struct{ loads *dataloader.Loader[K, V] }

func newLoader[K comparable, V any](fetch Fetch[K, V]) *Loader[K, V] {
	batch := func(ctx context.Context, keys []K) []*dataloader.Result[V] {
		// One asker's end must not fail the others who wait for the same read.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		found, err := fetch(ctx, keys)
		results := make([]*dataloader.Result[V], len(keys))
		for i, k := range keys {
			results[i] = &dataloader.Result[V]{Data: found[k], Error: err}
		}
		return results
	}
	return &Loader[K, V]{dataloader.NewBatchedLoader(batch, dataloader.WithWait[K, V](wait), dataloader.WithBatchCapacity[K, V](capacity))}
}

// Load reads one; the zero value when it is unknown.
func (l *Loader[K, V]) Load(ctx context.Context, key K) (V, error) {
	return l.loads.Load(ctx, key)()
}

// LoadAll reads several, in the order asked.
func (l *Loader[K, V]) LoadAll(ctx context.Context, keys []K) ([]V, error) {
	thunks := make([]dataloader.Thunk[V], len(keys))
	for i, k := range keys {
		thunks[i] = l.loads.Load(ctx, k)
	}
	values := make([]V, len(keys))
	for i, thunk := range thunks {
		v, err := thunk()
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// LoadMap reads several.
func (l *Loader[K, V]) LoadMap(ctx context.Context, keys []K) (map[K]V, error) {
	values, err := l.LoadAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[K]V, len(keys))
	for i, key := range keys {
		found[key] = values[i]
	}
	return found, nil
}

// Prime notes a value that was read on another way, so that it is not read again.
func (l *Loader[K, V]) Prime(ctx context.Context, key K, value V) {
	l.loads.Clear(ctx, key).Prime(ctx, key, value)
}

type contextKey struct{}

// With returns a context that carries the loaders.
func With(ctx context.Context, l *Loaders) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From gives the context's loaders. Answers are always made below With.
func From(ctx context.Context) *Loaders {
	return ctx.Value(contextKey{}).(*Loaders)
}
