package social

import (
	"context"
	"sync/atomic"
)

type streamEndKey struct{}

// WithStreamEnd returns the context of a subscription, and what tells the error that it was ended
// with; nil as long as there is none.
func WithStreamEnd(ctx context.Context) (_ context.Context, ended func() error) {
	reason := &atomic.Pointer[error]{}
	return context.WithValue(ctx, streamEndKey{}, reason), func() error {
		if err := reason.Load(); err != nil {
			return *err
		}
		return nil
	}
}

// EndStream says why the subscription of ctx ends. The client is told of the error, as of any other,
// when the events that went before have been sent: call it, then close the channel of events. Only the
// first error counts. Outside a subscription nothing happens.
func EndStream(ctx context.Context, err error) {
	if reason, ok := ctx.Value(streamEndKey{}).(*atomic.Pointer[error]); ok {
		reason.CompareAndSwap(nil, &err)
	}
}
