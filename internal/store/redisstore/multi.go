package redisstore

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// strings reads strings in one trip, in the order of keys; one that is absent is empty.
func (s *server) strings(ctx context.Context, keys []string) ([]string, error) {
	pipe := s.client.Pipeline()
	read := s.queueStrings(ctx, pipe, keys)
	// Exec's error is the first reply's; each reply is looked at by itself.
	_, _ = pipe.Exec(ctx)
	return read()
}

// queueStrings puts the reading of strings into a pipeline; the function it returns is for after that.
func (s *server) queueStrings(ctx context.Context, pipe redis.Pipeliner, keys []string) func() ([]string, error) {
	if s.single {
		reply := pipe.MGet(ctx, keys...)
		return func() ([]string, error) { return present(reply.Val()), reply.Err() }
	}
	replies := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		replies[i] = pipe.Get(ctx, key)
	}
	return func() ([]string, error) {
		values := make([]string, len(keys))
		for i, reply := range replies {
			if err := reply.Err(); err != nil && !errors.Is(err, redis.Nil) {
				return nil, err
			}
			values[i] = reply.Val()
		}
		return values, nil
	}
}

// fields reads fields of hashes in one trip, in the order of asks; one that is absent is empty.
func (s *server) fields(ctx context.Context, asks []fieldsAsk) ([][]string, error) {
	pipe := s.client.Pipeline()
	read := queueFields(ctx, pipe, asks)
	_, _ = pipe.Exec(ctx)
	return read()
}

// queueFields puts the reading of fields into a pipeline; the function it returns is for after that.
func queueFields(ctx context.Context, pipe redis.Pipeliner, asks []fieldsAsk) func() ([][]string, error) {
	replies := make([]*redis.SliceCmd, len(asks))
	for i, ask := range asks {
		replies[i] = pipe.HMGet(ctx, ask.key, ask.fields...)
	}
	return func() ([][]string, error) {
		values := make([][]string, len(asks))
		for i, reply := range replies {
			if err := reply.Err(); err != nil {
				return nil, err
			}
			values[i] = present(reply.Val())
		}
		return values, nil
	}
}

// fieldsAsk asks for fields of one hash.
type fieldsAsk struct {
	key    string
	fields []string
}

func present(replies []any) []string {
	values := make([]string, len(replies))
	for i, reply := range replies {
		values[i], _ = reply.(string)
	}
	return values
}
