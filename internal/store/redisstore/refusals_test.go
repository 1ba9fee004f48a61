package redisstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// TestRefusalsAreToldOnceAFault makes a real server follow another that is not there, as after a failover.
func TestRefusalsAreToldOnceAFault(t *testing.T) {
	if !strings.HasPrefix(realURL(), schemeSingle+":") {
		return // nodes of a cluster follow whom the cluster says
	}
	f := onReal(t)
	follow := func(host, port string) {
		require.NoError(t, f.client().Do(t.Context(), "REPLICAOF", host, port).Err())
	}
	t.Cleanup(func() { _ = f.client().Do(context.Background(), "REPLICAOF", "NO", "ONE").Err() })
	push := func() error { return f.Timelines().Push(t.Context(), []int64{7}, social.Entry{Member: 1, Key: 1}) }
	told := func() (roles []string) {
		require.NoError(t, f.Refusing(func(of []string) error { roles = append(roles, of...); return nil }))
		return roles
	}
	require.NoError(t, push())
	require.Empty(t, told())
	for range 2 {
		follow("127.0.0.1", "1")
		require.Empty(t, told(), "nobody wrote")
		require.Error(t, push())
		require.Error(t, f.Refusing(func([]string) error { return errors.New("not now") }))
		require.Len(t, told(), len(Roles()), "until it succeeds")
		require.Error(t, push())
		_, err := f.Following().In(t.Context(), []int64{7}, 1)
		require.Error(t, err, "only a primary may tell")
		_, _, err = f.Logs().Listeners(t.Context(), 0)
		require.Error(t, err)
		require.Empty(t, told(), "once")
		follow("NO", "ONE")
		require.NoError(t, push())
		require.Empty(t, told())
	}
}
