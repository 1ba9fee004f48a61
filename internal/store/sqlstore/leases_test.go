package sqlstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestNodeLeasesAreReplacedAsTheyWereRead(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		leases, err := s.NodeLeases(t.Context(), 0, social.MaxNode)
		require.NoError(t, err)
		require.Len(t, leases, social.MaxNode+1)
		free := leases[3]
		require.Equal(t, social.NodeLease{Node: 3, Until: time.UnixMilli(0)}, free)

		mine := social.NodeLease{Node: 3, Owner: 5, Until: begin}
		for _, want := range []bool{true, false} {
			ok, err := s.ReplaceNodeLease(t.Context(), free, mine)
			require.NoError(t, err)
			require.Equal(t, want, ok)
		}
		now, err := s.NodeLeases(t.Context(), 3, 3)
		require.NoError(t, err)
		require.Equal(t, []social.NodeLease{mine}, now)
		_, err = s.ReplaceNodeLease(t.Context(), mine, leases[4])
		require.Error(t, err)
	})
}

func TestEpochsRise(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		for _, want := range []uint32{1, 2} {
			epochs, err := s.Epochs(t.Context())
			require.NoError(t, err)
			require.Equal(t, map[string]uint32{"profile": want, "detail": want, "relation": want, "feed": want, "activity": want, "log": want}, epochs)
			require.NoError(t, s.RaiseEpochs(t.Context()))
		}
	})
}
