package sqlstore

import (
	"context"
	"log/slog"
	"time"

	"gorm.io/gorm/logger"
)

// slowStatement is from when on a statement is logged.
const slowStatement = time.Second

// slowLog logs slow statements without their values. Errors are their caller's to log.
type slowLog struct{ log *slog.Logger }

// LogMode is part of GORM's interface; there is one mode.
func (l slowLog) LogMode(logger.LogLevel) logger.Interface { return l }

// Info drops GORM's own remarks.
func (slowLog) Info(context.Context, string, ...any) {}

// Warn drops GORM's own remarks.
func (slowLog) Warn(context.Context, string, ...any) {}

// Error drops GORM's own remarks, which repeat what it returns.
func (slowLog) Error(context.Context, string, ...any) {}

// ParamsFilter keeps values out of what Trace is given.
func (slowLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) { return sql, nil }

// Trace logs a slow statement.
func (l slowLog) Trace(ctx context.Context, begin time.Time, statement func() (string, int64), _ error) {
	if took := time.Since(begin); took >= slowStatement {
		sql, rows := statement()
		l.log.WarnContext(ctx, "slow statement", "sql", sql, "rows", rows, "took", took)
	}
}
