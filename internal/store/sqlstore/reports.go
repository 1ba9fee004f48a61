package sqlstore

import (
	"context"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// reportRow is a report. ClosedID is 0 while it is open, its own id afterwards.
type reportRow struct {
	ID         social.ReportID   `gorm:"column:id;primaryKey;autoIncrement:false"`
	ReporterID social.PlayerID   `gorm:"column:reporter_id"`
	Kind       social.TargetKind `gorm:"column:kind"`
	TargetID   int64             `gorm:"column:target_id"`
	Reason     string            `gorm:"column:reason"`
	ClosedID   social.ReportID   `gorm:"column:closed_id"`
	ClosedBy   social.PlayerID   `gorm:"column:closed_by"`
}

// TableName names the row's table.
func (reportRow) TableName() string { return "reports" }

// InsertReport writes a report, unless its reporter has an open one of the same thing.
func (tx *Tx) InsertReport(ctx context.Context, r social.Report) error {
	row := reportRow{ID: r.ID, ReporterID: r.Reporter, Kind: r.Target.Kind, TargetID: r.Target.ID, Reason: r.Reason}
	return wrap(tx.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error, "insert a report")
}

// CloseReport closes a report, if it is open.
func (tx *Tx) CloseReport(ctx context.Context, id social.ReportID, by social.PlayerID) error {
	const sql = "UPDATE reports SET closed_id = id, closed_by = ? WHERE id = ? AND closed_id = 0"
	return wrap(tx.with(ctx).Exec(sql, by, id).Error, "close a report")
}

const reportColumns = "SELECT id, reporter_id, kind, target_id, reason, closed_id > 0 FROM reports WHERE "

func scanReport(scan scanner) (*social.Report, error) {
	var r social.Report
	err := scan(&r.ID, &r.Reporter, &r.Target.Kind, &r.Target.ID, &r.Reason, &r.Resolved)
	return &r, err
}

// Reports lists at most limit reports with ids below below, newest first.
func (s *Store) Reports(ctx context.Context, below int64, limit int) ([]*social.Report, error) {
	var reports []*social.Report
	err := query(s.reader(ctx), reportColumns+"id < ? ORDER BY id DESC LIMIT ?", []any{below, limit}, func(scan scanner) error {
		r, err := scanReport(scan)
		reports = append(reports, r)
		return err
	})
	return reports, wrap(err, "list reports")
}

// ReportsByIDs reads reports; unknown ones are absent.
func (s *Store) ReportsByIDs(ctx context.Context, ids []social.ReportID) (map[social.ReportID]*social.Report, error) {
	found := make(map[social.ReportID]*social.Report, len(ids))
	for piece := range chunks(ids) {
		err := query(s.reader(ctx), reportColumns+"id IN ?", []any{piece}, func(scan scanner) error {
			r, err := scanReport(scan)
			found[r.ID] = r
			return err
		})
		if err != nil {
			return nil, wrap(err, "read reports")
		}
	}
	return found, nil
}
