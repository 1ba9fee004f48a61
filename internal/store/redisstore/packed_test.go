package redisstore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// FuzzUnpack feeds garbage to every decoder. What one takes must come back when packed again.
func FuzzUnpack(f *testing.F) {
	s := new(Store)
	head := appendHead(nil, 1, 1)
	f.Add(s.Players().pack(head, samplePlayer(1, 1))[headLength:])
	f.Add(s.Details().pack(head, sampleDetail(1, 1))[headLength:])
	f.Add(s.Feeds().pack(head, sampleFeed(1, 1))[headLength:])
	f.Add(s.Bodies().pack(head, sampleBody(1, 1))[headLength:])
	f.Add(s.Counters().pack(head, sampleCounters(1, 1))[headLength:])
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		unpackTwice(t, s.Players(), social.PlayerID(1), data)
		unpackTwice(t, s.Details(), social.PlayerID(1), data)
		unpackTwice(t, s.Feeds(), social.FeedID(1), data)
		unpackTwice(t, s.Bodies(), social.FeedID(1), data)
		unpackTwice(t, s.Counters(), social.FeedID(1), data)
	})
}

func unpackTwice[K ~int64, V any](t *testing.T, e *Entities[K, V], id K, data []byte) {
	v, ok := e.unpack(id, 7, &reader{rest: string(data)})
	if !ok {
		return
	}
	again, ok := e.unpack(id, 7, &reader{rest: string(e.pack(nil, v))})
	require.True(t, ok)
	require.Equal(t, v, again)
}

// FuzzSplitHead feeds garbage to what every value goes through first.
func FuzzSplitHead(f *testing.F) {
	f.Add(string(appendHead(nil, 1, 1)), uint32(1))
	f.Add("", uint32(0))
	f.Fuzz(func(t *testing.T, value string, epoch uint32) {
		version, rest, ok := splitHead(value, epoch)
		if ok {
			require.Equal(t, value, string(appendHead(nil, epoch, version))+rest.rest)
		}
	})
}
