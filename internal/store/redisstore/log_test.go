package redisstore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

func added(n int) social.LiveEntry {
	return social.LiveEntry{Kind: social.LiveFeedAdded, ID: int64(feedID(n)), Version: int64(feedID(n))}
}

func edited(n, version int) social.LiveEntry {
	return social.LiveEntry{Kind: social.LiveFeedEdited, ID: int64(feedID(n)), Version: int64(feedID(version))}
}

func home(player int64) social.LogID { return social.LogID{Kind: social.LogHome, Of: player} }

func (f fixture) read(t require.TestingT, log social.LogID, after social.LogPlace) social.LogRead {
	reads, err := f.Logs().Read(context.Background(), []social.LogAsk{{Log: log, After: after}})
	require.NoError(t, err)
	require.Len(t, reads, 1)
	return reads[0]
}

// listen begins a log and gives its end.
func (f fixture) listen(t require.TestingT, log social.LogID) social.LogPlace {
	read := f.read(t, log, social.LogPlace{})
	require.NotZero(t, read.End.Epoch)
	require.False(t, read.Gap, "who asks for nothing misses nothing")
	require.Empty(t, read.Entries)
	return read.End
}

func (f fixture) append(t require.TestingT, log social.LogID, entries ...social.LiveEntry) {
	for _, e := range entries {
		listening, err := f.Logs().Append(context.Background(), []social.LogID{log}, e)
		require.NoError(t, err)
		require.Equal(t, []social.LogID{log}, listening)
	}
}

func TestLogs(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, f fixture)
	}{
		{"no log without a listener", func(t *testing.T, f fixture) {
			listening, err := f.Logs().Append(t.Context(), []social.LogID{home(7)}, added(1))
			require.NoError(t, err)
			require.Empty(t, listening)
			require.Zero(t, f.client().Exists(t.Context(), "log:{7}").Val())
		}},
		{"what comes is read once, in order", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			require.Zero(t, place.Seq)
			f.append(t, home(7), added(1), added(2))
			read := f.read(t, home(7), place)
			require.Equal(t, social.LogRead{End: social.LogPlace{Epoch: place.Epoch, Seq: 2}, Entries: []social.LiveEntry{added(1), added(2)}}, read)
			f.append(t, home(7), added(3))
			require.Equal(t, []social.LiveEntry{added(3)}, f.read(t, home(7), read.End).Entries)
			require.Equal(t, []social.LiveEntry{added(2), added(3)}, f.read(t, home(7), social.LogPlace{Epoch: place.Epoch, Seq: 1}).Entries)
			require.Equal(t, social.LogPlace{Epoch: place.Epoch, Seq: 3}, f.listen(t, home(7)), "who listens again finds the log as it is")
		}},
		{"a doubled event is one entry, a second edit another", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			f.append(t, home(7), added(1), edited(1, 2), added(1), edited(1, 2), edited(1, 3), added(1))
			require.Equal(t, []social.LiveEntry{added(1), edited(1, 2), edited(1, 3)}, f.read(t, home(7), place).Entries)
		}},
		{"many changes of counters are one entry an interval", func(t *testing.T, f fixture) {
			log := social.LogID{Kind: social.LogFeed, Of: 7}
			counters := social.LiveEntry{Kind: social.LiveCounters}
			place, began := f.listen(t, log), time.Now()
			for range 50 {
				f.append(t, log, counters)
			}
			most := 2 + int(time.Since(began)/social.CountersInterval)
			entries := f.read(t, log, place).Entries
			require.NotEmpty(t, entries)
			require.LessOrEqual(t, len(entries), most)
			for _, e := range entries {
				require.Equal(t, counters, social.LiveEntry{Kind: e.Kind, ID: e.ID})
			}
			require.Eventually(t, func() bool {
				f.append(t, log, counters)
				return len(f.read(t, log, place).Entries) > len(entries)
			}, 10*time.Second, 10*time.Millisecond, "a later interval has its own")
		}},
		{"the newest are kept", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			for n := range logLength + 1 {
				f.append(t, home(7), added(n))
			}
			require.EqualValues(t, logLength+1, f.client().ZCard(t.Context(), "log:{7}").Val(), "the entries and the mark")
			all := f.read(t, home(7), social.LogPlace{Epoch: place.Epoch, Seq: 1})
			require.Len(t, all.Entries, logLength)
			require.Equal(t, added(1), all.Entries[0])
			require.Equal(t, social.LogRead{Gap: true, End: all.End}, f.read(t, home(7), place))
		}},
		{"places that can't be are gaps", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			f.append(t, home(7), added(1))
			for _, p := range []social.LogPlace{{Epoch: place.Epoch + 1, Seq: 0}, {Epoch: place.Epoch, Seq: 2}, {Seq: 1}} {
				read := f.read(t, home(7), p)
				require.Equal(t, social.LogRead{Gap: true, End: social.LogPlace{Epoch: place.Epoch, Seq: 1}}, read, "%v", p)
			}
		}},
		{"a reset is a gap", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			f.append(t, home(7), added(1))
			require.NoError(t, f.Logs().Reset(t.Context(), []social.LogID{home(6), home(7), home(8)}))
			read := f.read(t, home(7), place)
			require.True(t, read.Gap)
			require.NotEqual(t, place.Epoch, read.End.Epoch)
			f.append(t, home(7), added(1))
			require.Equal(t, []social.LiveEntry{added(1)}, f.read(t, home(7), read.End).Entries)
		}},
		{"a raised epoch of the role's values is none", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			f.append(t, home(7), added(1))
			f.SetEpochs(map[string]uint32{string(Feed): 2})
			require.Equal(t, []social.LiveEntry{added(1)}, f.read(t, home(7), place).Entries)
		}},
		{"a log that went back and caught up is a gap once the epoch of logs has risen", func(t *testing.T, f fixture) {
			f.listen(t, home(7))
			f.append(t, home(7), added(1))
			old, err := f.client().ZRangeWithScores(t.Context(), "log:{7}", 0, -1).Result()
			require.NoError(t, err)
			f.append(t, home(7), added(2))
			place := f.listen(t, home(7))
			require.NoError(t, f.client().Del(t.Context(), "log:{7}").Err())
			require.NoError(t, f.client().ZAdd(t.Context(), "log:{7}", old...).Err())
			f.append(t, home(7), added(3))
			f.SetEpochs(map[string]uint32{"log": 2})
			<-f.Logs().Ended()
			require.True(t, f.read(t, home(7), place).Gap)
		}},
		{"a raised epoch of logs is a gap, once", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			ahead := open(t, f.config)
			ahead.SetEpochs(map[string]uint32{"log": 2})
			reads, err := ahead.Logs().Read(t.Context(), []social.LogAsk{{Log: home(7), After: place}})
			require.NoError(t, err)
			require.True(t, reads[0].Gap)
			require.NotEqual(t, place.Epoch, reads[0].End.Epoch)
			require.Equal(t, social.LogRead{End: reads[0].End}, f.read(t, home(7), reads[0].End), "who is behind takes the log as it is")
		}},
		{"reads keep the log, appends don't", func(t *testing.T, f fixture) {
			f.listen(t, home(7))
			left := func() time.Duration { return f.client().TTL(t.Context(), "log:{7}").Val() }
			require.Equal(t, 10*time.Minute, left())
			for _, ttl := range []time.Duration{9*time.Minute + 30*time.Second, 8 * time.Minute} {
				require.NoError(t, f.client().Expire(t.Context(), "log:{7}", ttl).Err())
				f.append(t, home(7), added(1))
				require.Equal(t, ttl, left())
				f.listen(t, home(7))
			}
			require.Equal(t, 10*time.Minute, left())
		}},
	} {
		t.Run(c.name, func(t *testing.T) { everywhere(t, c.test) })
	}
}

func TestManyLogsTakeOneTrip(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		const most = 2*keysPerCall + 50
		var all, listening []social.LogID
		var asks []social.LogAsk
		for n := range int64(most) {
			log := social.LogID{Kind: social.LogKind(n % 3), Of: n/3 + 1}
			all = append(all, log)
			if n%5 == 0 {
				listening, asks = append(listening, log), append(asks, social.LogAsk{Log: log})
			}
		}
		logs := f.Logs()
		reads, err := logs.Read(t.Context(), asks)
		require.NoError(t, err)
		for i := range reads {
			asks[i].After = reads[i].End
		}
		_, err = logs.Append(t.Context(), all, added(1)) // the scripts are there now
		require.NoError(t, err)

		before := f.trips.count.Load()
		heard, err := logs.Append(t.Context(), all, added(2))
		require.NoError(t, err)
		require.Equal(t, listening, heard)
		reads, err = logs.Read(t.Context(), asks)
		require.NoError(t, err)
		require.EqualValues(t, 2, f.trips.count.Load()-before)
		for i, read := range reads {
			require.Equal(t, []social.LiveEntry{added(1), added(2)}, read.Entries, "log %v", asks[i].Log)
		}
	})
}

// TestLogsAgainstAModel holds readers at any place against a plain list of what was appended.
func TestLogsAgainstAModel(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		next := int64(100)
		rapid.Check(t, func(t *rapid.T) {
			next++
			id := social.LogID{Kind: social.LogKind(next % 3), Of: next}
			end := f.listen(t, id)
			var log []social.LiveEntry
			readers := []social.LogPlace{end}
			t.Repeat(map[string]func(*rapid.T){
				"append new ones": func(t *rapid.T) {
					for range rapid.SampledFrom([]int{1, 2, 90}).Draw(t, "entries") {
						e := added(len(log))
						f.append(t, id, e)
						log = append(log, e)
					}
				},
				"append one of the log again": func(t *rapid.T) {
					if len(log) > 0 {
						f.append(t, id, log[rapid.IntRange(max(0, len(log)-logLength), len(log)-1).Draw(t, "entry")])
					}
				},
				"read": func(t *rapid.T) {
					i := rapid.IntRange(0, len(readers)-1).Draw(t, "reader")
					from := int(readers[i].Seq)
					read := f.read(t, id, readers[i])
					gap := readers[i].Epoch != end.Epoch || len(log)-from > logLength
					require.Equal(t, gap, read.Gap)
					require.EqualValues(t, len(log), read.End.Seq)
					if !gap {
						require.Equal(t, log[from:], append(log[:0:0], read.Entries...))
					}
					readers[i], end = read.End, read.End
				},
				"come": func(*rapid.T) { readers = append(readers, f.listen(t, id)) },
				"reset": func(t *rapid.T) {
					require.NoError(t, f.Logs().Reset(context.Background(), []social.LogID{id}))
					log, end = nil, f.listen(t, id)
				},
			})
		})
	})
}

// told waits for the next notice.
func told(t *testing.T, n *Notices) social.LogID {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	log, err := n.Receive(ctx)
	require.NoError(t, err)
	return log
}

func TestNotices(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		n := f.Notices()
		defer func() { require.NoError(t, n.Close()) }()
		writer := fixture{Store: open(t, f.config)}
		one, two, three := home(7), social.LogID{Kind: social.LogInbox, Of: 7}, social.LogID{Kind: social.LogFeed, Of: 7}
		for _, log := range []social.LogID{one, two, three, home(8)} {
			f.listen(t, log)
		}
		require.NoError(t, n.Subscribe(t.Context(), one, two, three))
		require.ElementsMatch(t, []social.LogID{one, two, three}, []social.LogID{told(t, n), told(t, n), told(t, n)}, "each once subscribed")

		writer.append(t, home(8), added(1))
		writer.append(t, two, added(1), added(1))
		writer.append(t, three, added(1))
		require.Equal(t, []social.LogID{two, three}, []social.LogID{told(t, n), told(t, n)}, "what was appended, and nothing else")

		require.NoError(t, writer.Logs().Reset(t.Context(), []social.LogID{one}))
		require.Equal(t, one, told(t, n))

		require.NoError(t, n.Unsubscribe(t.Context(), two))
		for i, told3 := 2, false; !told3; i++ { // the server takes it in its own time
			writer.append(t, two, added(i))
			writer.append(t, three, added(i))
			if told3 = told(t, n) == three; !told3 {
				require.Equal(t, three, told(t, n))
			}
		}

		require.NoError(t, n.renew(t.Context()))
		require.ElementsMatch(t, []social.LogID{one, three}, []social.LogID{told(t, n), told(t, n)}, "each again after a reconnection")
	})
}

func TestNoticesComeBackAfterALostConnection(t *testing.T) {
	for name, lose := range map[string]func(*gate){
		"cut":    func(g *gate) { g.hang(false) },
		"silent": func(g *gate) { g.silence() },
	} {
		t.Run(name, func(t *testing.T) {
			embedded, err := StartEmbedded(t.Context())
			require.NoError(t, err)
			t.Cleanup(embedded.Close)
			direct := newFixture(t, Config{URLs: OneURL(embedded.URL()), Plain: true})
			g := newGate(t, embedded.server.Addr())
			g.hang(false)
			through := strings.Replace(embedded.URL(), embedded.server.Addr(), g.Addr().String(), 1)
			n := open(t, Config{URLs: OneURL(through), Plain: true}).Notices()
			n.silence = 100 * time.Millisecond
			defer func() { require.NoError(t, n.Close()) }()

			direct.listen(t, home(1))
			require.NoError(t, n.Subscribe(t.Context(), home(1)))
			require.Equal(t, home(1), told(t, n))
			lose(g)
			require.Eventually(t, func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				log, err := n.Receive(ctx)
				return err == nil && log == home(1)
			}, 20*time.Second, time.Millisecond, "what came meanwhile was not noticed")
			direct.append(t, home(1), added(1))
			require.Equal(t, home(1), told(t, n))
		})
	}
}

func TestACloseEndsAReceiveAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		n := f.Notices()
		require.NoError(t, n.Subscribe(t.Context(), home(1)))
		told(t, n)
		ended := make(chan error)
		go func() {
			_, err := n.Receive(context.Background())
			ended <- err
		}()
		require.NoError(t, n.Close())
		require.Error(t, <-ended)
		_, err := n.Receive(t.Context())
		require.Error(t, err)
		require.NoError(t, n.renew(t.Context()), "nothing is opened again")
	})
}

func TestEntriesOfLaterVersionsKeepTheirPlace(t *testing.T) {
	for _, s := range []string{"", "a", "a1", "a1.", "a.1", "ax.1", "a1.y"} {
		require.Equal(t, social.LiveEntry{}, unpackEntry(s), s)
	}
	e := social.LiveEntry{Kind: 'z', ID: social.MaxID, Version: social.MaxID}
	require.Equal(t, e, unpackEntry(packEntry(e)))
	require.Equal(t, fmt.Sprintf("z%d.%d", social.MaxID, social.MaxID), packEntry(e))
}
