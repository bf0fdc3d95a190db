package regression

import (
	"math"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// mostRounds is the greatest number of rounds that anybody is told to measure.
const mostRounds = 1000

// more is about how many rounds beside those measured would decide four times out
// of five, were the change what it seems and the spread too; 0 when no reasonable
// number would, as for a change of just the threshold, or between what Unchanged must
// be within and what the threshold is raised to, or when nothing is known.
//
// By the normal approximation: a distance of z standard errors is seen at level α
// with that probability when z is that of α and that of the power together.
func (p paired) more(threshold, within float64, family int, at stopwatt.Look) int {
	spread := p.spread()
	if p.n() == 0 || spread == 0 {
		return 0
	}
	shift := math.Abs(hodgesLehmann(p.averages))
	room := math.Log1p(within) - shift
	strict, seen := -normalQuantile(at.Suspect/float64(family)), normalQuantile(power)
	errors := (-normalQuantile(at.Unchanged) + seen) / room // of Unchanged, for each unit of distance
	if room < 0 {
		errors = max((strict+seen)/shift, seen/max(shift-math.Log1p(threshold), 0))
	}
	need := math.Ceil(math.Pow(errors*spread, 2))
	if !(need <= mostRounds) {
		return 0
	}
	// What seems enough already was not: another quarter, as any estimate of a
	// spread is about so rough.
	return max(int(need)-p.rounds, (p.rounds+3)/4)
}

// beyond is how many requests of a trial lie beyond a percentile of latency, by the
// median of the pairs' requests; the name says which percentile. The maximum is
// one too, with none beyond it.
func beyond(metric string, requests []float64) (count float64, percentile bool) {
	if metric == "latency_max" {
		return 0, true
	}
	name, ok := strings.CutPrefix(metric, "latency_p")
	at, err := strconv.ParseFloat(name, 64)
	if !ok || err != nil || len(requests) == 0 {
		return 0, ok && err == nil
	}
	return medianOf(requests) * (100 - at) / 100, true
}
