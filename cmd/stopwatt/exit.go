package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// Exit statuses. Not 1 for what was measured: shells and panics use it, and a
// pipeline must tell them apart.
const (
	exitOK           = 0
	exitInternal     = 1 // an error of stopwatt's own
	exitAskedWrongly = 2 // the suite or the flags
	exitIncomplete   = 3 // not all that was asked could be measured
	exitSurroundings = 4 // Docker, the database, the disk
	exitRegressed    = 10
	exitUndecided    = 11 // only where the suite's judge.fail-on asks for it
)

// A failure is an error that knows its exit status.
type failure struct {
	status int
	err    error
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// askedWrongly marks an error as the person's to mend.
func askedWrongly(err error) error { return failure{exitAskedWrongly, err} }

// incomplete marks an error as one of measuring.
func incomplete(err error) error { return failure{exitIncomplete, err} }

// surroundings marks an error as one of Docker, the database or the disk.
func surroundings(err error) error { return failure{exitSurroundings, err} }

// harmless is an error as a terminal may be told it: what registries, engines, git and
// GitLab say stands in errors, too, and none of it may act. Its lines stay.
func harmless(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		shown := strings.TrimLeft(line, " ")
		lines[i] = line[:len(line)-len(shown)] + report.Clean(shown)
	}
	return strings.Join(lines, "\n")
}

// status prints what went wrong and turns it into the exit status.
func (d *desk) status(err error) int {
	if err == nil {
		return exitOK
	}
	var said quiet
	if !errors.As(err, &said) {
		fmt.Fprintln(d.stderr, harmless(err))
	}
	var known failure
	var faults stopwatt.Faults
	switch {
	case errors.Is(err, context.Canceled): // whatever was being done then
		return exitIncomplete
	case errors.As(err, &known):
		return known.status
	case errors.As(err, &faults):
		return exitAskedWrongly
	case stopwatt.EngineFailed(err):
		return exitSurroundings
	}
	return exitInternal
}

// quiet is an error that has been told already.
type quiet struct{ error }

func (q quiet) Unwrap() error { return q.error }
