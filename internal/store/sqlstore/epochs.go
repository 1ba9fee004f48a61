package sqlstore

import "context"

// Epochs reads the index epoch of each Redis role.
func (s *Store) Epochs(ctx context.Context) (map[string]uint32, error) {
	var rows []struct {
		Role  string
		Epoch uint32
	}
	err := s.reader(ctx).Raw("SELECT role, epoch FROM index_epochs").Scan(&rows).Error
	epochs := make(map[string]uint32, len(rows))
	for _, r := range rows {
		epochs[r.Role] = r.Epoch
	}
	return epochs, wrap(err, "read index epochs")
}

// RaiseEpochs makes everything in Redis absent: each role's index epoch grows by one. Servers see
// it the next time they read the epochs.
func (s *Store) RaiseEpochs(ctx context.Context) error {
	return wrap(s.writer(ctx).Exec("UPDATE index_epochs SET epoch = epoch + 1").Error, "raise index epochs")
}

// RaiseEpochsOf is RaiseEpochs for the given roles alone.
func (s *Store) RaiseEpochsOf(ctx context.Context, roles []string) error {
	_, err := s.exec(ctx, "UPDATE index_epochs SET epoch = epoch + 1 WHERE role IN ?", roles)
	return wrap(err, "raise index epochs")
}
