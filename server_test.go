package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExitCodes(t *testing.T) {
	t.Setenv("CIRCLE_DATA_DIR", t.TempDir())
	for _, name := range []string{"CIRCLE_DATABASE_URL", "CIRCLE_REDIS_URL"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"help", 0},
		{"seed --help", 0},
		{"migrate", 0},
		{"migrate status", 0},
		{"seed --players 2 --feeds 3", 0},
		{"rebuild timelines", 0},
		{"rebuild timelines --dry-run", 0},

		{"token nobody", exitFailure},
		{"lookup player 7", exitFailure},
		{"promote nobody --role admin", exitFailure},
		{"import pcc " + t.TempDir() + "/nothing", exitFailure},
		{"rebuild timelines --player nobody", exitFailure},
		{"explain nobody 7", exitFailure},

		{"sreve", exitWrongUse},
		{"serve now", exitWrongUse},
		{"--port 1", exitWrongUse},
		{"migrate down", exitWrongUse},
		{"seed", exitWrongUse},
		{"seed --players 2", exitWrongUse},
		{"seed --players -1 --feeds 3", exitWrongUse},
		{"seed --players 2 --feeds -3", exitWrongUse},
		{"seed --players two --feeds 3", exitWrongUse},
		{"seed --players 2 --feeds 3 --seeds 1", exitWrongUse},
		{"import", exitWrongUse},
		{"import csv", exitWrongUse},
		{"import pcc", exitWrongUse},
		{"lookup", exitWrongUse},
		{"lookup board 7", exitWrongUse},
		{"lookup feed", exitWrongUse},
		{"token", exitWrongUse},
		{"token one two", exitWrongUse},
		{"promote somebody", exitWrongUse},
		{"promote somebody --role king", exitWrongUse},
		{"rebuild", exitWrongUse},
		{"rebuild profiles", exitWrongUse},
		{"rebuild timelines now", exitWrongUse},
		{"rebuild timelines --player=", exitWrongUse},
		{"explain", exitWrongUse},
		{"explain somebody", exitWrongUse},
		{"explain somebody 7 now", exitWrongUse},
	} {
		t.Run(c.args, func(t *testing.T) {
			assert.Equal(t, c.want, run(t.Context(), strings.Fields(c.args)))
		})
	}
	t.Run("a setting that can't be meant", func(t *testing.T) {
		t.Setenv("CIRCLE_ADDR", "nowhere")
		assert.Equal(t, exitFailure, run(t.Context(), []string{"migrate"}))
	})
}
