package fanout

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// letters is messages, and what is told of them to whom.
type letters struct {
	rows map[social.MessageID]*social.Message
	told []string
	away bool
}

func (l *letters) Load(_ context.Context, ids []social.MessageID) (map[social.MessageID]*social.Message, error) {
	found := map[social.MessageID]*social.Message{}
	for _, id := range ids {
		if m := l.rows[id]; m != nil {
			found[id] = m
		}
	}
	return found, nil
}

func (l *letters) Append(_ context.Context, logs []social.LogID, entry social.LiveEntry) ([]social.LogID, error) {
	if l.away {
		return nil, social.Unavailable(errors.New("away"))
	}
	for _, log := range logs {
		if log.Kind != social.LogInbox {
			return nil, errors.New("another kind of log")
		}
		l.told = append(l.told, string([]byte{byte('0' + log.Of), ' ', byte(entry.Kind)}))
	}
	return nil, nil
}

func TestTheTwoOfAConversationAreToldWhatBecameOfIt(t *testing.T) {
	const sender, recipient = 1, 2
	sent := social.Event{ID: 500, Kind: social.EventConversation, Actor: sender, Subject: 70, Object: recipient}
	hidden := sent
	hidden.Actor = recipient
	read := social.Event{ID: 501, Kind: social.EventConversation, Actor: recipient, Object: recipient}
	replayed := sent
	replayed.Replay = true
	there := &social.Message{ID: 70, Sender: sender, Recipient: recipient}
	hiddenThere := &social.Message{ID: 70, Sender: sender, Recipient: recipient, Hidden: social.HiddenRead}
	for _, c := range []struct {
		name  string
		event social.Event
		row   *social.Message
		want  []string
	}{
		{"sent", sent, there, []string{"2 m", "2 u"}},
		{"sent, and deleted by the recipient since", sent, hiddenThere, []string{"2 d", "2 u"}},
		{"deleted by the sender", sent, nil, []string{"2 d", "1 d", "2 u"}},
		{"deleted by the recipient", hidden, hiddenThere, []string{"2 d", "2 u"}},
		{"deleted by the recipient, and by the sender since", hidden, nil, []string{"2 d", "2 u"}},
		{"read", read, there, []string{"2 u"}},
		{"run again after Redis went back", replayed, there, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &letters{rows: map[social.MessageID]*social.Message{70: c.row}}
			far := &InboxFar{Messages: l, Logs: l}
			require.NoError(t, far.Far(t.Context(), c.event, nil, unsaved))
			require.Equal(t, c.want, l.told)
			l.away = true
			if err := far.Far(t.Context(), c.event, nil, unsaved); !c.event.Replay {
				require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
			}
		})
	}
}
