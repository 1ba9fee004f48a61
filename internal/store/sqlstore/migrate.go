package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/pressly/goose/v3"

	"circle/migrations"
)

// Migration is one step of the schema's history.
type Migration struct {
	Version int64
	// Name is the name of its file.
	Name string
	// AppliedAt is nil while the step is pending.
	AppliedAt *time.Time
}

// Migrate brings the schema up to date. Servers that start at once take turns.
func (s *Store) Migrate(ctx context.Context) error {
	return s.withProvider(ctx, func(p *goose.Provider) error {
		_, err := p.Up(ctx)
		return err
	})
}

// MigrationStatus lists the steps of the schema's history, oldest first.
func (s *Store) MigrationStatus(ctx context.Context) (steps []Migration, err error) {
	err = s.withProvider(ctx, func(p *goose.Provider) error {
		found, err := p.Status(ctx)
		for _, f := range found {
			m := Migration{Version: f.Source.Version, Name: path.Base(f.Source.Path)}
			if f.State == goose.StateApplied {
				at := f.AppliedAt.UTC()
				m.AppliedAt = &at
			}
			steps = append(steps, m)
		}
		return err
	})
	return steps, err
}

// MigrationsPending says whether the schema is older than this program.
func (s *Store) MigrationsPending(ctx context.Context) (pending bool, err error) {
	err = s.withProvider(ctx, func(p *goose.Provider) error {
		pending, err = p.HasPending(ctx)
		return err
	})
	return pending, err
}

// withProvider lends goose a pool of its own, without the timeouts that serve requests.
func (s *Store) withProvider(ctx context.Context, fn func(p *goose.Provider) error) (err error) {
	m, err := s.dialect.migrator()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, m.db.Close()) }()
	folder, err := fs.Sub(migrations.FS, m.folder)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	p, err := goose.NewProvider(m.dialect, m.db, folder, m.lock, goose.WithSlog(s.log))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := fn(p); err != nil {
		return fmt.Errorf("migrate: %w", translate(ctx, err))
	}
	return nil
}
