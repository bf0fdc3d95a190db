//go:build linux

// Package agent is the small program that is put into a container to drive
// load: it asks until a server is ready, drives, counts and times.
//
// It judges nothing and stores nothing: it reports what was counted, as
// stopwatt.DriveReport, to whoever holds its standard input. It starts no
// containers and reads no meters but its own CPU time.
package agent

import (
	"context"

	"gitlab.com/stopwatt/stopwatt"
)

// A Driver drives load as ordered and reports what it counted and timed:
// every request of the order once, as a right answer or as an error of one
// kind. bodyBytes are how long the bodies of right answers are, to each of what
// is asked; AnyLength, or nothing, where that is not known. An error means that the order could not be carried out at all, or that ctx ended.
type Driver interface {
	Drive(ctx context.Context, order stopwatt.DriveOrder, bodyBytes ...int64) (stopwatt.DriveResult, error)
}

// AnyLength says that the length of an answer's body is not compared.
const AnyLength = -1
