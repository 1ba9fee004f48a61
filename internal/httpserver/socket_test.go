package httpserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

const (
	initAnonymous = `{"type":"connection_init"}`
	subscription  = `{"id":"1","type":"subscribe","payload":{"query":"subscription{events}"}}`
)

func TestSocketCloseCodes(t *testing.T) {
	f := startLive(t, source(nil))
	init := func(payload string) string { return `{"type":"connection_init","payload":` + payload + `}` }
	for name, tc := range map[string]struct {
		messages []string
		code     int
	}{
		"no JSON":                    {[]string{"{"}, 4400},
		"nothing":                    {[]string{""}, 4400},
		"an array":                   {[]string{"[]"}, 4400},
		"no type":                    {[]string{"{}"}, 4400},
		"an unknown type":            {[]string{`{"type":"start"}`}, 4400},
		"a type of the server":       {[]string{`{"type":"connection_ack"}`}, 4400},
		"two messages in one":        {[]string{initAnonymous + initAnonymous}, 4400},
		"not UTF-8":                  {[]string{"{\"type\":\"ping\",\"payload\":{\"a\":\"\xff\"}}"}, 4400},
		"init with a string":         {[]string{init(`"x"`)}, 4400},
		"init with an array":         {[]string{init(`[]`)}, 4400},
		"init with a token of tin":   {[]string{init(`{"Authorization":1}`)}, 4400},
		"init with a bad token":      {[]string{init(`{"Authorization":"Bearer x"}`)}, 4403},
		"init while auth is away":    {[]string{init(`{"Authorization":"Bearer away"}`)}, 1013},
		"init twice":                 {[]string{initAnonymous, initAnonymous}, 4429},
		"subscribe without init":     {[]string{subscription}, 4401},
		"subscribe without id":       {[]string{initAnonymous, `{"type":"subscribe","payload":{"query":"{a}"}}`}, 4400},
		"subscribe with a number":    {[]string{initAnonymous, `{"id":1,"type":"subscribe","payload":{"query":"{a}"}}`}, 4400},
		"subscribe with a long id":   {[]string{initAnonymous, `{"id":"` + strings.Repeat("x", 65) + `","type":"subscribe","payload":{"query":"{a}"}}`}, 4400},
		"subscribe without payload":  {[]string{initAnonymous, `{"id":"1","type":"subscribe"}`}, 4400},
		"subscribe without query":    {[]string{initAnonymous, `{"id":"1","type":"subscribe","payload":{}}`}, 4400},
		"subscribe with odd members": {[]string{initAnonymous, `{"id":"1","type":"subscribe","payload":{"query":"{a}","variables":[]}}`}, 4400},
		"the same id twice":          {[]string{initAnonymous, subscription, subscription}, 4409},
		"complete without id":        {[]string{initAnonymous, `{"type":"complete"}`}, 4400},
		"ping with a string":         {[]string{`{"type":"ping","payload":"x"}`}, 4400},
		"a message that is too big":  {[]string{initAnonymous, `{"type":"ping","payload":{"a":"` + strings.Repeat("x", 2*MaxMessageBytes) + `"}}`}, 1009},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.dial()
			for _, m := range tc.messages {
				w.send(m)
			}
			code, reason := w.closed()
			assert.Equal(t, tc.code, code)
			assert.NotEmpty(t, reason)
		})
	}
	t.Run("binary", func(t *testing.T) {
		w := f.dial()
		require.NoError(t, w.conn.WriteMessage(websocket.BinaryMessage, []byte(initAnonymous)))
		code, _ := w.closed()
		assert.Equal(t, 4400, code)
	})
	t.Run("the client closes", func(t *testing.T) {
		w := f.open()
		require.NoError(t, w.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "")))
		code, _ := w.closed()
		assert.Equal(t, 1000, code)
	})
}

func TestSocketInitTimeout(t *testing.T) {
	f := startLive(t, source(nil), times(func(s *streamTimes) { s.init = 30 * time.Millisecond }))
	for name, message := range map[string]string{"silence": "", "only a ping": `{"type":"ping"}`} {
		t.Run(name, func(t *testing.T) {
			w := f.dial()
			if message != "" {
				w.send(message)
			}
			code, _ := w.closed()
			assert.Equal(t, 4408, code)
		})
	}
}

func TestSocketOrigins(t *testing.T) {
	f := startLive(t, source(nil), func(s *Server) { s.config.AllowedOrigins = []string{"https://circle.example"} })
	own := f.url
	for name, tc := range map[string]struct {
		headers []string
		ok      bool
	}{
		"none":               {nil, true},
		"its own":            {[]string{"Origin: " + own}, true},
		"its own, over TLS":  {[]string{"Origin: " + strings.Replace(own, "http:", "https:", 1)}, true},
		"allowed":            {[]string{"Origin: https://circle.example"}, true},
		"another scheme":     {[]string{"Origin: http://circle.example"}, false},
		"another port":       {[]string{"Origin: https://circle.example:444"}, false},
		"a subdomain":        {[]string{"Origin: https://a.circle.example"}, false},
		"a longer one":       {[]string{"Origin: https://circle.example.org"}, false},
		"its own, longer":    {[]string{"Origin: " + own + "0"}, false},
		"null":               {[]string{"Origin: null"}, false},
		"empty":              {[]string{"Origin: "}, false},
		"two":                {[]string{"Origin: " + own, "Origin: https://circle.example"}, false},
		"in capital letters": {[]string{"Origin: HTTPS://circle.example"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn, res, err := f.tryDial(tc.headers...)
			if tc.ok {
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				return
			}
			require.ErrorIs(t, err, websocket.ErrBadHandshake)
			assert.Equal(t, http.StatusForbidden, res.StatusCode)
		})
	}
}

func TestSocketSubprotocols(t *testing.T) {
	f := startLive(t, source(nil))
	conn, _, err := f.tryDial("Sec-WebSocket-Protocol: graphql-ws, graphql-transport-ws")
	require.NoError(t, err)
	assert.Equal(t, "graphql-transport-ws", conn.Subprotocol())
	require.NoError(t, conn.Close())
	for _, offered := range []string{"graphql-ws", "x"} {
		_, res, err := f.tryDial("Sec-WebSocket-Protocol: " + offered)
		require.ErrorIs(t, err, websocket.ErrBadHandshake)
		assert.Equal(t, http.StatusBadRequest, res.StatusCode)
	}
	r := f.send(http.MethodGet, "/graphql", nil, "Upgrade: websocket", "Connection: upgrade", "Sec-WebSocket-Protocol: graphql-transport-ws")
	assert.Equal(t, http.StatusBadRequest, r.status, "no version, no key")
	assert.Equal(t, "BAD_USER_INPUT", r.code())
}

func TestSocketContext(t *testing.T) {
	for name, tc := range map[string]struct {
		header, payload string
		player          social.PlayerID
	}{
		"anonymous":                   {"", "", 0},
		"null":                        {"", `,"payload":null`, 0},
		"an empty object":             {"", `,"payload":{}`, 0},
		"no token":                    {"", `,"payload":{"Authorization":null}`, 0},
		"in the payload":              {"", `,"payload":{"Authorization":"Bearer 7"}`, 7},
		"in small letters":            {"", `,"payload":{"authorization":"Bearer 7"}`, 7},
		"in the header":               {"Bearer 8", "", 8},
		"payload wins":                {"Bearer 8", `,"payload":{"Authorization":"Bearer 7"}`, 7},
		"payload wins over a bad one": {"Bearer x", `,"payload":{"Authorization":"Bearer 7"}`, 7},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan context.Context, 2)
			f := startLive(t, func(ctx context.Context) graphql.ResponseHandler {
				seen <- ctx
				return answer(`{"a":1}`)(ctx)
			})
			headers := []string{"X-Request-Id: mine"}
			if tc.header != "" {
				headers = append(headers, "Authorization: "+tc.header)
			}
			w := f.dial(headers...)
			w.send(`{"type":"connection_init"` + tc.payload + `}`)
			w.expect(`{"type":"connection_ack"}`)
			w.subscribe("x", "{a}")
			w.expect(`{"id":"x","type":"next","payload":{"data":{"a":1}}}`)
			w.expect(`{"id":"x","type":"complete"}`)
			w.subscribe("x", "subscription{events}")
			w.expect(`{"id":"x","type":"next","payload":{"data":{"a":1}}}`)
			first, second := <-seen, <-seen
			assert.Equal(t, tc.player, playerOf(first))
			assert.Equal(t, "mine.1", social.RequestIDFrom(first))
			assert.Equal(t, "mine.2", social.RequestIDFrom(second))
			_, limited := first.Deadline()
			assert.True(t, limited, "queries have a deadline")
			_, limited = second.Deadline()
			assert.False(t, limited, "subscriptions have none")
		})
	}
}

func TestSocketPing(t *testing.T) {
	f := startLive(t, source(nil), times(func(s *streamTimes) { s.ping, s.silence = 5*time.Millisecond, time.Second }))
	w := f.dial()
	w.send(`{"type":"ping"}`)
	w.expect(`{"type":"pong"}`)
	w.send(initAnonymous)
	w.expect(`{"type":"connection_ack"}`)
	w.send(`{"type":"ping","payload":{"a":[1]}}`)
	w.expect(`{"type":"pong","payload":{"a":[1]}}`)
	w.send(`{"type":"pong"}`)
	pings, ponged := 0, false
	w.conn.SetPingHandler(func(string) error {
		if pings++; pings == 3 {
			return w.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`))
		}
		return nil
	})
	w.conn.SetPongHandler(func(string) error { ponged = true; return nil })
	require.NoError(t, w.conn.WriteMessage(websocket.PingMessage, nil))
	w.expect(`{"type":"pong"}`)
	assert.True(t, ponged)
	assert.GreaterOrEqual(t, pings, 3)
}

func TestSilentSocketIsGone(t *testing.T) {
	began, ended := make(chan context.Context, 1), make(chan struct{}, 1)
	f := startLive(t, endless(began, ended), times(func(s *streamTimes) { s.ping, s.silence = 10*time.Millisecond, 100*time.Millisecond }))
	w := f.open()
	w.send(subscription)
	<-ended // it reads nothing, so it answers no ping
	code, _ := w.closed()
	assert.Equal(t, websocket.CloseAbnormalClosure, code)
	assert.Contains(t, f.send(http.MethodGet, "/metrics", nil).body, `circle_stream_closes_total{code="gone"} 1`)
}

func TestSocketTokenEnds(t *testing.T) {
	var state atomic.Pointer[error]
	authenticated := make(chan struct{}, 1000)
	lapse := func(err error) { state.Store(&err) }
	setup := func(t *testing.T, check time.Duration) (*fixture, *wire, chan struct{}) {
		lapse(nil)
		began, ended := make(chan context.Context, 1), make(chan struct{}, 1)
		f := startLive(t, endless(began, ended), func(s *Server) {
			s.times.check = check
			s.deps.Authenticate = func(context.Context, string) (social.Viewer, error) {
				select {
				case authenticated <- struct{}{}:
				default:
				}
				return social.Viewer{Player: 7}, *state.Load()
			}
		})
		w := f.open()
		w.send(subscription)
		<-began
		return f, w, ended
	}
	over := social.Fail(social.CodeUnauthenticated, "The token is not valid.")
	t.Run("mid-stream", func(t *testing.T) {
		_, w, ended := setup(t, 2*time.Millisecond)
		lapse(over)
		<-ended
		code, _ := w.closed()
		assert.Equal(t, 4403, code)
	})
	t.Run("at the next operation", func(t *testing.T) {
		_, w, ended := setup(t, time.Hour)
		lapse(over)
		w.subscribe("2", "{a}")
		<-ended
		code, _ := w.closed()
		assert.Equal(t, 4403, code)
	})
	t.Run("not while it can't be checked", func(t *testing.T) {
		_, w, ended := setup(t, time.Millisecond)
		lapse(social.Unavailable(errors.New("away")))
		for len(authenticated) > 0 {
			<-authenticated
		}
		for range 3 {
			<-authenticated
		}
		w.subscribe("2", "{a}")
		assert.Equal(t, "UNAVAILABLE", w.expectError("2"))
		assert.Empty(t, ended)
	})
}

func TestShutdownClosesSockets(t *testing.T) {
	began, ended := make(chan context.Context, 2), make(chan struct{}, 2)
	f := startLive(t, endless(began, ended))
	polite, silent, fresh := f.open(), f.open(), f.dial()
	polite.send(subscription)
	silent.send(subscription)
	<-began
	<-began
	codes := make(chan int)
	for _, w := range []*wire{polite, fresh} {
		go func() { code, _ := w.closed(); codes <- code }()
	}
	require.NoError(t, f.Shutdown(t.Context()), "though one of them does not answer the close")
	assert.Len(t, ended, 2)
	assert.Equal(t, 1001, <-codes)
	assert.Equal(t, 1001, <-codes)
	code, _ := silent.closed()
	assert.Equal(t, 1001, code)
	assert.Empty(t, f.streams.open)

	r := httptest.NewRequest(http.MethodGet, "/graphql", nil)
	r.Header = http.Header{"Upgrade": {"websocket"}, "Connection": {"upgrade"}, "Sec-Websocket-Protocol": {subprotocol}}
	late := httptest.NewRecorder()
	f.Handler().ServeHTTP(late, r)
	assert.Equal(t, http.StatusServiceUnavailable, late.Code)
}
