package app

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"circle/internal/auth"
	"circle/internal/config"
	"circle/internal/lease"
	"circle/internal/service"
	"circle/internal/store/sqlstore"
)

// base is what servers and commands both stand on.
type base struct {
	store  *sqlstore.Store
	ids    *lease.Holder
	secret []byte
}

// role says what the process is for.
type role struct {
	nodes lease.Nodes
	// wait is how long the process waits for a node: commands that come in a crowd are done soon, and
	// the nodes of dead ones are free when their leases end.
	wait time.Duration
	// serves says that the process runs the outbox and may be alone with embedded stores.
	serves bool
}

var (
	server  = role{nodes: lease.Servers, serves: true}
	command = role{nodes: lease.Commands, wait: 2 * lease.Duration}
)

// giveBackTime bounds the giving back of a node, which a stop need not wait for: leases run out.
const giveBackTime = time.Second

// openBase opens the relational store, brings its tables up to date and takes a node. What it
// started is in ends, also when it fails.
func openBase(ctx context.Context, o Options, r role, ends *closers) (*base, error) {
	c := o.Config
	if err := os.MkdirAll(c.Server.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("CIRCLE_DATA_DIR: %w", err)
	}
	if r.serves && c.Database.Embedded() {
		if err := lockData(c.Server.DataDir, ends); err != nil {
			return nil, err
		}
	}
	secret, err := auth.LoadSecret(c.Auth.Secret, c.Server.DataDir)
	if err != nil {
		return nil, err
	}
	store, err := openStore(ctx, o, r)
	if err != nil {
		return nil, err
	}
	ends.add("relational store", func(context.Context) error { return store.Close() })
	if err := migrate(ctx, store, c.Database); err != nil {
		return nil, err
	}
	ids, err := lease.Acquire(ctx, lease.Config{Store: store, Nodes: r.nodes, Wait: r.wait, Now: o.Now, Log: o.Log})
	if err != nil {
		return nil, err
	}
	ends.add("node lease", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, giveBackTime)
		defer cancel()
		if err := ids.Stop(ctx); err != nil {
			o.Log.WarnContext(ctx, "the node is free when its lease has run out", "error", err)
		}
		return nil
	})
	return &base{store: store, ids: ids, secret: secret}, nil
}

// lockData keeps a second server away from embedded stores, which have room for one.
func lockData(dir string, ends *closers) error {
	lock := flock.New(filepath.Join(dir, "serve.lock"))
	ok, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("CIRCLE_DATA_DIR: %w", err)
	}
	if !ok {
		return fmt.Errorf("another server uses %s: the embedded stores serve one; set CIRCLE_DATABASE_URL and CIRCLE_REDIS_URL for more", dir)
	}
	ends.add("data folder", func(context.Context) error { return lock.Unlock() })
	return nil
}

func openStore(ctx context.Context, o Options, r role) (*sqlstore.Store, error) {
	url := o.Config.Database.URL
	if url == "" {
		url = "sqlite://" + filepath.Join(o.Config.Server.DataDir, "circle.db")
	}
	var owner int64
	if r.serves {
		owner = rand.Int64N(1<<62) + 1
	}
	store, err := sqlstore.Open(ctx, sqlstore.Config{URL: url, Owner: owner, OnStatement: o.OnStatement, Log: o.Log, Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("CIRCLE_DATABASE_URL: %w", err)
	}
	return store, nil
}

func migrate(ctx context.Context, store *sqlstore.Store, c config.Database) error {
	if c.MayMigrate() {
		return store.Migrate(ctx)
	}
	pending, err := store.MigrationsPending(ctx)
	if err == nil && pending {
		err = errors.New("migrations are pending and CIRCLE_MIGRATE is off: run circle migrate")
	}
	return err
}

// transactions gives the services the store's transactions as the interface that they declare.
type transactions struct{ *sqlstore.Store }

// InTx implements service.TxStore.
func (t transactions) InTx(ctx context.Context, fn func(tx service.Tx) error) error {
	return t.Store.InTx(ctx, func(tx *sqlstore.Tx) error { return fn(tx) })
}
