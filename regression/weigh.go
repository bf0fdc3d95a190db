package regression

import (
	"math"

	"gitlab.com/stopwatt/stopwatt"
)

// failuresLevel is the two-sided p below which base and head are said to fail
// unequally often. One in a hundred, for every case is asked and none corrected.
const failuresLevel = 0.01

// weigh adds the doubts that a comparison's pairs raise.
func (c *comparison) weigh(p stopwatt.Procedure) {
	pairs := collect(c.trials.Pairs, 1, math.MaxInt)
	if c.Verdict == stopwatt.Identical || c.Verdict == stopwatt.New {
		return
	}
	if least := p.Reach(c.Family); c.Estimate.N == 1 || c.Verdict == stopwatt.Undecided && c.Estimate.N < min(least, p.Rounds()) {
		c.doubt(stopwatt.TooFewPairs, float64(c.Estimate.N), float64(least))
	}
	if pairs.n() < pairs.rounds {
		c.doubt(stopwatt.IncompletePairs, float64(pairs.n()), float64(pairs.rounds))
	}
	for _, counted := range []struct {
		kind stopwatt.DoubtKind
		n    int
	}{
		{stopwatt.NegativeValues, pairs.negative},
		{stopwatt.FromNothing, pairs.fromZero},
		{stopwatt.ToNothing, pairs.intoZero},
	} {
		if counted.n > 0 {
			c.doubt(counted.kind, float64(counted.n), 0)
		}
	}
	if pairs.n() > 1 && !pairs.different {
		c.doubt(stopwatt.NoSpread, 0, 0)
	}
	c.weighFailures()
	c.weighSuspicion(p)
}

// weighFailures compares how often the two sides failed. Where nothing could be
// compared for failures, however few, they are the reason.
func (c *comparison) weighFailures() {
	base, head := c.trials.Base, c.trials.Head
	if base.Trials == 0 || head.Trials == 0 {
		return
	}
	reason := c.Verdict == stopwatt.Missing && base.Invalid+head.Invalid > 0
	if !reason && !(fisher(base, head) <= failuresLevel) {
		return
	}
	share := func(t stopwatt.Tally) float64 { return float64(t.Invalid) / float64(t.Trials) }
	c.doubt(stopwatt.UnequalFailures, share(head), share(base))
}

// weighSuspicion says what is doubtful about the threshold and a suspicion.
func (c *comparison) weighSuspicion(p stopwatt.Procedure) {
	if c.Threshold > c.trials.Threshold {
		c.doubt(stopwatt.ThresholdRaised, c.trials.Threshold, c.Threshold)
	}
	refuted := 0
	for _, step := range c.Steps {
		if step.Outcome == stopwatt.OutcomeNotConfirmed {
			refuted++
		}
	}
	if refuted > 0 {
		c.doubt(stopwatt.NotConfirmed, float64(refuted), 0)
	}
	if n := len(c.Steps); n > 0 && c.Steps[n-1].Outcome == stopwatt.OutcomeSuspected {
		first, last := p.Fresh(c.Steps[n-1].Look)
		c.doubt(stopwatt.NotYetConfirmed, float64(collect(c.trials.Pairs, first, last).rounds), float64(p.Confirm))
	}
	size := c.Estimate.Ratio
	if c.Found != nil && size.Known && math.Abs(math.Log(size.Value)) <= math.Log1p(c.Threshold) {
		c.doubt(stopwatt.SmallerThanFound, math.Abs(size.Value-1), c.Threshold)
	}
}

// fisher is the two-sided p of Fisher's exact test that two sides fail equally
// often: of all tables with these margins, those no more probable than the one at
// hand (R. A. Fisher, Statistical Methods for Research Workers, 5th edition, 1934).
func fisher(a, b stopwatt.Tally) float64 {
	failed, all := a.Invalid+b.Invalid, a.Trials+b.Trials
	logP := func(inA int) float64 {
		return logChoose(a.Trials, inA) + logChoose(b.Trials, failed-inA) - logChoose(all, failed)
	}
	seen, p := logP(a.Invalid), 0.0
	for inA := max(0, failed-b.Trials); inA <= min(failed, a.Trials); inA++ {
		if l := logP(inA); l <= seen+1e-9 { // equally probable but for rounding
			p += math.Exp(l)
		}
	}
	return min(p, 1)
}

// logChoose is the logarithm of how many ways there are to take k of n.
func logChoose(n, k int) float64 {
	lgamma := func(n int) float64 { l, _ := math.Lgamma(float64(n) + 1); return l }
	return lgamma(n) - lgamma(k) - lgamma(n-k)
}
