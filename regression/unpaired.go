package regression

import (
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// unpairedRate is the false discovery rate of two runs that hold the control case:
// that of a first look times the level of a confirmation, for there are no fresh
// pairs to confirm anything.
const unpairedRate = 0.05 * 0.05

// unpairedLevel is the one-sided level of Unchanged, as of a fixed plan's one look.
const unpairedLevel = 0.01

// Unpaired compares two runs at two times: Mann and Whitney's shift, as a ratio, with
// its interval and exact p. There is no verdict: with the same on both sides such
// tests were measured to call 21 to 54 of 100 different, for a machine is not the
// same at two times.
//
// Where both runs hold rounds of the control case, which never changes, each value
// is taken relative to the control's of its round, and there are verdicts: by the
// false discovery rate of all such comparisons together, and by the threshold.
//
// NaN, infinite and negative values are left out.
func Unpaired(trials []stopwatt.UnpairedTrials) []stopwatt.Comparison {
	all := make([]stopwatt.Comparison, len(trials))
	values := make([]unpaired, len(trials))
	for i, t := range trials {
		values[i] = unpairedOf(t)
		all[i] = values[i].comparison(t)
	}
	judgeUnpaired(all, values)
	return all
}

// The values of two runs that can be compared: as they are, or relative to the
// control case.
type unpaired struct {
	base, head []float64
	logs       []float64 // ln(head ÷ base) of every value with every other, sorted
	controlled bool
	within     float64 // what Unchanged rules out: the suite's threshold
}

// unpairedOf takes values relative to the control case where both runs can.
func unpairedOf(t stopwatt.UnpairedTrials) unpaired {
	u := unpaired{base: relative(t.Base, t.BaseControl), head: relative(t.Head, t.HeadControl), controlled: true}
	if len(u.base) == 0 || len(u.head) == 0 {
		u = unpaired{base: countable(t.Base), head: countable(t.Head)}
	}
	u.within = t.Threshold
	for _, h := range u.head {
		for _, b := range u.base {
			u.logs = append(u.logs, logRatio(h, b))
		}
	}
	slices.Sort(u.logs)
	return u
}

// countable are the values that a ratio can be made of.
func countable(rounds []stopwatt.RoundValue) []float64 {
	var values []float64
	for _, r := range rounds {
		if finite(r.Value) && r.Value >= 0 {
			values = append(values, r.Value)
		}
	}
	return values
}

// relative divides each value by the control's of its round. Rounds without one are
// left out, and so are those in which the control has nothing.
func relative(rounds, control []stopwatt.RoundValue) []float64 {
	by := map[int]float64{}
	for _, r := range control {
		by[r.Round] = r.Value
	}
	var values []float64
	for _, r := range rounds {
		if value := r.Value / by[r.Round]; by[r.Round] > 0 && r.Value >= 0 && finite(value) {
			values = append(values, value)
		}
	}
	return values
}

// comparison says what the values say, without a verdict.
func (u unpaired) comparison(t stopwatt.UnpairedTrials) stopwatt.Comparison {
	c := stopwatt.Comparison{Case: t.Case, Metric: t.Metric, Verdict: stopwatt.NotJudged, Threshold: max(t.Threshold, t.Floor)}
	kind := stopwatt.NotPaired
	if u.controlled {
		kind = stopwatt.ByControl
	}
	c.Doubts = []stopwatt.Doubt{{Kind: kind, Have: float64(len(u.head)), Need: float64(len(u.base))}}
	if len(u.logs) == 0 {
		c.Verdict = stopwatt.Missing
		c.Estimate = stopwatt.Estimate{Worse: 1, Better: 1}
		return c
	}
	up, down := mannWhitney(u.head, u.base)
	c.Estimate = stopwatt.Estimate{
		N:    min(len(u.base), len(u.head)),
		Base: medianOf(countable(t.Base)), Head: medianOf(countable(t.Head)),
		Ratio: u.interval((1 - confidence) / 2), Worse: up, Better: down,
	}
	if t.Metric.Better == stopwatt.More {
		c.Estimate.Worse, c.Estimate.Better = down, up
	}
	return c
}

// bounds are the shifts that the test does not reject at a one-sided level.
func (u unpaired) bounds(level float64) bounds {
	place, attained := criticalCount(len(u.head), len(u.base), level)
	if place < 0 {
		return bounds{}
	}
	return bounds{u.logs[place], u.logs[len(u.logs)-1-place], attained, true}
}

// interval is the median of all quotients (Hodges and Lehmann 1963, as
// hodgesLehmann), with its bounds at a one-sided level.
func (u unpaired) interval(level float64) stopwatt.Interval {
	return intervalOf(hodgesLehmann(u.logs), u.bounds(level))
}

// judgeUnpaired gives verdicts to those comparisons that the control case allows.
func judgeUnpaired(all []stopwatt.Comparison, values []unpaired) {
	var judged []int
	var worse, better []float64
	for i, c := range all {
		if values[i].controlled && directed(c.Metric) {
			judged = append(judged, i)
			worse, better = append(worse, c.Estimate.Worse), append(better, c.Estimate.Better)
		}
	}
	regressed := falseDiscoveries(worse, len(judged), unpairedRate)
	improved := falseDiscoveries(better, len(judged), unpairedRate)
	for k, i := range judged {
		beyond := math.Abs(hodgesLehmann(values[i].logs)) > math.Log1p(all[i].Threshold)
		switch all[i].Family, all[i].Verdict = len(judged), stopwatt.Undecided; {
		case regressed[k].rejected && beyond:
			all[i].Verdict = stopwatt.Regressed
		case improved[k].rejected && beyond:
			all[i].Verdict = stopwatt.Improved
		case values[i].bounds(unpairedLevel).within(values[i].within):
			all[i].Verdict = stopwatt.Unchanged
		}
	}
}
