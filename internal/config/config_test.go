package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/config"
)

func TestDefaultsServeTheEmbeddedStores(t *testing.T) {
	c, err := config.Load(nil)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:8080", c.Server.Addr)
	assert.Equal(t, 2000, c.Social.FollowLimit)
	assert.True(t, c.Redis.Embedded())
	assert.True(t, c.Database.Embedded())
	assert.True(t, c.Server.RateLimited())
	assert.True(t, c.Database.MayMigrate())
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for _, c := range []struct{ name, setting, value string }{
		{"an address without a port", "CIRCLE_ADDR", "localhost"},
		{"rate limits neither on nor off", "CIRCLE_RATE_LIMITS", "maybe"},
		{"a level that there is not", "CIRCLE_LOG_LEVEL", "loud"},
		{"migrations neither on nor off", "CIRCLE_MIGRATE", "2"},
		{"an origin with a path", "CIRCLE_ALLOWED_ORIGINS", "https://example.org/app"},
		{"any origin", "CIRCLE_ALLOWED_ORIGINS", "*"},
		{"a short secret", "CIRCLE_JWT_SECRET", "short"},
		{"keys by file", "CIRCLE_JWKS_URL", "file:///keys"},
		{"no follows at all", "CIRCLE_FOLLOW_LIMIT", "0"},
		{"a number in words", "CIRCLE_FOLLOW_LIMIT", "many"},
		{"a role apart without a common server", "CIRCLE_REDIS_FEED_URL", "redis://localhost:6379"},
		{"a shared database over Redis in the process", "CIRCLE_DATABASE_URL", "mysql://circle@localhost/circle"},
		{"production in words", "CIRCLE_PRODUCTION", "perhaps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load([]string{c.setting + "=" + c.value})
			require.Error(t, err)
			if c.setting == "CIRCLE_REDIS_FEED_URL" || c.setting == "CIRCLE_DATABASE_URL" {
				assert.ErrorContains(t, err, "CIRCLE_REDIS_URL")
				return
			}
			assert.ErrorContains(t, err, c.setting)
		})
	}
}

func TestOutsideIdentityNeedsIssuerAndAudience(t *testing.T) {
	_, err := config.Load([]string{"CIRCLE_JWKS_URL=https://id.example.org/keys"})
	assert.ErrorContains(t, err, "CIRCLE_JWT_ISSUER")
	assert.ErrorContains(t, err, "CIRCLE_JWT_AUDIENCE")
	_, err = config.Load([]string{
		"CIRCLE_JWKS_URL=https://id.example.org/keys", "CIRCLE_JWT_ISSUER=https://id.example.org", "CIRCLE_JWT_AUDIENCE=circle",
	})
	assert.NoError(t, err)
}
