// Circle is a GraphQL backend for a social circle. Without a command it serves; the other commands
// run beside a server on the same stores.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"circle/internal/app"
	"circle/internal/config"
	"circle/internal/importer"
	"circle/internal/social"
)

//go:generate go tool gqlgen generate

// The exit codes of commands.
const (
	exitFailure  = 1
	exitWrongUse = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run runs the command that the arguments name, and gives the exit code.
func run(ctx context.Context, args []string) int {
	cmd := root()
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "circle:", err)
	var failed *failure
	if errors.As(err, &failed) {
		return exitFailure
	}
	return exitWrongUse
}

// failure is an error of a command's work, as against one of how it was called.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

func root() *cobra.Command {
	serve := &cobra.Command{
		Use: "serve", Short: "Serve the API (the default)", Args: cobra.NoArgs,
		RunE: withOptions(func(cmd *cobra.Command, o app.Options, _ []string) error { return app.Serve(cmd.Context(), o) }),
	}
	cmd := &cobra.Command{
		Use: "circle", Short: "A GraphQL backend for a social circle", Args: cobra.NoArgs, RunE: serve.RunE,
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	cmd.AddCommand(serve, migrateCommand(), importCommand(), seedCommand(), lookupCommand(), tokenCommand(), promoteCommand(),
		rebuildCommand(), explainCommand())
	return cmd
}

func migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "migrate [up|status]", Short: "Bring the tables up to date, or say which migrations are applied",
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"up", "status"},
		RunE: withOptions(func(cmd *cobra.Command, o app.Options, args []string) error {
			if len(args) == 1 && args[0] == "status" {
				return app.MigrationStatus(cmd.Context(), o, os.Stdout)
			}
			return app.Migrate(cmd.Context(), o)
		}),
	}
}

func importCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Bring data in from elsewhere", RunE: needsCommand}
	cmd.AddCommand(&cobra.Command{
		Use: "pcc PATH", Short: "Import the performance contest's folder or archive", Args: cobra.ExactArgs(1),
		RunE: withCommands(func(cmd *cobra.Command, c *app.Commands, args []string) error {
			return c.ImportPCC(cmd.Context(), args[0])
		}),
	})
	return cmd
}

func seedCommand() *cobra.Command {
	var cfg importer.SeedConfig
	cmd := &cobra.Command{
		Use: "seed --players N --feeds M [--seed S]", Short: "Make a lifelike circle", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cfg.Check(); err != nil {
				return err
			}
			return withCommands(func(cmd *cobra.Command, c *app.Commands, _ []string) error {
				_, err := c.Seed(cmd.Context(), cfg)
				return err
			})(cmd, args)
		},
	}
	cmd.Flags().IntVar(&cfg.Players, "players", 0, "how many players")
	cmd.Flags().IntVar(&cfg.Feeds, "feeds", 0, "how many feeds")
	cmd.Flags().Uint64Var(&cfg.Seed, "seed", 1, "the same seed gives the same circle")
	_, _ = cmd.MarkFlagRequired("players"), cmd.MarkFlagRequired("feeds")
	return cmd
}

func lookupCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "lookup", Short: "Print the GraphQL id of what was imported", RunE: needsCommand}
	for _, kind := range []string{social.KindPlayer, social.KindFeed} {
		cmd.AddCommand(&cobra.Command{
			Use: kind + " EXTERNAL_ID", Short: "Print the id of a " + kind, Args: cobra.ExactArgs(1),
			RunE: withCommands(func(cmd *cobra.Command, c *app.Commands, args []string) error {
				return c.Lookup(cmd.Context(), kind, args[0])
			}),
		})
	}
	return cmd
}

func tokenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "token NAME_OR_EXTERNAL_ID", Short: "Print an access token of a player", Args: cobra.ExactArgs(1),
		RunE: withCommands(func(cmd *cobra.Command, c *app.Commands, args []string) error {
			return c.Token(cmd.Context(), args[0])
		}),
	}
}

func promoteCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{Use: "promote NAME --role player|editor|moderator|admin", Short: "Set a player's role", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringVar(&name, "role", "", "player, editor, moderator or admin")
	_ = cmd.MarkFlagRequired("role")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		role, err := social.ParseRole(name)
		if err != nil {
			return err
		}
		return withCommands(func(cmd *cobra.Command, c *app.Commands, args []string) error {
			return c.Promote(cmd.Context(), args[0], role)
		})(cmd, args)
	}
	return cmd
}

func rebuildCommand() *cobra.Command {
	var player string
	var dryRun bool
	timelines := &cobra.Command{
		Use: "timelines [--player NAME] [--dry-run]", Short: "Have the servers build home pages' lists in Redis anew", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if player == "" && cmd.Flags().Changed("player") {
				return errors.New("--player needs a name or an id")
			}
			return withCommands(func(cmd *cobra.Command, c *app.Commands, _ []string) error {
				if dryRun {
					return c.CompareTimelines(cmd.Context(), player)
				}
				return c.RebuildTimelines(cmd.Context(), player)
			})(cmd, args)
		},
	}
	timelines.Flags().StringVar(&player, "player", "", "the list of this player alone, by name or id")
	timelines.Flags().BoolVar(&dryRun, "dry-run", false, "say what differs and change nothing")
	cmd := &cobra.Command{Use: "rebuild", Short: "Build what Redis holds anew", RunE: needsCommand}
	cmd.AddCommand(timelines)
	return cmd
}

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain PLAYER FEED", Short: "Say why a feed is, or isn't, on a player's home page", Args: cobra.ExactArgs(2),
		RunE: withCommands(func(cmd *cobra.Command, c *app.Commands, args []string) error {
			return c.Explain(cmd.Context(), args[0], args[1])
		}),
	}
}

// needsCommand is for commands that only hold others.
func needsCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	}
	return fmt.Errorf("%s needs a further command; see %s --help", cmd.CommandPath(), cmd.CommandPath())
}

// withOptions reads the settings before run and marks its errors as failures.
func withOptions(run func(cmd *cobra.Command, o app.Options, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := config.Load(os.Environ())
		if err == nil {
			log := app.NewLog(os.Stderr, c.Server.Level())
			slog.SetDefault(log)
			err = run(cmd, app.Options{Config: c, Log: log, Now: time.Now}, args)
		}
		if err != nil {
			return &failure{err}
		}
		return nil
	}
}

// withCommands opens the stores before run and closes them behind it.
func withCommands(run func(cmd *cobra.Command, c *app.Commands, args []string) error) func(*cobra.Command, []string) error {
	return withOptions(func(cmd *cobra.Command, o app.Options, args []string) (err error) {
		c, err := app.OpenCommands(cmd.Context(), o, os.Stdout, os.Stderr)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		return run(cmd, c, args)
	})
}
