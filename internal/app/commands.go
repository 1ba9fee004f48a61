package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"text/tabwriter"
	"time"

	"circle/internal/auth"
	"circle/internal/importer"
	"circle/internal/lease"
	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/text"
)

// Serve runs a server on its configured address until ctx ends.
func Serve(ctx context.Context, o Options) (err error) {
	a, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Config.Server.Addr)
	if err != nil {
		return fmt.Errorf("CIRCLE_ADDR: %w", err)
	}
	announce(o, ln.Addr())
	return a.Serve(ctx, ln)
}

// announce says first of all what the server stands on.
func announce(o Options, addr net.Addr) {
	c := o.Config
	if c.Database.Embedded() || c.Redis.Embedded() {
		o.Log.Info("serving on embedded stores: for trying out and small circles; one server, no more data than one machine's memory",
			"address", "http://"+addr.String(), "data", c.Server.DataDir)
		return
	}
	o.Log.Info("serving", "address", "http://"+addr.String())
}

// Commands are what may run beside a server, on the same stores.
type Commands struct {
	base     *base
	accounts *auth.Accounts
	out      io.Writer
	progress io.Writer
	options  Options
	closers  closers
}

// OpenCommands opens the relational store for commands. Results go to out, progress to progress.
func OpenCommands(ctx context.Context, o Options, out, progress io.Writer) (_ *Commands, err error) {
	c := &Commands{out: out, progress: progress, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.base, err = openBase(ctx, o, command, &c.closers); err != nil {
		return nil, err
	}
	c.accounts = newAccounts(o, c.base, leaveToServers{})
	return c, nil
}

// leaveToServers is the near stage of commands: they have no Redis, and append events unclaimed.
type leaveToServers struct{}

// RunInline implements auth.Near.
func (leaveToServers) RunInline(context.Context, []social.Event) {}

// Close ends what OpenCommands started.
func (c *Commands) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), lease.Duration)
	defer cancel()
	return c.closers.close(ctx)
}

// ImportPCC brings in the folder or archive of the performance contest.
func (c *Commands) ImportPCC(ctx context.Context, path string) error {
	result, err := importer.ImportPCC(ctx, c.importer(), path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, result)
	return err
}

// Seed makes a lifelike circle of the given size.
func (c *Commands) Seed(ctx context.Context, cfg importer.SeedConfig) (importer.Result, error) {
	if cfg.FollowLimit == 0 {
		cfg.FollowLimit = c.options.Config.Social.FollowLimit
	}
	result, err := importer.Seed(ctx, c.importer(), cfg)
	if err == nil {
		_, err = fmt.Fprintln(c.out, result)
	}
	return result, err
}

func (c *Commands) importer() importer.Deps {
	return importer.Deps{Store: c.base.store, IDs: c.base.ids, Now: c.options.Now, Progress: c.progress, Log: c.options.Log}
}

// Lookup prints the global id of an imported player or feed.
func (c *Commands) Lookup(ctx context.Context, kind, externalID string) error {
	var id fmt.Stringer
	switch kind {
	case social.KindPlayer:
		found, err := c.external(ctx, social.ExternalPlayer, externalID)
		if err != nil {
			return err
		}
		id = social.PlayerID(found)
	case social.KindFeed:
		found, err := c.external(ctx, social.ExternalFeed, externalID)
		if err != nil {
			return err
		}
		id = social.FeedID(found)
	}
	_, err := fmt.Fprintln(c.out, id)
	return err
}

func (c *Commands) external(ctx context.Context, kind social.ExternalKind, externalID string) (int64, error) {
	id, found, err := c.base.store.LookupExternal(ctx, kind, externalID)
	if err == nil && !found {
		err = fmt.Errorf("nothing was imported under %q", externalID)
	}
	return id, err
}

// Token prints an access token of a player, named by name or by external id.
func (c *Commands) Token(ctx context.Context, nameOrExternalID string) error {
	player, err := c.player(ctx, nameOrExternalID)
	if err != nil {
		return err
	}
	token, _, err := c.accounts.AccessToken(ctx, player)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, token)
	return err
}

// Promote gives the player with the name another role. External ids are not asked, so that nobody is
// raised in the place of somebody whose name looks like one.
func (c *Commands) Promote(ctx context.Context, name string, role social.Role) error {
	player, err := c.named(ctx, name)
	if err != nil {
		return err
	}
	return c.accounts.SetRole(ctx, player, role)
}

func (c *Commands) player(ctx context.Context, nameOrExternalID string) (social.PlayerID, error) {
	id, found, err := c.base.store.LookupExternal(ctx, social.ExternalPlayer, nameOrExternalID)
	if err != nil || found {
		return social.PlayerID(id), err
	}
	return c.named(ctx, nameOrExternalID)
}

func (c *Commands) named(ctx context.Context, name string) (social.PlayerID, error) {
	player, err := c.base.store.PlayerByNameKey(ctx, text.FoldName(name))
	if err == nil && player == 0 {
		err = fmt.Errorf("there is no player %q", name)
	}
	return player, err
}

// Migrate brings the tables up to date.
func Migrate(ctx context.Context, o Options) error {
	return withStore(ctx, o, func(store *sqlstore.Store) error { return store.Migrate(ctx) })
}

// MigrationStatus prints which migrations are applied.
func MigrationStatus(ctx context.Context, o Options, out io.Writer) error {
	return withStore(ctx, o, func(store *sqlstore.Store) error {
		steps, err := store.MigrationStatus(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, step := range steps {
			state := "pending"
			if step.AppliedAt != nil {
				state = "applied " + step.AppliedAt.Format(time.DateTime)
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\n", state, step.Name)
		}
		return table.Flush()
	})
}

func withStore(ctx context.Context, o Options, do func(*sqlstore.Store) error) (err error) {
	store, err := openStore(ctx, o, command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(store)
}
