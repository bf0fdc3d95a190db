package report

import (
	"cmp"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// A course is a quantity over time, thinned to one point for each column of a
// chart, however many readings there are.
type course struct {
	name      string
	points    []point // in the order of time
	low, high float64
}

// A point is the mean of what was read while one column of a chart lasted.
type point struct {
	at, value float64 // seconds from the window's start; base units
	broken    bool    // there is a gap between this point and the one before
}

// A stretch is a part of a chart's time, in seconds from the window's start.
type stretch struct{ from, to float64 }

// length is how many seconds it lasts.
func (s stretch) length() float64 { return s.to - s.from }

// aside is how much of a window's length is shown before it and behind it.
const aside = 0.03

// shown is the stretch that a chart of a window shows.
func shown(window stopwatt.Window) stretch {
	seconds := window.Duration().Seconds()
	return stretch{-aside * seconds, (1 + aside) * seconds}
}

// A reading is what samples say of the time from one moment to another, in
// nanoseconds: of a sensor, of a single moment.
type reading struct {
	from, to int64
	value    float64
}

// readings are what samples say: rates of what is counted (W of J, CPUs of
// seconds), and values of all else, in base units. Times that do not rise, and
// those without a value, are left out.
func readings(s stopwatt.Samples) []reading {
	by, _ := s.Quantity.Base()
	counted := s.Quantity == stopwatt.EnergyUsed || s.Quantity == stopwatt.CPUUsed
	var all []reading
	last := -1
	for i := range min(len(s.Times), len(s.Values)) {
		at, value := s.Times[i], float64(s.Values[i])
		if last >= 0 && at <= s.Times[last] {
			continue
		}
		switch {
		case !counted:
			all = append(all, reading{at, at, value / by})
		case last >= 0:
			seconds := float64(at-s.Times[last]) / 1e9
			all = append(all, reading{s.Times[last], at, (value - float64(s.Values[last])) / by / seconds})
		}
		last = i
	}
	return all
}

// courseOf thins samples to at most so many points of what a chart of the window
// shows. A window without length shows nothing.
func courseOf(name string, s stopwatt.Samples, window stopwatt.Window, columns int) course {
	c := course{name: name, low: math.Inf(1), high: math.Inf(-1)}
	visible := shown(window)
	column, weight := -1, 0.0
	var last reading
	for _, r := range readings(s) {
		at := (float64(r.from-window.Start) + float64(r.to-window.Start)) / 2e9
		if inGap(s.Gaps, r.from, r.to) || at < visible.from || at > visible.to || visible.length() <= 0 {
			continue
		}
		here := min(int(float64(columns)*(at-visible.from)/visible.length()), columns-1)
		if here != column {
			c.points = append(c.points, point{at: at, broken: column >= 0 && inGap(s.Gaps, last.to, r.from)})
			column, weight = here, 0
		}
		w := max(float64(r.to-r.from), 1) // moments weigh the same
		weight += w
		p := &c.points[len(c.points)-1]
		p.at += (at - p.at) * w / weight
		p.value += (r.value - p.value) * w / weight
		last = r
	}
	for _, p := range c.points {
		c.low, c.high = min(c.low, p.value), max(c.high, p.value)
	}
	return c
}

// inGap tells whether a gap covers any of the time from one moment to another.
func inGap(gaps []stopwatt.Gap, from, to int64) bool {
	return slices.ContainsFunc(gaps, func(g stopwatt.Gap) bool { return g.From < to && g.To > from })
}

// gapsShown are the gaps of samples that a chart of the window shows, with the
// first reason of those that lie so near to each other that they would be drawn
// as one.
func gapsShown(all []stopwatt.Samples, window stopwatt.Window, columns int) []gapShown {
	visible := shown(window)
	near := visible.length() / float64(columns)
	var gaps []gapShown
	for _, s := range all {
		for _, g := range s.Gaps {
			from, to := float64(g.From-window.Start)/1e9, float64(g.To-window.Start)/1e9
			from, to = max(from, visible.from), min(to, visible.to)
			if from < to {
				gaps = append(gaps, gapShown{stretch{from, to}, short(s.Meter) + ": " + short(g.Reason)})
			}
		}
	}
	slices.SortStableFunc(gaps, func(a, b gapShown) int { return cmp.Compare(a.from, b.from) })
	var joined []gapShown
	for _, g := range gaps {
		if n := len(joined) - 1; n >= 0 && g.from-joined[n].to < near {
			joined[n].to = max(joined[n].to, g.to)
			continue
		}
		joined = append(joined, g)
	}
	return joined
}

// A gapShown is a stretch without readings, and why.
type gapShown struct {
	stretch
	why string
}
