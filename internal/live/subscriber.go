package live

import (
	"context"
	"sync"

	"circle/internal/social"
)

// bound is how many items may wait for a subscriber: a whole log that is replayed when it begins, and
// as much again that comes while its client takes that. Who is further behind is better served by
// coming back with his last place, and would only keep memory.
const bound = 512

// subscriber is the queue of one subscription. Nobody who fills it waits.
type subscriber struct {
	// place is behind the last item that was pushed; the Hub's loop alone changes it.
	place social.LogPlace

	mu    sync.Mutex
	queue []social.LiveItem
	end   error
	wake  chan struct{}
}

func newSubscriber(place social.LogPlace) *subscriber {
	return &subscriber{place: place, wake: make(chan struct{}, 1)}
}

// push adds items; false when there is no room for them, which ends the subscription.
func (s *subscriber) push(items []social.LiveItem) bool {
	if len(items) == 0 {
		return true
	}
	s.mu.Lock()
	room := s.end == nil && len(s.queue)+len(items) <= bound
	if room {
		s.queue = append(s.queue, items...)
	}
	s.mu.Unlock()
	if !room {
		s.finish(social.Fail(social.CodeSlowConsumer, "The subscription was ended because its events were not taken. Come back with the last cursor."))
		return false
	}
	signal(s.wake)
	return true
}

// finish ends the subscription with an error, unless it has ended already. What still waits is dropped, so that
// the client hears of the end at once.
func (s *subscriber) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end, s.queue = err, nil
	}
	signal(s.wake)
}

func (s *subscriber) next(ctx context.Context) (social.LiveItem, error) {
	for {
		item, ok, err := s.take()
		if ok || err != nil {
			return item, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return social.LiveItem{}, ctx.Err()
		}
	}
}

func (s *subscriber) take() (item social.LiveItem, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil || len(s.queue) == 0 {
		return social.LiveItem{}, false, s.end
	}
	item = s.queue[0]
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil // gives the memory back
	}
	return item, true, nil
}

// items is what subscribers are told of a read.
func items(read social.LogRead) []social.LiveItem {
	if read.Gap {
		return []social.LiveItem{{Kind: social.LiveGap, Place: read.End}}
	}
	news := make([]social.LiveItem, len(read.Entries))
	for i, entry := range read.Entries {
		place := read.End
		place.Seq -= int64(len(read.Entries) - 1 - i)
		news[i] = social.LiveItem{Kind: social.LiveEvent, Place: place, Entry: entry}
	}
	return news
}
