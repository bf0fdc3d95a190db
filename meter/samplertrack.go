package meter

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// slowest is how long the reading of a counter or a sensor may take before it
	// is taken again: when a process is held up in between, nobody knows when
	// the value was read.
	slowest = 5 * time.Millisecond
	// seldom is how often a total is asked for over the network where its renewals
	// need not be watched: what counts is read at the edges.
	seldom = time.Second
	// nearest is how near to each other a program's lines may come. Of those
	// that came out of a buffer together, the last counts.
	nearest = time.Millisecond
)

// A track is what one meter has said since its sampler began.
type track struct {
	instrument
	period time.Duration // from one reading to the next
	due    atomic.Int64  // the next reading, CLOCK_MONOTONIC
	grown  func()

	reading sync.Mutex // held while the meter is read, into raw
	raw     []int64

	mu       sync.Mutex // guards what follows
	counters []counter
	times    []int64 // as in stopwatt.Samples
	values   []int64
	gaps     []stopwatt.Gap // of a cumulative meter
	readAt   int64          // of the last good reading, a repeated one too
	failures []failure
	failing  int // how many readings failed since the last good one
}

// A failure is a reading that gave no value. Only the first of several alike,
// one after the other, is kept.
type failure struct {
	at     int64
	reason string
}

func newTrack(from instrument, every time.Duration, grown func()) *track {
	t := &track{instrument: from, period: max(every, from.renewal), grown: grown, raw: make([]int64, max(1, len(from.counters)))}
	t.counters = append(t.counters, from.counters...)
	if from.slow && from.renewal > 0 && t.cumulative() {
		t.period = max(t.period, seldom)
	}
	return t
}

// cumulative tells of a meter whose values are energy, and not power.
func (t *track) cumulative() bool { return len(t.counters) > 0 }

// give is how much earlier than it is due the meter may be read. A counter tells
// as much then; a chip would tell its last value again, and who is asked over the
// network is left alone.
func (t *track) give() int64 {
	if t.slow || !t.cumulative() {
		return 0
	}
	return int64(t.period) / 2
}

// mark reads the meter at an edge. One that has not answered for some time is not
// waited for until it has.
func (t *track) mark(host Host, m *mark) {
	if m.reason = t.silent(); m.reason != "" {
		return
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	at, err := t.take(host)
	t.due.Store(host.Monotonic() + int64(t.period))
	if err != nil {
		m.reason = err.Error()
		return
	}
	if m.last = at; m.first == 0 {
		m.first = at
	}
}

// silent says why a slow meter has not answered three times in a row.
func (t *track) silent() string {
	failed, reason := t.trouble()
	if !t.slow || failed < 3 {
		return ""
	}
	return reason
}

// trouble says how many readings have failed since the last good one, and why.
func (t *track) trouble() (failed int, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failing > 0 {
		reason = t.failures[len(t.failures)-1].reason
	}
	return t.failing, reason
}

// take reads the meter once and keeps the reading. It returns the middle of the
// time that the reading took. Whoever calls it holds t.reading.
func (t *track) take(host Host) (int64, error) {
	for tries := 1; ; tries++ {
		before := host.Monotonic()
		err := t.read(t.raw)
		after := host.Monotonic()
		if err == nil && !t.slow && tries < 3 && after-before > int64(slowest) {
			continue
		}
		at := before + (after-before)/2
		t.mu.Lock()
		defer t.mu.Unlock()
		return at, t.add(at, err)
	}
}

// heard takes a number from a meter that speaks by itself.
func (t *track) heard(at, value int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw[0] = value
	_ = t.add(at, err) // which keeps it as a failure
}

// mostPower is the greatest power that is believed, in µW: a rack's. What is
// beyond it are sentinels, like 4294967295000.
const mostPower = 20_000e6

// believable says what is wrong with a power in µW, whoever tells it.
func believable(microwatts int64) error {
	switch {
	case microwatts > mostPower:
		return fmt.Errorf("it says %d µW, which is no power but a sign that there is none", microwatts)
	case microwatts == 0:
		return errors.New("it says 0 W, and a machine that runs draws some")
	}
	return nil
}

// add keeps a reading of t.raw, or that there was none.
func (t *track) add(at int64, err error) error {
	defer t.grown()
	if err == nil && !t.cumulative() {
		err = believable(t.raw[0])
	}
	for i := range t.counters {
		if err == nil {
			err = t.counters[i].valid(t.raw[i])
		}
	}
	if err != nil {
		t.failing++
		if n := len(t.failures); n == 0 || t.failures[n-1].reason != err.Error() || t.failures[n-1].at < t.readAt {
			t.failures = append(t.failures, failure{at, err.Error()})
		}
		return err
	}
	if t.cumulative() {
		t.addEnergy(at)
	} else {
		t.addPower(at, t.raw[0])
	}
	t.readAt, t.failing = at, 0
	return nil
}

// addEnergy adds what the counters have gained.
func (t *track) addEnergy(at int64) {
	total, gap := int64(0), ""
	for i := range t.counters {
		used, lost := t.counters[i].step(at, t.raw[i])
		total += used
		if lost != "" {
			gap = lost
		}
	}
	n := len(t.times)
	if gap != "" && n > 0 {
		t.gaps = append(t.gaps, stopwatt.Gap{From: t.times[n-1], To: at, Reason: gap})
		total = 0
	}
	if n > 0 {
		total += t.values[n-1]
	}
	t.keep(at, total)
}

// addPower adds a power. A chip shows the mean over its last renewal, which
// ended at some time since the one before it: the value speaks of the middle of
// that. A value that comes again before the chip must have renewed it is the
// same one, and tells nothing new. Its clock may be a tenth slow.
func (t *track) addPower(at, microwatts int64) {
	n := len(t.times)
	if n > 0 && at-t.readAt < int64(t.renewal)*9/10 && microwatts == t.values[n-1] {
		return
	}
	since := max(t.readAt, at-int64(t.renewal))
	t.keep(since+(at-since)/2-int64(t.renewal)/2, microwatts)
}

// keep adds a sample.
func (t *track) keep(at, value int64) {
	if n := len(t.times); t.listen != nil && n > 0 && at-t.times[n-1] < int64(nearest) {
		t.values[n-1] = value
		return
	}
	t.times = append(t.times, at)
	t.values = append(t.values, value)
}
