package redisstore

import "circle/internal/social"

// Players are the simple infos, as many as bucketSize in a hash.
func (s *Store) Players() *Entities[social.PlayerID, *social.Player] {
	return &Entities[social.PlayerID, *social.Player]{
		store:   s,
		keys:    simpleKeys,
		version: func(p *social.Player) int64 { return p.Version },
		pack: func(b []byte, p *social.Player) []byte {
			b = appendCount(b, p.Level)
			b = appendText(b, p.Name)
			return appendOptional(b, p.AvatarURL)
		},
		unpack: func(id social.PlayerID, version int64, r *reader) (*social.Player, bool) {
			p := &social.Player{ID: id, Version: version}
			p.Level = int(r.count())
			p.Name = r.text()
			p.AvatarURL = r.optional()
			return p, r.ok()
		},
	}
}

// Details are the detail infos, each in a hash of its own.
func (s *Store) Details() *Entities[social.PlayerID, *social.PlayerDetail] {
	return &Entities[social.PlayerID, *social.PlayerDetail]{
		store:   s,
		keys:    detailKeys,
		version: func(d *social.PlayerDetail) int64 { return d.Version },
		pack: func(b []byte, d *social.PlayerDetail) []byte {
			b = appendText(b, d.Bio)
			b = appendOptional(b, d.GuildID)
			b = appendTime(b, d.JoinedAt)
			for _, n := range []int{d.Feeds, d.Fans, d.Following, d.Friends} {
				b = appendCount(b, n)
			}
			return b
		},
		unpack: func(id social.PlayerID, version int64, r *reader) (*social.PlayerDetail, bool) {
			d := &social.PlayerDetail{ID: id, Version: version}
			d.Bio = r.text()
			d.GuildID = r.optional()
			d.JoinedAt = r.time()
			for _, n := range []*int{&d.Feeds, &d.Fans, &d.Following, &d.Friends} {
				*n = int(r.count())
			}
			return d, r.ok()
		},
	}
}
