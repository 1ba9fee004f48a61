package redisstore

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

const (
	// tripAfter is how many calls in a row must fail before a node is left alone.
	tripAfter = 3
	// openFor is how long it is left alone before one call tries it again.
	openFor = 500 * time.Millisecond
	// probeTimeout bounds that call, so that nobody waits long for a node that still hangs.
	probeTimeout = 100 * time.Millisecond
)

// breaker is a hook on the client of one node. When the node is away or hangs, calls fail at once
// instead of each waiting for its own timeout. It is a hook and not a redis.Limiter because a
// Limiter is told results without being told whose they are.
type breaker struct {
	circuit *gobreaker.CircuitBreaker[struct{}]
	// failed, if set, is told of failures to reach the node.
	failed func(context.Context)
}

var errAbandoned = errors.New("the node was not asked to the end")

func newBreaker(node string, log *slog.Logger, failed func(context.Context)) *breaker {
	return &breaker{failed: failed, circuit: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         node,
		Timeout:      openFor,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		IsSuccessful: answered,
		IsExcluded:   func(err error) bool { return errors.Is(err, errAbandoned) },
		OnStateChange: func(node string, from, to gobreaker.State) {
			switch {
			case from == gobreaker.StateClosed:
				log.Warn("redis is away, going on without it", "node", node)
			case to == gobreaker.StateClosed:
				log.Info("redis is back", "node", node)
			}
		},
	})}
}

// answered says that the node gave an answer, if only a refusal.
func answered(err error) bool {
	var reply redis.Error
	return err == nil || errors.As(err, &reply)
}

// inconclusive says that a failure is not the node's.
func inconclusive(ctx context.Context, err error) bool {
	return !answered(err) && (ctx.Err() != nil || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted))
}

// refusal says that the breaker has let nothing through.
func refusal(err error) bool {
	return errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
}

// A call that needs a new connection makes the handshake's calls, which pass the same hooks.
type insideKey struct{}

func isHandshake(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// run calls the node unless it is to be left alone. A failure after the caller's own context has
// ended says nothing of the node, nor does waiting in vain for a connection that others use: if the
// node hangs, it is they who tell. Handshakes count as a part of the call that needs them.
func (b *breaker) run(ctx context.Context, call func(ctx context.Context) error) error {
	if isHandshake(ctx) {
		return call(ctx)
	}
	var result error
	_, refused := b.circuit.Execute(func() (struct{}, error) {
		inside := context.WithValue(ctx, insideKey{}, true)
		if b.circuit.State() == gobreaker.StateHalfOpen {
			probe, cancel := context.WithTimeout(inside, probeTimeout)
			defer cancel()
			inside = probe
		}
		result = call(inside)
		if inconclusive(ctx, result) {
			return struct{}{}, errAbandoned
		}
		return struct{}{}, result
	})
	if refusal(refused) {
		return refused
	}
	if b.failed != nil && !answered(result) && !inconclusive(ctx, result) {
		b.failed(ctx)
	}
	return result
}

// DialHook leaves dialling as it is.
func (b *breaker) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook guards single commands.
func (b *breaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return b.run(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook guards pipelines.
func (b *breaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := b.run(ctx, func(ctx context.Context) error { return next(ctx, cmds) })
		if refusal(err) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		}
		return err
	}
}
