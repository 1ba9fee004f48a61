package redisstore

import (
	"circle/internal/social"
	"circle/internal/store/compress"
)

// Messages are private messages, compressed where that pays.
func (s *Store) Messages() *Entities[social.MessageID, *social.Message] {
	return &Entities[social.MessageID, *social.Message]{
		store:   s,
		keys:    messageKeys,
		version: (*social.Message).Version,
		pack: func(b []byte, m *social.Message) []byte {
			b = append(b, byte(m.Hidden))
			for _, n := range []int64{int64(m.Sender), int64(m.Recipient), m.Number} {
				b = appendCount(b, int(n))
			}
			codec, data := compress.Text(m.Content)
			return append(append(b, codec), data...)
		},
		unpack: func(id social.MessageID, _ int64, r *reader) (*social.Message, bool) {
			m := &social.Message{ID: id, Hidden: social.Hiding(r.byte())}
			m.Sender, m.Recipient, m.Number = social.PlayerID(r.count()), social.PlayerID(r.count()), r.count()
			codec := r.byte()
			var err error
			m.Content, err = compress.Open(codec, []byte(r.rest))
			return m, !r.bad && err == nil
		},
	}
}

// Inboxes are the messages that players received, the newest 1,000.
func (s *Store) Inboxes() *Windows {
	return &Windows{store: s, keys: inboxKeys, order: newest, cap: 1000}
}
