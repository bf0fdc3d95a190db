package meter

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// loosest is how far from an edge of the window the reading at it may be,
	// where neither a two-hundredth of the window nor the meter's own step is
	// more. Between the two, power is taken to be what it is until the next reading.
	loosest = 20 * time.Millisecond
	// patience is how many times the usual spacing may lie between two samples
	// that still are neighbours: one reading may fail.
	patience = 2.5
)

// used integrates over a window: µJ, and how many nanoseconds of the window the
// samples cover.
func (t *track) used(window stopwatt.Window) (microjoules float64, covered int64) {
	if t.cumulative() {
		return t.difference(window)
	}
	return t.trapezoids(window)
}

// difference is what a cumulative meter has gained, its total at the edges
// taken from the straight line between the readings round them.
func (t *track) difference(window stopwatt.Window) (microjoules float64, covered int64) {
	from, to := t.clip(window)
	if from >= to {
		return 0, 0
	}
	covered = to - from
	for _, gap := range overlapping(t.gaps, window) {
		covered -= min(gap.To, to) - max(gap.From, from)
	}
	return t.at(to) - t.at(from), covered
}

// clip is the part of a window that lies between the first and the last sample.
func (t *track) clip(window stopwatt.Window) (from, to int64) {
	n := len(t.times)
	if n == 0 {
		return 0, 0
	}
	return max(window.Start, t.times[0]), min(window.End, t.times[n-1])
}

// at is the value at a time that lies between the first and the last sample, on
// the straight line between its neighbours. Relative to the first: a float has
// digits enough for what was used since then.
func (t *track) at(when int64) float64 {
	i := sort.Search(len(t.times), func(i int) bool { return t.times[i] > when })
	if i == len(t.times) {
		return float64(t.values[i-1] - t.values[0])
	}
	return float64(t.values[i-1]-t.values[0]) + line(t, i-1, when)
}

// line is how much the value has risen from sample i to a time before the next.
func line(t *track, i int, when int64) float64 {
	rise, run := float64(t.values[i+1]-t.values[i]), float64(t.times[i+1]-t.times[i])
	return rise * float64(when-t.times[i]) / run
}

// trapezoids integrates power along the straight lines between neighbours.
func (t *track) trapezoids(window stopwatt.Window) (microjoules float64, covered int64) {
	most := t.neighbourhood()
	first, last := t.round(window)
	for i := first; i+1 < last; i++ {
		from, to := max(t.times[i], window.Start), min(t.times[i+1], window.End)
		if from >= to || t.times[i+1]-t.times[i] > most {
			continue
		}
		mean := float64(t.values[i]) + (line(t, i, from)+line(t, i, to))/2
		microjoules += mean * float64(to-from) / 1e9
		covered += to - from
	}
	return microjoules, covered
}

// neighbourhood is how far from each other neighbouring samples of a sensor may
// be, in nanoseconds.
func (t *track) neighbourhood() int64 { return int64(patience * float64(t.spacing())) }

// spacing is the usual time from one sample to the next: the period of the
// readings, or the mean of what a program has printed until now.
func (t *track) spacing() time.Duration {
	n := len(t.times)
	if t.listen == nil || n < 2 {
		return t.period
	}
	return max(t.period, time.Duration((t.times[n-1]-t.times[0])/int64(n-1)))
}

// loose says that an edge of the window has no reading near it. Of a program
// that prints when it likes, lines on both sides of the edge must do.
func (t *track) loose(before, after mark, window stopwatt.Window, renewals int64) string {
	if t.listen != nil {
		return t.unheard(window)
	}
	step := int64(t.renewal)
	if step == 0 && renewals > 0 {
		step = (window.End - window.Start) / renewals
	}
	tolerance := max(int64(loosest), (window.End-window.Start)/200, step)
	for _, edge := range []struct {
		name string
		at   int64
		mark mark
	}{{"start", window.Start, before}, {"end", window.End, after}} {
		far := min(distance(edge.mark.first, edge.at), distance(edge.mark.last, edge.at))
		switch {
		case edge.mark.reason != "" && far > tolerance:
			return fmt.Sprintf("it could not be read at the window's %s: %s", edge.name, edge.mark.reason)
		case edge.mark.first == 0:
			return fmt.Sprintf("it was not read at the window's %s", edge.name)
		case far > tolerance:
			return fmt.Sprintf("it was read %.0f ms from the window's %s", float64(far)/1e6, edge.name)
		}
	}
	return ""
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// unheard says that an edge of the window has no line on one of its sides.
func (t *track) unheard(window stopwatt.Window) string {
	for _, edge := range []struct {
		name string
		at   int64
	}{{"start", window.Start}, {"end", window.End}} {
		i := sort.Search(len(t.times), func(i int) bool { return t.times[i] >= edge.at })
		if i == 0 || i == len(t.times) || t.times[i]-t.times[i-1] > t.neighbourhood() {
			return fmt.Sprintf("it said nothing near the window's %s%s", edge.name, t.lately(window))
		}
	}
	return ""
}

// overlapping are the gaps that touch a window.
func overlapping(gaps []stopwatt.Gap, window stopwatt.Window) []stopwatt.Gap {
	var touching []stopwatt.Gap
	for _, gap := range gaps {
		if gap.From < window.End && gap.To > window.Start {
			touching = append(touching, gap)
		}
	}
	return touching
}

// within are the places of the samples in a window, from first to before last.
func (t *track) within(window stopwatt.Window) (first, last int) {
	first = sort.Search(len(t.times), func(i int) bool { return t.times[i] >= window.Start })
	last = sort.Search(len(t.times), func(i int) bool { return t.times[i] > window.End })
	return first, last
}

// round are the places of the samples in a window and of their next neighbours
// on both sides, from first to before last.
func (t *track) round(window stopwatt.Window) (first, last int) {
	first, last = t.within(window)
	return max(first-1, 0), min(last+1, len(t.times))
}

// samples are those in a window and their next neighbours on both sides.
func (t *track) samples(window stopwatt.Window) stopwatt.Samples {
	first, last := t.round(window)
	samples := stopwatt.Samples{
		Quantity: stopwatt.PowerDrawn,
		Times:    slices.Clone(t.times[first:last]),
		Values:   slices.Clone(t.values[first:last]),
		Gaps:     t.pauses(first, last),
	}
	if t.cumulative() {
		samples.Quantity, samples.Gaps = stopwatt.EnergyUsed, overlapping(t.gaps, window)
		for i := range samples.Values {
			samples.Values[i] -= t.values[first]
		}
	}
	return samples
}

// pauses are the gaps between samples of a sensor that are no neighbours.
func (t *track) pauses(first, last int) []stopwatt.Gap {
	var gaps []stopwatt.Gap
	for i := first; i+1 < last; i++ {
		from, to := t.times[i], t.times[i+1]
		if to-from <= t.neighbourhood() {
			continue
		}
		reason := "it was not read"
		for _, f := range t.failures {
			if f.at > from && f.at-int64(t.renewal) < to {
				reason = f.reason
			}
		}
		gaps = append(gaps, stopwatt.Gap{From: from, To: to, Reason: reason})
	}
	return gaps
}

// recent is the mean power until the last sample, in watts, over a second or a
// little more; not known when that is long ago.
func (t *track) recent(now int64) (watts float64, ok bool) {
	n := len(t.times)
	if n < 2 || now-t.times[n-1] > t.neighbourhood()+int64(t.renewal) {
		return 0, false
	}
	window := stopwatt.Window{Start: t.times[n-1] - int64(max(time.Second, t.spacing())), End: t.times[n-1]}
	microjoules, covered := t.used(window)
	if covered == 0 || len(overlapping(t.gaps, window)) > 0 {
		return 0, false
	}
	return microjoules / 1e6 / (float64(covered) / 1e9), true
}
