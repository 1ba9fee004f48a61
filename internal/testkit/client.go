package testkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Vars are the variables of an operation.
type Vars map[string]any

// Fault is a top-level error of an answer.
type Fault struct {
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code      string `json:"code"`
		RequestID string `json:"requestId"`
	} `json:"extensions"`
}

// Answer is what a server answered.
type Answer struct {
	Status int             `json:"-"`
	Raw    string          `json:"-"`
	Data   json.RawMessage `json:"data"`
	Errors []Fault         `json:"errors"`
}

// Code is the code of the answer's only error; empty when there is none.
func (a Answer) Code(t testing.TB) string {
	t.Helper()
	if len(a.Errors) == 0 {
		return ""
	}
	require.Len(t, a.Errors, 1, a.Raw)
	return a.Errors[0].Extensions.Code
}

// UserError is an entry of a payload's userErrors.
type UserError struct {
	Code    string
	Message string
	Field   []string
}

// Post sends a body as it is.
func (a *App) Post(t testing.TB, token string, body []byte) Answer {
	t.Helper()
	answer, err := a.post(token, body)
	require.NoError(t, err)
	return answer
}

// Do runs an operation.
func (a *App) Do(t testing.TB, token, query string, vars Vars) Answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	require.NoError(t, err)
	return a.Post(t, token, body)
}

// Read runs an operation that must succeed and reads its data into a value.
func Read[T any](t testing.TB, a *App, token, query string, vars Vars) T {
	t.Helper()
	answer := a.Do(t, token, query, vars)
	require.Empty(t, answer.Errors, "%s", query)
	var into T
	require.NoError(t, json.Unmarshal(answer.Data, &into), answer.Raw)
	return into
}

// TryRead is Read for goroutines other than the test's own.
func TryRead[T any](a *App, token, query string, vars Vars) (into T, err error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		return into, err
	}
	answer, err := a.post(token, body)
	if err != nil {
		return into, err
	}
	if len(answer.Errors) > 0 {
		return into, fmt.Errorf("%s: %s", query, answer.Raw)
	}
	return into, json.Unmarshal(answer.Data, &into)
}

// post is safe for use by goroutines other than the test's own.
func (a *App) post(token string, body []byte) (Answer, error) {
	request, err := http.NewRequest(http.MethodPost, a.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Status: response.StatusCode, Raw: string(raw)}
	return answer, json.Unmarshal(raw, &answer)
}

// Metric reads a metric, with its labels as /metrics shows them; 0 when it is not there.
func (a *App) Metric(t testing.TB, name string) float64 {
	t.Helper()
	response, err := a.client.Get(a.URL + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			return value
		}
	}
	require.NoError(t, lines.Err())
	return 0
}
