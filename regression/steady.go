package regression

import (
	"cmp"
	"gitlab.com/stopwatt/stopwatt"
	"math"
	"slices"
)

const (
	// leastToTell is the fewest values in which a steady state is looked for.
	leastToTell = 10
	// leastLast is the share of the values that the last level must have: less at
	// the end is a disturbance.
	leastLast = 0.1
	// leastSteady is the share of the values that a steady state must have.
	leastSteady = 1.0 / 3
	// leastCalm is the share of the values of a steady state that must lie at its
	// level: the rest may be disturbances.
	leastCalm = 0.8
)

// Steady says whether values, taken at these times, came to rest: requests per
// second or latency over the time of a trial, what the repetitions of a
// command took, or the iterations of a harness. Times are in any unit and
// ascend; values without a number are gaps; what is longer of the two lists
// is not looked at.
//
// The levels are found as change points are, the steps of a drift included. The
// steady state is that of the last level which lasted for a tenth of the values:
// it begins with the first stretch from which on four fifths of the values lie
// at this level, within the rule's tolerance; a short approach to it is looked
// for too. When less than a third of the values are left, a steady state was
// never reached (compare E. Barrett et al., Virtual machine warmup blows hot and
// cold, OOPSLA 2017, whose classes these are).
//
// Of 12,800 stationary series, of 10 to 300 values with autocorrelation of up to
// 0.8, twelve are called late or never, and at most one in a hundred of any kind;
// TestSteadyCriesNoWolf holds that.
func Steady(times, values []float64, rule stopwatt.SteadyRule) stopwatt.Steadiness {
	kept, numbers := withNumbers(values[:min(len(values), len(times))])
	found := stopwatt.Steadiness{State: stopwatt.SteadyUnknown, N: len(numbers)}
	if len(numbers) < leastToTell {
		return found
	}
	level, tolerance := cmp.Or(rule.Level, 0.0001), cmp.Or(rule.Tolerance, 0.05)
	d := newDivision(numbers, priorOfSeconds)
	d.drift = true
	stretches := d.stretches(level)
	last := lastLevel(stretches, leastLast*float64(len(numbers)))
	found.First, found.Last = stretches[0].Level, last
	from := steadyFrom(stretches, last, tolerance)
	if from == 0 {
		from = d.settledAt(level, tolerance)
	}
	switch {
	case from == 0:
		found.State = stopwatt.SteadyAtOnce
	case float64(len(numbers)-from) < leastSteady*float64(len(numbers)):
		found.State = stopwatt.SteadyNever
	default:
		found.State = stopwatt.SteadyLate
		found.From = kept[from]
		found.Longer = times[kept[from]] - times[kept[0]]
	}
	return found
}

// withNumbers are the finite values, and the index of each.
func withNumbers(values []float64) (kept []int, numbers []float64) {
	for i, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept, numbers = append(kept, i), append(numbers, v)
		}
	}
	return kept, numbers
}

// A stretch is where values stayed at a level.
type stretch struct {
	stopwatt.Level
	from int
}

// stretches parts the values by level.
func (d *division) stretches(level float64) []stretch {
	places := d.search(level)
	stretches := make([]stretch, len(places)+1)
	for i := range stretches {
		from, to := d.between(places, i)
		if i < len(places) {
			to = places[i].at
		}
		stretches[i] = stretch{d.level(from, to), from}
	}
	return stretches
}

// settledAt is where a short approach to the level of the last third ends, which
// has no levels of its own to be found by; 0 when there is none. There is one
// when the first values, however many up to half, differ from that level together by
// more than noise like that of the last third allows.
func (d *division) settledAt(level, tolerance float64) int {
	n := len(d.values)
	tail := d.values[n-n/3:]
	settled := describe(slices.Clone(tail))
	reach := tolerance * math.Abs(settled.Mean*d.unit+d.centre) / d.unit
	noise, r := noiseOf(tail, nil, d.prior, true)
	excess := excessOf(r)
	df := max(float64(len(tail))/excess-1, 1)
	sum, least := 0.0, 1.0
	for i, x := range d.values[:n/2] {
		sum += x - settled.Mean
		k := float64(i + 1)
		spread := max(settled.SD, noise) * math.Sqrt(excess*(k+k*k/float64(len(tail))))
		if sum != 0 && k >= leastStretch {
			least = min(least, studentTail(sum/max(spread, math.Abs(sum)/mostT), df))
		}
	}
	if least*float64(n/2) > level {
		return 0
	}
	for from := range n / 2 {
		if math.Abs(d.sums.mean(from, from+leastStretch)-settled.Mean) <= reach {
			return from
		}
	}
	return 0
}

// lastLevel is that of the last stretch of at least so many values.
func lastLevel(stretches []stretch, least float64) stopwatt.Level {
	for i := len(stretches) - 1; i >= 0; i-- {
		if float64(stretches[i].N) >= least {
			return stretches[i].Level
		}
	}
	return stretches[len(stretches)-1].Level
}

// steadyFrom is the index of the first value of a stretch at this level from
// which on enough values lie at it.
func steadyFrom(stretches []stretch, level stopwatt.Level, tolerance float64) int {
	from, all, calm := 0, 0, 0
	for i := len(stretches) - 1; i >= 0; i-- {
		s := stretches[i]
		all += s.N
		if math.Abs(s.Mean-level.Mean) > tolerance*math.Abs(level.Mean) {
			continue
		}
		calm += s.N
		if float64(calm) >= leastCalm*float64(all) {
			from = s.from
		}
	}
	return from
}
