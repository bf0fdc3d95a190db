// Package migrations holds the database's schema as numbered SQL files.
//
// Each file is one step that only adds: stopwatts of several versions use one
// database. The package applies nothing; package storage does.
package migrations

import (
	"embed"
	"strconv"
	"strings"
)

// Files are the steps, in the form of github.com/pressly/goose.
//
//go:embed *.sql
var Files embed.FS

// Latest is the number of the last step.
func Latest() int {
	latest := 0
	entries, _ := Files.ReadDir(".") // embedded: it is there
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		n, _ := strconv.Atoi(number) // a name without a number is no step
		latest = max(latest, n)
	}
	return latest
}
