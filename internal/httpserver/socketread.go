package httpserver

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// read takes the client's messages until the connection ends. After ctx has ended it only waits for
// the client's close frame.
func (s *socket) read() {
	_ = s.conn.SetReadDeadline(time.Now().Add(s.times.init))
	s.conn.SetPongHandler(func(string) error { s.heard(); return nil })
	s.conn.SetPingHandler(func(data string) error {
		s.heard()
		s.control(websocket.PongMessage, []byte(data))
		return nil
	})
	for {
		kind, reader, err := s.conn.NextReader()
		if err != nil {
			s.end(s.lost(err))
			return
		}
		if s.ctx.Err() != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(reader, MaxMessageBytes+1))
		switch {
		case err != nil:
			s.end(s.lost(err))
			return
		case len(data) > MaxMessageBytes:
			s.end(endTooBig)
		default:
			s.heard()
			s.receive(kind, data)
		}
	}
}

// heard gives the client time until its next sign of life.
func (s *socket) heard() {
	if s.acknowledged {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.times.silence))
	}
}

// lost says what it means that reading failed.
func (s *socket) lost(err error) *ending {
	var closed *websocket.CloseError
	var network net.Error
	switch {
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return endPeer
	case !s.acknowledged && errors.As(err, &network) && network.Timeout():
		return endInitTimeout
	}
	return endGone
}

func (s *socket) receive(kind int, data []byte) {
	m, err := decodeMessage(data)
	switch {
	case err != nil:
		s.end(&ending{closeBadRequest, err.Error()})
		return
	case kind != websocket.TextMessage:
		s.end(&ending{closeBadRequest, errNoMessage.Error()})
		return
	}
	switch m.Type {
	case typeInit:
		s.initialise(m)
	case typeSubscribe:
		s.subscribe(m)
	case typeComplete:
		s.complete(m.ID)
	case typePing:
		s.write(nil, encodeMessage(typePong, "", m.Payload))
	}
}

// initialise finds out who the client is. The payload's token wins over the header's.
func (s *socket) initialise(m message) {
	if s.acknowledged {
		s.end(endTooManyInits)
		return
	}
	authorization, err := authorizationOf(m.Payload)
	if err != nil {
		s.end(&ending{closeBadRequest, err.Error()})
		return
	}
	if authorization == "" {
		authorization = s.header.Get("Authorization")
	}
	switch _, err := s.viewer(s.ctx, authorization); {
	case refuses(err):
		s.end(endForbidden)
		return
	case err != nil:
		s.end(endBusy)
		return
	}
	s.authorization, s.acknowledged = authorization, true
	s.heard()
	s.write(nil, encodeMessage(typeAck, "", nil))
	s.group.Go(s.tick)
}
