package sqlstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// send is what sending does, without its event.
func (f fixture) send(ctx context.Context, id social.MessageID, from, to social.PlayerID, text string) error {
	return f.InTx(ctx, func(tx *sqlstore.Tx) error {
		mine, theirs, err := tx.LockConversation(ctx, social.ConversationKey{Player: from, Peer: to})
		if err != nil {
			return err
		}
		mine.Sent++
		theirs.Sent = mine.Sent
		mine.Last, theirs.Last = max(mine.Last, id), max(theirs.Last, id)
		theirs.Unread++
		if err := tx.InsertMessage(ctx, social.Message{ID: id, Sender: from, Recipient: to, Number: mine.Sent, Content: text}); err != nil {
			return err
		}
		return tx.SaveConversation(ctx, mine, theirs)
	})
}

func TestMessageRows(t *testing.T) {
	each(t, func(f fixture) {
		ctx, long := f.t.Context(), strings.Repeat("长 long ", 700)
		require.NoError(f.t, f.send(ctx, 100, 2, 1, "one"))
		require.NoError(f.t, f.send(ctx, 101, 1, 2, long))
		require.NoError(f.t, f.send(ctx, 102, 2, 1, "three"))
		require.NoError(f.t, f.send(ctx, 103, 3, 1, "from another"))
		require.ErrorIs(f.t, f.send(ctx, 103, 3, 1, "again"), social.ErrIDTaken)
		found, err := f.Messages().Load(ctx, []social.MessageID{100, 101, 99})
		require.NoError(f.t, err)
		require.Equal(f.t, map[social.MessageID]*social.Message{
			100: {ID: 100, Sender: 2, Recipient: 1, Number: 1, Content: "one"}, 101: {ID: 101, Sender: 1, Recipient: 2, Number: 2, Content: long},
		}, found)

		received := func(below, from social.MessageID, limit int) []social.MessageID {
			ids, err := f.ReceivedMessages(ctx, 1, below, from, limit, false)
			require.NoError(f.t, err)
			return ids
		}
		require.Equal(f.t, []social.MessageID{103, 102}, received(social.MaxID+1, 0, 2))
		require.Equal(f.t, []social.MessageID{102}, received(103, 101, 9))

		key := social.ConversationKey{Player: 1, Peer: 2}
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			require.NoError(f.t, tx.HideMessage(ctx, 102, social.HiddenRead))
			head, err := tx.MessageHead(ctx, 102)
			require.Equal(f.t, &social.Message{ID: 102, Sender: 2, Recipient: 1, Number: 3, Hidden: social.HiddenRead}, head)
			require.NoError(f.t, err)
			newest, err := tx.NewestMessage(ctx, key)
			require.NoError(f.t, err)
			require.EqualValues(f.t, 101, newest)
			newest, err = tx.NewestMessage(ctx, social.ConversationKey{Player: 2, Peer: 1})
			require.NoError(f.t, err)
			require.EqualValues(f.t, 102, newest)
			none, err := tx.MessageHead(ctx, 99)
			require.Nil(f.t, none)
			return err
		})
		ask := social.ConversationAsk{Key: key, Below: social.MaxID + 1, From: 100, Limit: 2}
		other := social.ConversationAsk{Key: social.ConversationKey{Player: 2, Peer: 1}, Below: 103, From: 101, Limit: 9}
		lists, err := f.ConversationMessages(ctx, []social.ConversationAsk{ask, other})
		require.NoError(f.t, err)
		require.Equal(f.t, [][]social.MessageID{{101, 100}, {102, 101}}, lists)

		keys, err := f.OldConversations(ctx, 104, 9)
		require.NoError(f.t, err)
		require.ElementsMatch(f.t, []social.ConversationKey{{Player: 1, Peer: 2}, {Player: 1, Peer: 3}}, keys)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			old, err := tx.OldestMessages(ctx, key, 102, 9)
			require.Len(f.t, old, 2)
			require.NoError(f.t, err)
			return tx.DeleteMessages(ctx, []social.MessageID{100, 101})
		})
		found, err = f.Messages().Load(ctx, []social.MessageID{100, 101})
		require.NoError(f.t, err)
		require.Empty(f.t, found)
	})
}

func TestConversationRows(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		require.NoError(f.t, f.send(ctx, 100, 2, 1, "old"))
		require.NoError(f.t, f.send(ctx, 200, 2, 1, "new"))
		require.NoError(f.t, f.send(ctx, 300, 1, 3, "mine"))
		with := social.Conversation{Player: 1, Peer: 2, Last: 200, Unread: 2, Sent: 2}
		mine := social.Conversation{Player: 1, Peer: 3, Last: 300, Sent: 1}
		for _, c := range []struct {
			name        string
			below, from social.MessageID
			limit       int
			want        []social.Conversation
			unread      int
		}{
			{"all", social.MaxID + 1, 0, 9, []social.Conversation{mine, with}, 2},
			{"one", social.MaxID + 1, 0, 1, []social.Conversation{mine}, 2},
			{"below", 300, 0, 9, []social.Conversation{with}, 2},
			{"a message is too old", 300, 150, 9, []social.Conversation{{Player: 1, Peer: 2, Last: 200, Unread: 1, Sent: 2}}, 1},
			{"all of it is too old", social.MaxID + 1, 250, 9, []social.Conversation{mine}, 0},
		} {
			found, err := f.Conversations(ctx, 1, c.below, c.from, c.limit)
			require.NoError(f.t, err)
			require.Equal(f.t, c.want, found, c.name)
			n, err := f.UnreadMessages(ctx, 1, c.from)
			require.NoError(f.t, err)
			require.Equal(f.t, c.unread, n, c.name)
		}
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error { // the old one was read
			mine, theirs, err := tx.LockConversation(ctx, with.Key())
			require.NoError(f.t, err)
			mine.Read, mine.Unread = 1, 1
			return tx.SaveConversation(ctx, mine, theirs)
		})
		for _, from := range []social.MessageID{0, 150} {
			found, err := f.ConversationsWith(ctx, 1, []social.PlayerID{2}, from)
			require.NoError(f.t, err)
			require.Equal(f.t, 1, found[2].Unread)
			n, err := f.UnreadMessages(ctx, 1, from)
			require.NoError(f.t, err)
			require.Equal(f.t, 1, n)
		}
		found, err := f.ConversationsWith(ctx, 1, []social.PlayerID{2, 3, 4}, 250)
		require.NoError(f.t, err)
		require.Equal(f.t, map[social.PlayerID]*social.Conversation{3: &mine}, found)
		n, err := f.UnreadMessages(ctx, 99, 0)
		require.NoError(f.t, err)
		require.Zero(f.t, n)
	})
}

func TestReadMarks(t *testing.T) {
	each(t, func(f fixture) {
		ctx, at := f.t.Context(), func(s int64) time.Time { return time.Unix(s, 0).UTC() }
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for number, s := range map[int64]int64{2: 10, 5: 20} {
				if err := tx.InsertReadMark(ctx, social.ReadMark{Player: 1, Peer: 2, Number: number, At: at(s)}); err != nil {
					return err
				}
			}
			return nil
		})
		var messages []*social.Message
		for n := range int64(6) {
			messages = append(messages, &social.Message{Sender: 2, Recipient: 1, Number: n + 1})
		}
		messages = append(messages, &social.Message{Sender: 1, Recipient: 2, Number: 1})
		times, err := f.ReadTimes(ctx, messages)
		require.NoError(f.t, err)
		require.Equal(f.t, []time.Time{at(10), at(10), at(20), at(20), at(20), {}, {}}, times)

		for _, want := range []int{1, 0} {
			n, err := f.PurgeReadMarks(ctx, at(20), 9)
			require.NoError(f.t, err)
			require.Equal(f.t, want, n)
		}
		times, err = f.ReadTimes(ctx, messages[:1])
		require.NoError(f.t, err)
		require.Equal(f.t, []time.Time{at(20)}, times)
	})
}

func TestTwoWriteToEachOtherAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		const n = 100
		sent := f.parallel(n, func(ctx context.Context, i int) (bool, error) {
			from := social.PlayerID(i%2 + 1)
			return true, f.send(ctx, social.MessageID(1000+i), from, 3-from, "hello")
		})
		require.Equal(f.t, n, sent)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			mine, theirs, err := tx.LockConversation(ctx, social.ConversationKey{Player: 2, Peer: 1})
			require.Equal(f.t, social.Conversation{Player: 2, Peer: 1, Last: 1000 + n - 1, Unread: n / 2, Sent: n}, mine)
			require.Equal(f.t, social.Conversation{Player: 1, Peer: 2, Last: 1000 + n - 1, Unread: n / 2, Sent: n}, theirs)
			return err
		})
	})
}
