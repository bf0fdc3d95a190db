package agent

import (
	"math"

	"gitlab.com/stopwatt/stopwatt"
)

// kind is an index into stopwatt.ErrorKinds.
type kind uint8

const (
	kindConnect kind = iota
	kindTimeout
	kindClosed
	kindProtocol
	kindStatus
	kindBody
	kinds
)

func (k kind) String() string { return stopwatt.ErrorKinds[k] }

// A tally is what one thread counted and timed.
type tally struct {
	start, end     int64 // ns of CLOCK_MONOTONIC
	requests       int64 // right answers
	errors         [kinds]int64
	first          [kinds]string
	sent, received int64 // bytes
	latency        stopwatt.Histogram
}

func newTally() *tally { return &tally{start: math.MaxInt64} }

// right counts a right answer that took this many nanoseconds.
func (t *tally) right(latency int64) {
	t.requests++
	t.latency.Record(latency)
}

// wrong counts errors of one kind and tells whether they are the first.
func (t *tally) wrong(k kind, n int64) (first bool) {
	t.errors[k] += n
	return t.errors[k] == n
}

// result adds up the tallies of all threads.
func result(tallies []*tally) stopwatt.DriveResult {
	all := stopwatt.DriveResult{
		Window:      stopwatt.Window{Start: math.MaxInt64},
		Errors:      map[string]int64{},
		FirstErrors: map[string]string{},
		Latency:     &stopwatt.Histogram{},
	}
	for _, t := range tallies {
		all.Window.Start = min(all.Window.Start, t.start)
		all.Window.End = max(all.Window.End, t.end)
		all.Requests += t.requests
		all.BytesSent += t.sent
		all.BytesReceived += t.received
		all.Latency.Merge(&t.latency)
		addErrors(&all, t)
	}
	return all
}

// addErrors keeps the first error of the first thread that had one of a kind.
func addErrors(all *stopwatt.DriveResult, t *tally) {
	for k := range kinds {
		if t.errors[k] == 0 {
			continue
		}
		if all.Errors[k.String()] == 0 {
			all.FirstErrors[k.String()] = t.first[k]
		}
		all.Errors[k.String()] += t.errors[k]
	}
}
