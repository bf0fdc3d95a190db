//go:build linux

package agent

import (
	"fmt"
	"math"
	"time"

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
	failed         int64 // requests that ended in an error
	errors         [kinds]int64
	first          [kinds]string
	notSent        [kinds]int64 // of the errors
	sent, received int64        // bytes
	due            int64        // requests of an open load
	late           int64        // of them, those that could not be begun in time
	checked        int64        // answers whose body was hashed
	redirects      int64        // that were followed
	latency        stopwatt.Histogram
	service        stopwatt.Histogram // of an open load
	connect        stopwatt.Histogram
	lag            stopwatt.Histogram
	course         *course
}

func newTally(load stopwatt.Load) *tally {
	return &tally{start: math.MaxInt64, course: newCourse(load)}
}

// begin says when driving begins.
func (t *tally) begin(now int64) {
	t.start = now
	t.course.begin(now)
}

// at says what time it is, before anything of that instant is counted.
func (t *tally) at(now int64) {
	t.end = now
	if now >= t.course.edge {
		t.course.turn(now, t.counts(), &t.latency)
	}
}

// close ends the last second.
func (t *tally) close() { t.course.keep(t.counts(), &t.latency) }

func (t *tally) counts() counts { return counts{t.requests, t.failed, t.sent, t.received} }

// right counts a right answer that took this many nanoseconds.
func (t *tally) right(latency int64) {
	t.requests++
	t.course.latency.Record(latency)
}

// wrong counts an error and tells whether it is the first of its kind.
func (t *tally) wrong(k kind) (first bool) {
	t.errors[k]++
	t.failed++
	return t.errors[k] == 1
}

// unsent counts requests as errors that were never sent, because their user
// had met too many errors of this kind.
func (t *tally) unsent(k kind, n int64) {
	t.errors[k] += n
	t.failed += n
	t.notSent[k] += n
}

// result adds up the tallies of all threads. They are used up.
func result(tallies []*tally, load stopwatt.Load) stopwatt.DriveResult {
	sum, courses := tallies[0], []*course{}
	for i, t := range tallies {
		t.close()
		courses = append(courses, t.course)
		if i > 0 {
			sum.add(t)
		}
	}
	result := stopwatt.DriveResult{
		Window:        stopwatt.Window{Start: sum.start, End: sum.end},
		Requests:      sum.requests,
		Errors:        map[string]int64{},
		FirstErrors:   map[string]string{},
		BytesSent:     sum.sent,
		BytesReceived: sum.received,
		Latency:       &sum.latency,
		Connect:       &sum.connect,
		Lag:           &sum.lag,
		Checked:       sum.checked,
		Redirects:     sum.redirects,
		Every:         time.Duration(sum.course.every),
		Seconds:       seconds(courses),
	}
	if load.Open() {
		result.Service, result.Due, result.Unsent = &sum.service, sum.due, sum.late
	}
	for k := range kinds {
		if sum.errors[k] > 0 {
			result.Errors[k.String()] = sum.errors[k]
			result.FirstErrors[k.String()] = sum.tell(k)
		}
	}
	return result
}

// add adds another thread's tally. The first error of a kind is then the first
// thread's that met one.
func (t *tally) add(other *tally) {
	t.start = min(t.start, other.start)
	t.end = max(t.end, other.end)
	t.requests += other.requests
	t.sent += other.sent
	t.received += other.received
	t.due += other.due
	t.late += other.late
	t.checked += other.checked
	t.redirects += other.redirects
	t.latency.Merge(&other.latency)
	t.service.Merge(&other.service)
	t.connect.Merge(&other.connect)
	t.lag.Merge(&other.lag)
	for k := range kinds {
		if t.errors[k] == 0 {
			t.first[k] = other.first[k]
		}
		t.errors[k] += other.errors[k]
		t.notSent[k] += other.notSent[k]
	}
}

// tell tells the first error of a kind, and how many were never met.
func (t *tally) tell(k kind) string {
	if t.notSent[k] == 0 {
		return t.first[k]
	}
	return fmt.Sprintf("%s; %d requests were not even sent, for their users had given up", t.first[k], t.notSent[k])
}
