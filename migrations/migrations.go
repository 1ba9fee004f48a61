// Package migrations embeds the schema's history, one folder of goose files per dialect. It is the
// only place where tables are made.
package migrations

import "embed"

// FS holds the folders mysql and sqlite.
//
//go:embed mysql/*.sql sqlite/*.sql
var FS embed.FS
