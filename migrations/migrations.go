// Package migrations holds the database's schema as numbered SQL files.
//
// Each file is one step that only adds: stopwatts of several versions use one
// database. The package applies nothing; package storage does.
package migrations

import "embed"

// Files are the steps, in the form of github.com/pressly/goose.
//
//go:embed *.sql
var Files embed.FS
