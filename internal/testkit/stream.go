package testkit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// streamed is how many events of a stream may wait for the test.
const streamed = 1024

// Stream is a subscription, over server-sent events.
type Stream struct {
	answers chan Answer
	close   func()
}

// Subscribe begins a subscription, which ends when the test does.
func (p Player) Subscribe(t testing.TB, query string, vars Vars) *Stream {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.App.URL+"/graphql", bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if p.Token != "" {
		request.Header.Set("Authorization", "Bearer "+p.Token)
	}
	response, err := p.App.client.Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	s := &Stream{answers: make(chan Answer, streamed)}
	go func() {
		defer close(s.answers)
		defer response.Body.Close()
		for lines := bufio.NewReader(response.Body); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
			if !ok {
				continue
			}
			answer := Answer{Status: response.StatusCode, Raw: data}
			if json.Unmarshal([]byte(data), &answer) != nil {
				return
			}
			select {
			case s.answers <- answer:
			case <-ctx.Done():
				return
			}
		}
	}()
	s.close = func() {
		cancel()
		for range s.answers { // ends with the reader
		}
	}
	t.Cleanup(s.close)
	return s
}

// Close ends the subscription from the client's side.
func (s *Stream) Close() { s.close() }

// Next waits for the next event, or for the end, which ok tells.
func (s *Stream) Next(t testing.TB) (answer Answer, ok bool) {
	t.Helper()
	select {
	case answer, ok = <-s.answers:
		return answer, ok
	case <-time.After(20 * time.Second):
		require.FailNow(t, "no event came")
		return Answer{}, false
	}
}
