package regression

import (
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// confidence is that of every interval that is shown.
const confidence = 0.95

// power is how probable it is that the smallest change that "can be seen" is seen.
// Four times out of five, the usual convention (J. Cohen, Statistical Power
// Analysis for the Behavioral Sciences, 1988).
const power = 0.8

// Those of some pairs that have both values, as ratios, and what was counted of
// all.
type paired struct {
	logs       []float64 // ln(head ÷ base); infinite where one side is 0
	averages   []float64 // their Walsh averages, sorted
	base, head []float64
	requests   []float64

	rounds    int // pairs that were measured, those without a value too
	negative  int
	fromZero  int
	intoZero  int
	different bool // not all ratios are the same
}

// pairsOf takes the pairs of rounds first to last, for estimates.
func pairsOf(pairs []stopwatt.Pair, first, last int) paired {
	p := collect(pairs, first, last)
	p.averages = walshAverages(p.logs)
	return p
}

// collect takes the pairs of rounds first to last, for counting. Those without a
// number on either side and those with a negative one have no ratio.
func collect(pairs []stopwatt.Pair, first, last int) paired {
	var p paired
	for _, pair := range pairs {
		if pair.Round < first || pair.Round > last {
			continue
		}
		p.rounds++
		if finite(pair.Base) && finite(pair.Head) {
			p.add(pair)
		}
	}
	return p
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// add takes in a pair of finite values.
func (p *paired) add(pair stopwatt.Pair) {
	switch {
	case pair.Base < 0 || pair.Head < 0:
		p.negative++
		return
	case pair.Base == 0 && pair.Head > 0:
		p.fromZero++
	case pair.Head == 0 && pair.Base > 0:
		p.intoZero++
	}
	p.logs = append(p.logs, logRatio(pair.Head, pair.Base))
	p.base = append(p.base, pair.Base)
	p.head = append(p.head, pair.Head)
	p.requests = append(p.requests, pair.Requests)
	p.different = p.different || !sameLog(p.logs[0], p.logs[len(p.logs)-1])
}

// logRatio is ln(head ÷ base) of values that are not negative: 0 for equal ones, 0
// and 0 too, and infinite where one of them is 0. Turned round it has the other
// sign, to the last bit, so that a verdict does not depend on which side is which.
func logRatio(head, base float64) float64 {
	switch {
	case head == base:
		return 0
	case head > base:
		return logOver(head, base)
	}
	return -logOver(base, head)
}

// logOver is the logarithm of a quotient above 1, of subnormal numbers too.
func logOver(above, below float64) float64 {
	if q := above / below; below > 0 && !math.IsInf(q, 1) {
		return math.Log(q)
	}
	return math.Log(above) - math.Log(below)
}

func sameLog(a, b float64) bool { return a == b || math.Abs(a-b) <= sameRatio }

// n is how many pairs count.
func (p paired) n() int { return len(p.logs) }

// estimate says what the pairs say. Worse and better are those of the metric's
// direction; level is the strictest one-sided p that a change may need in its
// family.
func (p paired) estimate(better stopwatt.Better, level float64) stopwatt.Estimate {
	if p.n() == 0 {
		return stopwatt.Estimate{Worse: 1, Better: 1}
	}
	up, down := signedRank(p.logs)
	e := stopwatt.Estimate{
		N: p.n(), Base: medianOf(p.base), Head: medianOf(p.head),
		Ratio: p.interval((1 - confidence) / 2),
		Worse: up, Better: down,
	}
	if better == stopwatt.More {
		e.Worse, e.Better = down, up
	}
	e.Smallest, e.Sees = p.smallest(level)
	return e
}

func medianOf(values []float64) float64 { return median(slices.Sorted(slices.Values(values))) }

// interval is the ratio with its bounds at a one-sided level.
func (p paired) interval(level float64) stopwatt.Interval {
	if p.n() == 0 {
		return stopwatt.Interval{}
	}
	return intervalOf(hodgesLehmann(p.averages), boundsAt(p.averages, p.n(), level))
}

// intervalOf turns log ratios into ratios; those that are no finite numbers are
// not known.
func intervalOf(value float64, b bounds) stopwatt.Interval {
	var i stopwatt.Interval
	if ratio := math.Exp(value); finite(ratio) {
		i.Value, i.Known = ratio, true
	}
	if low, high := math.Exp(b.low), math.Exp(b.high); b.known && finite(low) && finite(high) {
		i.Low, i.High, i.Bounded, i.Confidence = low, high, true, 1-2*b.level
	}
	return i
}

// reach is how far a bound at a one-sided level lies from the estimate, as a log
// ratio: half the interval's width.
func (p paired) reach(level float64) (half, attained float64, known bool) {
	b := boundsAt(p.averages, p.n(), level)
	half = (b.high - b.low) / 2
	return half, b.level, b.known && finite(half)
}

// smallest is the change, relative, that so many pairs of this spread show at a
// one-sided level with probability power. A shift by half the interval's width is
// seen every second time; what is beside that comes from the normal distribution
// of the estimate.
func (p paired) smallest(level float64) (relative float64, sees bool) {
	half, _, known := p.reach(level)
	if !known {
		return 0, false
	}
	relative = math.Expm1(half + normalQuantile(power)*p.spread()/math.Sqrt(float64(p.n())))
	return relative, finite(relative)
}

// spread is the standard deviation of a pair's log ratio as the signed-rank
// interval sees it: what outliers hardly move. It is half the interval's width at
// 95 % in standard errors, times √n. Zero where there is no interval.
func (p paired) spread() float64 {
	half, attained, known := p.reach((1 - confidence) / 2)
	if !known {
		return 0
	}
	return half / studentAbove(attained, p.n()-1) * math.Sqrt(float64(p.n()))
}

// studentAbove is the value that so much of Student's t lies above, by its
// expansion (M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 1964,
// 26.7.5). The signed-rank interval of normal differences is about so many standard
// errors wide to each side: for few pairs and strict levels clearly more than
// the normal distribution's.
func studentAbove(p float64, degrees int) float64 {
	z, v := -normalQuantile(p), float64(degrees)
	z3, z5, z7 := math.Pow(z, 3), math.Pow(z, 5), math.Pow(z, 7)
	return z + (z3+z)/(4*v) + (5*z5+16*z3+3*z)/(96*v*v) + (3*z7+19*z5+17*z3-15*z)/(384*v*v*v)
}
