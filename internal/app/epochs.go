package app

import (
	"context"
	"log/slog"
	"time"
)

// epochInterval is how soon a server notices that the epochs of the indexes were raised.
const epochInterval = time.Second

// epochs carries the index epochs from the relational store to the Redis store.
type epochs struct {
	read func(context.Context) (map[string]uint32, error)
	set  func(map[string]uint32)
	log  *slog.Logger
}

func (e *epochs) runOnce(ctx context.Context) error {
	now, err := e.read(ctx)
	if err == nil {
		e.set(now)
	}
	return err
}

// watch calls runOnce every epochInterval until ctx ends. While it fails, the epochs stay as they
// are known.
func (e *epochs) watch(ctx context.Context) {
	ticker := time.NewTicker(epochInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := e.runOnce(ctx); err != nil && ctx.Err() == nil {
				e.log.WarnContext(ctx, "index epochs not read", "error", err)
			}
		}
	}
}
