// Package config reads the environment into typed settings. A wrong setting is an error that names
// it; nothing is guessed.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Config is all settings.
type Config struct {
	Server   Server
	Database Database
	Redis    Redis
	Auth     Auth
	Social   Social
}

// Server is how the process meets the outside.
type Server struct {
	Addr           string   `env:"CIRCLE_ADDR" envDefault:"127.0.0.1:8080"`
	DataDir        string   `env:"CIRCLE_DATA_DIR" envDefault:"./data"`
	AllowedOrigins []string `env:"CIRCLE_ALLOWED_ORIGINS"`
	RateLimits     string   `env:"CIRCLE_RATE_LIMITS" envDefault:"on"`
	Production     bool     `env:"CIRCLE_PRODUCTION"`
	LogLevel       string   `env:"CIRCLE_LOG_LEVEL" envDefault:"info"`
}

// Database is the relational store; without a URL it is SQLite in the data folder.
type Database struct {
	URL     string `env:"CIRCLE_DATABASE_URL"`
	Migrate string `env:"CIRCLE_MIGRATE" envDefault:"on"`
}

// Redis is where the indexes are; without a URL they live in the process. A role without a URL of
// its own is on the common one.
type Redis struct {
	URL      string `env:"CIRCLE_REDIS_URL"`
	Profile  string `env:"CIRCLE_REDIS_PROFILE_URL"`
	Detail   string `env:"CIRCLE_REDIS_DETAIL_URL"`
	Relation string `env:"CIRCLE_REDIS_RELATION_URL"`
	Feed     string `env:"CIRCLE_REDIS_FEED_URL"`
	Activity string `env:"CIRCLE_REDIS_ACTIVITY_URL"`
}

// Auth is how players prove who they are.
type Auth struct {
	Secret   string `env:"CIRCLE_JWT_SECRET"`
	JWKSURL  string `env:"CIRCLE_JWKS_URL"`
	Issuer   string `env:"CIRCLE_JWT_ISSUER"`
	Audience string `env:"CIRCLE_JWT_AUDIENCE"`
}

// Social is what the circle allows.
type Social struct {
	FollowLimit int `env:"CIRCLE_FOLLOW_LIMIT" envDefault:"2000"`
	// PushLimit is above how many fans an author's feeds are no longer pushed to them.
	PushLimit int `env:"CIRCLE_FANOUT_PUSH_LIMIT" envDefault:"10000"`
}

// maxFollowLimit keeps relation windows and home pages within what they are measured for.
const maxFollowLimit = 100_000

// maxPushLimit is more fans than anybody has.
const maxPushLimit = 1_000_000_000

// minSecret is how many bytes a signing secret has at least.
const minSecret = 32

// Load reads the settings out of the given environment, as os.Environ gives it.
func Load(environ []string) (Config, error) {
	c, err := env.ParseAsWithOptions[Config](env.Options{Environment: env.ToMap(environ)})
	if err != nil {
		return Config{}, named(err)
	}
	return c, c.check()
}

// Embedded says that Redis lives in this process.
func (r Redis) Embedded() bool { return r.URL == "" }

// Embedded says that the relational store is a file, which has room for one server.
func (d Database) Embedded() bool { return d.URL == "" || strings.HasPrefix(d.URL, "sqlite:") }

// RateLimited says whether rate limits are on.
func (s Server) RateLimited() bool { return s.RateLimits != "off" }

// Level is the level from which on lines are logged.
func (s Server) Level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // checked by Load
	return level
}

// MayMigrate says whether a server may change the tables.
func (d Database) MayMigrate() bool { return d.Migrate != "off" }

func (c Config) check() error {
	var level slog.Level
	_, _, addrErr := net.SplitHostPort(c.Server.Addr)
	checks := []struct {
		name string
		ok   bool
		want string
	}{
		{"CIRCLE_ADDR", addrErr == nil, "host:port"},
		{"CIRCLE_RATE_LIMITS", c.Server.RateLimits == "on" || c.Server.RateLimits == "off", "on or off"},
		{"CIRCLE_LOG_LEVEL", level.UnmarshalText([]byte(c.Server.LogLevel)) == nil, "debug, info, warn or error"},
		{"CIRCLE_MIGRATE", c.Database.Migrate == "on" || c.Database.Migrate == "off", "on or off"},
		{"CIRCLE_ALLOWED_ORIGINS", areOrigins(c.Server.AllowedOrigins), "origins such as https://example.org, separated by commas"},
		{"CIRCLE_JWT_SECRET", c.Auth.Secret == "" || len(c.Auth.Secret) >= minSecret, "at least 32 bytes"},
		{"CIRCLE_JWKS_URL", c.Auth.JWKSURL == "" || isHTTP(c.Auth.JWKSURL), "an http or https address"},
		{"CIRCLE_JWT_ISSUER", c.Auth.JWKSURL == "" || c.Auth.Issuer != "", "the issuer of the tokens, since CIRCLE_JWKS_URL is set"},
		{"CIRCLE_JWT_AUDIENCE", c.Auth.JWKSURL == "" || c.Auth.Audience != "", "the audience of the tokens, since CIRCLE_JWKS_URL is set"},
		{"CIRCLE_FOLLOW_LIMIT", c.Social.FollowLimit >= 1 && c.Social.FollowLimit <= maxFollowLimit, "1 to 100,000"},
		{"CIRCLE_FANOUT_PUSH_LIMIT", c.Social.PushLimit >= 1 && c.Social.PushLimit <= maxPushLimit, "1 to 1,000,000,000"},
		{"CIRCLE_REDIS_URL", c.Redis.URL != "" || c.Redis.roles() == "", "a URL, since a role has one of its own"},
		{"CIRCLE_REDIS_URL", !c.Redis.Embedded() || c.Database.Embedded(), "a URL, since CIRCLE_DATABASE_URL names a server that others share"},
	}
	var faults []error
	for _, check := range checks {
		if !check.ok {
			faults = append(faults, fmt.Errorf("%s: want %s", check.name, check.want))
		}
	}
	return errors.Join(faults...)
}

func (r Redis) roles() string { return r.Profile + r.Detail + r.Relation + r.Feed + r.Activity }

func areOrigins(origins []string) bool {
	for _, origin := range origins {
		if !isHTTP(origin) || strings.Count(origin, "/") != 2 {
			return false
		}
	}
	return true
}

func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// named puts the settings' names in the place of the fields' names in a parser's errors.
func named(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("settings: %w", err)
	}
	names := map[string]string{}
	for _, group := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		for _, field := range reflect.VisibleFields(group.Type) {
			names[field.Name] = field.Tag.Get("env")
		}
	}
	var faults []error
	for _, fault := range all.Errors {
		var parse env.ParseError
		if errors.As(fault, &parse) {
			fault = fmt.Errorf("%s: %w", names[parse.Name], parse.Err)
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}
