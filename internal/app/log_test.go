package app_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/app"
)

func TestRepeatedWarningsAreThinned(t *testing.T) {
	start := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	type record struct {
		after time.Duration
		level slog.Level
		what  string
		attrs []slog.Attr
	}
	code := func(c string) []slog.Attr { return []slog.Attr{slog.Int("n", 1), slog.String("code", c)} }
	for _, c := range []struct {
		name    string
		records []record
		want    []string
	}{
		{"one a second, with a count", []record{
			{0, slog.LevelWarn, "away", nil}, {1, slog.LevelWarn, "away", nil}, {999 * time.Millisecond, slog.LevelWarn, "away", nil},
			{time.Second, slog.LevelWarn, "away", nil}, {3 * time.Second, slog.LevelWarn, "away", nil},
		}, []string{"msg=away", "msg=away leftOut=2", "msg=away"}},
		{"other messages and kinds are others", []record{
			{0, slog.LevelWarn, "away", nil}, {0, slog.LevelWarn, "slow", nil}, {0, slog.LevelWarn, "failed", code("A")}, {0, slog.LevelWarn, "failed", code("B")},
			{0, slog.LevelWarn, "failed", code("A")},
		}, []string{"msg=away", "msg=slow", "msg=failed n=1 code=A", "msg=failed n=1 code=B"}},
		{"errors and news are all written", []record{
			{0, slog.LevelError, "panic", nil}, {0, slog.LevelError, "panic", nil}, {0, slog.LevelInfo, "serving", nil}, {0, slog.LevelInfo, "serving", nil},
		}, []string{"msg=panic", "msg=panic", "msg=serving", "msg=serving"}},
		{"a clock that goes back", []record{
			{time.Hour, slog.LevelWarn, "away", nil}, {0, slog.LevelWarn, "away", nil},
		}, []string{"msg=away", "msg=away"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			log := app.NewLog(&out, slog.LevelInfo).With("part", "test")
			for _, r := range c.records {
				entry := slog.NewRecord(start.Add(r.after), r.level, r.what, 0)
				entry.AddAttrs(r.attrs...)
				require.NoError(t, log.Handler().Handle(t.Context(), entry))
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				_, message, _ := strings.Cut(strings.TrimSpace(line), "msg=")
				got = append(got, "msg="+strings.Replace(message, " part=test", "", 1))
			}
			assert.Equal(t, c.want, got)
		})
	}
}
