package meter

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Window says what every meter used in a window, from the edge before it to the
// edge after it. It waits until power sensors have told of the window's end,
// which they do one renewal later.
func (s *Sampler) Window(before, after Edge, window stopwatt.Window) []stopwatt.Energy {
	s.await(window.End)
	var all []stopwatt.Energy
	for i, meter := range s.meters {
		var energy stopwatt.Energy
		switch t := s.tracks[i]; {
		case t == nil:
			energy.Absent = meter.refused.Error()
		case after.slept-before.slept > leastSleep:
			energy.Absent = fmt.Sprintf("the machine was suspended for %.1f s meanwhile", float64(after.slept-before.slept)/1e9)
		default:
			t.mu.Lock()
			energy = t.energy(before.of(i), after.of(i), window)
			t.mu.Unlock()
		}
		energy.Meter = meter.name
		all = append(all, energy)
	}
	return all
}

// of is the mark of a meter; none for an edge that was never read.
func (e Edge) of(i int) mark {
	if i < len(e.marks) {
		return e.marks[i]
	}
	return mark{}
}

// await waits until every track has a sample at or behind a time, within a
// bound: what does not come by then is missing.
func (s *Sampler) await(at int64) {
	for _, t := range s.present() {
		last, spacing := t.end()
		bound := at + min(4*int64(spacing), int64(5*time.Second))
		for ; last < at && s.host.Monotonic() < bound; last, _ = t.end() {
			select {
			case <-s.grew:
			case <-s.stopped:
				return
			case <-time.After(time.Duration(bound - s.host.Monotonic())):
			}
		}
	}
}

// end is the time of the last sample, 0 when there is none, and how far
// samples are from each other.
func (t *track) end() (last int64, spacing time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.times); n > 0 {
		last = t.times[n-1]
	}
	return last, t.spacing()
}

// energy is what the meter says was used in a window.
func (t *track) energy(before, after mark, window stopwatt.Window) stopwatt.Energy {
	energy := stopwatt.Energy{Renewals: t.renewals(window)}
	microjoules, covered := t.used(window)
	if length := window.End - window.Start; length > 0 {
		energy.Coverage = float64(covered) / float64(length)
	}
	energy.Absent = t.absent(before, after, window, energy)
	if energy.Absent != "" {
		return energy
	}
	// What the readings of a sensor do not cover is taken to be like the rest.
	energy.Gross = int64(microjoules/energy.Coverage + 0.5)
	if energy.Absent = t.coarse(window, energy.Gross); energy.Absent != "" {
		energy.Gross = 0
		return energy
	}
	energy.Warnings = t.doubts(window, energy)
	return energy
}

// absent says why there is no energy.
func (t *track) absent(before, after mark, window stopwatt.Window, energy stopwatt.Energy) string {
	switch {
	case window.End <= window.Start:
		return "the window has no length"
	case len(t.times) == 0:
		return "it gave no reading" + t.lately(stopwatt.Window{End: math.MaxInt64})
	}
	if t.cumulative() {
		if reason := t.loose(before, after, window, energy.Renewals); reason != "" {
			return reason
		}
		if gaps := overlapping(t.gaps, window); len(gaps) > 0 {
			return gaps[0].Reason
		}
	}
	// Before the renewals: a meter that fell silent has few of them, and a longer
	// window would not help.
	uncovered := energy.Coverage < stopwatt.LeastCoverage
	if reason := t.few(window, energy.Renewals); reason != "" && !(uncovered && t.lately(window) != "") {
		return reason
	}
	if uncovered {
		return fmt.Sprintf("its readings cover %.1f %% of the window, and %.0f %% are needed%s", 100*energy.Coverage, 100*stopwatt.LeastCoverage, t.lately(window))
	}
	return ""
}

// coarse says that a counter has hardly moved: it counts in units of a 2^32nd of
// its range, which is a joule for the platform of some servers.
func (t *track) coarse(window stopwatt.Window, gross int64) string {
	unit := int64(0)
	for _, c := range t.counters {
		unit = max(unit, c.span>>32)
	}
	switch {
	case !t.cumulative() || gross >= unit*stopwatt.LeastRenewals && gross > 0:
		return ""
	case gross <= unit:
		return fmt.Sprintf("its counter stood still for %.1f s", window.Duration().Seconds())
	}
	return fmt.Sprintf("it counts in steps of %.3g J, and %d of them are needed: %.3g J were used", float64(unit)/1e6, stopwatt.LeastRenewals, float64(gross)/1e6)
}

// lately adds to a reason the last failure in a window, or shortly after it, or
// the one before it since which there was no reading.
func (t *track) lately(window stopwatt.Window) string {
	for _, f := range slices.Backward(t.failures) {
		meant := f.at >= window.Start || f.at > t.readAt
		if meant && f.at-t.neighbourhood() <= window.End {
			return "; the last failure: " + f.reason
		}
	}
	return ""
}

// few says that a window is too short for the meter, and what would do.
func (t *track) few(window stopwatt.Window, renewals int64) string {
	if renewals >= stopwatt.LeastRenewals {
		return ""
	}
	seconds := window.Duration().Seconds()
	if renewals == 0 && t.renewal == 0 {
		return fmt.Sprintf("its value never changed in %.1f s", seconds)
	}
	renewal := t.period.Seconds()
	if t.cumulative() {
		renewal = t.renewal.Seconds()
	}
	if t.renewal == 0 {
		renewal = seconds / float64(renewals)
	}
	needed := stopwatt.LeastRenewals * renewal
	return fmt.Sprintf("it renewed its value %d times in %.3g s, and %d are needed: let the load last %.3g s or more, or make %.3g times the requests",
		renewals, seconds, stopwatt.LeastRenewals, needed, needed/seconds)
}

// renewals is how often the meter has renewed its value in a window, as far as
// its readings tell.
func (t *track) renewals(window stopwatt.Window) int64 {
	length := max(window.End-window.Start, 0)
	switch {
	case t.listen != nil && !t.cumulative(): // whatever it says, it has just measured
		first, last := t.within(window)
		return int64(last - first)
	case t.renewal == 0:
		return t.changes(window)
	case t.cumulative():
		return length / int64(t.renewal)
	}
	return length / int64(t.period)
}

// changes counts the samples in a window that differ from the one before.
func (t *track) changes(window stopwatt.Window) (n int64) {
	first, last := t.within(window)
	for i := max(first, 1); i < last; i++ {
		if t.times[i] > window.Start && t.values[i] != t.values[i-1] {
			n++
		}
	}
	return n
}

// doubts are what makes an energy less sure without taking it away.
func (t *track) doubts(window stopwatt.Window, energy stopwatt.Energy) []string {
	var doubts []string
	if energy.Coverage < 0.99 {
		doubts = append(doubts, fmt.Sprintf("readings cover %.1f %% of the window%s", 100*energy.Coverage, t.lately(window)))
	}
	first, last := t.within(window)
	if n := last - first; !t.cumulative() && n >= stopwatt.LeastRenewals && t.changes(window) == 0 {
		doubts = append(doubts, fmt.Sprintf("it said %.3f W in all of %d readings", float64(t.values[first])/1e6, n))
	}
	return doubts
}
