package redisstore

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// strings reads strings in one trip, in the order of keys; one that is absent is empty.
func (s *server) strings(ctx context.Context, keys []string) ([]string, error) {
	if s.single {
		values, err := s.client.MGet(ctx, keys...).Result()
		if err != nil {
			return nil, err
		}
		return present(values), nil
	}
	pipe := s.client.Pipeline()
	replies := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		replies[i] = pipe.Get(ctx, key)
	}
	// Exec's error is the first reply's; each reply is looked at below.
	_, _ = pipe.Exec(ctx)
	values := make([]string, len(keys))
	for i, reply := range replies {
		value, err := reply.Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

// fields reads fields of hashes in one trip, in the order of asks; one that is absent is empty.
func (s *server) fields(ctx context.Context, asks []fieldsAsk) ([][]string, error) {
	pipe := s.client.Pipeline()
	replies := make([]*redis.SliceCmd, len(asks))
	for i, ask := range asks {
		replies[i] = pipe.HMGet(ctx, ask.key, ask.fields...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	values := make([][]string, len(asks))
	for i, reply := range replies {
		values[i] = present(reply.Val())
	}
	return values, nil
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
