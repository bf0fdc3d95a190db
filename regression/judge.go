package regression

import (
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Judge says what the pairs measured so far amount to, and which are to be
// measured next. It goes through the procedure from its first look each time, so
// that the same pairs always give the same judgement, and a run that is continued
// is judged as one that never stopped. Ended says that no more will be measured:
// what has no verdict by then gets none.
//
// At a look every comparison that is open is tested for each direction, and the
// tests of a direction are corrected together, for the size that the family had at
// the start. What is rejected with an estimate beyond the threshold is suspected,
// and confirmed by fresh pairs of its own; a suspicion that is not confirmed goes
// on to the next look. What has its interval within the suite's threshold is unchanged:
// where calibration says that the machine cannot see so small a change, only what is
// suspected must be beyond more, for a change that was not seen is none that is ruled
// out.
//
// The probability that any comparison regresses although nothing has changed is
// about the sum of the looks' rates times the level of confirmation, 0.5 % for 12
// to 32 rounds; that one is called unchanged although it has changed by the
// threshold, at most the sum of the looks' levels, 1 %.
func Judge(p stopwatt.Procedure, trials []stopwatt.PairedTrials, ended bool) stopwatt.Judgement {
	r := begin(p, trials)
	for look := range p.Looks {
		if !r.has(r.open(), 1, p.Looks[look].Rounds) {
			r.want(r.open(), 1, p.Looks[look].Rounds)
			break
		}
		suspects := r.look(look)
		first, last := p.Fresh(look + 1)
		if !r.has(suspects, first, last) {
			r.want(suspects, first, last)
			r.judgement.Confirming = true
			break
		}
		r.confirm(suspects, look)
	}
	if ended {
		r.judgement.Wanted, r.judgement.Confirming = nil, false
	}
	return r.settle()
}

// A reckoning is a run on its way through the looks.
type reckoning struct {
	procedure   stopwatt.Procedure
	comparisons []*comparison
	judgement   stopwatt.Judgement
}

// A comparison on its way.
type comparison struct {
	stopwatt.Comparison
	trials stopwatt.PairedTrials
	closed bool
}

// begin opens every comparison that can be judged, and fixes the family.
func begin(p stopwatt.Procedure, trials []stopwatt.PairedTrials) *reckoning {
	r := &reckoning{procedure: p, judgement: stopwatt.Judgement{Procedure: p}}
	for _, t := range trials {
		c := &comparison{trials: t}
		c.Case, c.Metric, c.Verdict = t.Case, t.Metric, stopwatt.Undecided
		c.Threshold = max(t.Threshold, t.Floor)
		c.closeAtOnce()
		if !c.closed {
			r.judgement.Family++
		}
		r.comparisons = append(r.comparisons, c)
	}
	for _, c := range r.comparisons {
		c.Family = r.judgement.Family
	}
	return r
}

// closeAtOnce closes what is not for judging.
func (c *comparison) closeAtOnce() {
	switch {
	case c.trials.Identical:
		c.close(stopwatt.Identical, 0)
	case c.trials.New:
		c.close(stopwatt.New, 0)
	case c.trials.Differing:
		c.close(stopwatt.NotJudged, 0)
		c.doubt(stopwatt.DifferingAnswers, 0, 0)
	case !directed(c.Metric):
		c.close(stopwatt.NotJudged, 0)
		c.doubt(stopwatt.NoDirection, 0, 0)
	}
}

// directed tells whether a metric has a better direction.
func directed(m stopwatt.Metric) bool { return m.Better == stopwatt.Less || m.Better == stopwatt.More }

func (c *comparison) close(v stopwatt.Verdict, look int) {
	c.Verdict, c.Look, c.closed = v, look, true
}

func (c *comparison) doubt(kind stopwatt.DoubtKind, have, need float64) {
	c.Doubts = append(c.Doubts, stopwatt.Doubt{Kind: kind, Have: have, Need: need})
}

// open are the comparisons that nothing is decided about.
func (r *reckoning) open() []*comparison {
	var open []*comparison
	for _, c := range r.comparisons {
		if !c.closed {
			open = append(open, c)
		}
	}
	return open
}

// has tells whether these rounds have been measured for all of the comparisons, or
// will never be.
func (r *reckoning) has(comparisons []*comparison, first, last int) bool {
	return !slices.ContainsFunc(comparisons, func(c *comparison) bool { return c.lacks(first, last) })
}

func (c *comparison) lacks(first, last int) bool {
	if c.trials.GivenUp {
		return false
	}
	seen := 0
	for _, pair := range c.trials.Pairs {
		if pair.Round >= first && pair.Round <= last {
			seen++
		}
	}
	return seen < last-first+1
}

// want asks for rounds of the cases that lack some.
func (r *reckoning) want(comparisons []*comparison, first, last int) {
	for _, c := range comparisons {
		wanted := stopwatt.Wanted{Case: c.Case, First: first, Last: last}
		if c.lacks(first, last) && !slices.Contains(r.judgement.Wanted, wanted) {
			r.judgement.Wanted = append(r.judgement.Wanted, wanted)
		}
	}
}

// look takes one look, counted from 0, at all that is open, and returns what it
// suspects.
func (r *reckoning) look(look int) (suspects []*comparison) {
	r.judgement.Look = look + 1
	rounds := r.procedure.Looks[look].Rounds
	var seen []*comparison
	var pairs []paired
	for _, c := range r.open() {
		of := pairsOf(c.trials.Pairs, 1, rounds)
		if !c.closeUnfit(of, look+1) {
			seen, pairs = append(seen, c), append(pairs, of)
		}
	}
	for i, step := range r.steps(look, seen, pairs) {
		seen[i].take(step)
		if step.Outcome == stopwatt.OutcomeSuspected {
			suspects = append(suspects, seen[i])
		}
	}
	return suspects
}

// closeUnfit closes what a look has nothing to see of.
func (c *comparison) closeUnfit(pairs paired, look int) bool {
	beyond, percentile := beyond(c.Metric.Name, pairs.requests)
	switch {
	case pairs.n() == 0:
		c.close(stopwatt.Missing, look)
	case percentile && beyond < stopwatt.LeastBeyond:
		c.close(stopwatt.NotJudged, look)
		c.doubt(stopwatt.ThinPercentile, beyond, stopwatt.LeastBeyond)
	}
	return c.closed
}

// steps makes the step that a look is for each of the comparisons.
func (r *reckoning) steps(look int, seen []*comparison, pairs []paired) []stopwatt.Step {
	at := r.procedure.Looks[look]
	steps := make([]stopwatt.Step, len(seen))
	worse, better := make([]float64, len(seen)), make([]float64, len(seen))
	for i, c := range seen {
		steps[i] = stopwatt.Step{
			Look: look + 1, Threshold: c.Threshold, Within: c.trials.Threshold,
			Estimate: pairs[i].estimate(c.Metric.Better, at.Suspect/float64(r.judgement.Family)),
			Inner:    pairs[i].interval(at.Unchanged),
		}
		worse[i], better[i] = steps[i].Estimate.Worse, steps[i].Estimate.Better
	}
	regressed := falseDiscoveries(worse, r.judgement.Family, at.Suspect)
	improved := falseDiscoveries(better, r.judgement.Family, at.Suspect)
	for i := range steps {
		if steps[i].Side = stopwatt.Regressed; worse[i] > better[i] {
			steps[i].Side, regressed[i] = stopwatt.Improved, improved[i]
		}
		steps[i].Rank, steps[i].Level, steps[i].Rejected = regressed[i].rank, regressed[i].level, regressed[i].rejected
		steps[i].Outcome = outcome(steps[i], pairs[i], at)
	}
	return steps
}

// outcome is what a look comes to.
func outcome(step stopwatt.Step, pairs paired, at stopwatt.Look) stopwatt.Outcome {
	beyond := math.Abs(hodgesLehmann(pairs.averages)) > math.Log1p(step.Threshold)
	switch {
	case step.Rejected && beyond:
		return stopwatt.OutcomeSuspected
	case boundsAt(pairs.averages, pairs.n(), at.Unchanged).within(step.Within):
		return stopwatt.OutcomeUnchanged
	}
	return stopwatt.OutcomeGoesOn
}

// take notes a step, and closes what it decides.
func (c *comparison) take(step stopwatt.Step) {
	c.Steps = append(c.Steps, step)
	switch step.Outcome {
	case stopwatt.OutcomeUnchanged:
		c.close(stopwatt.Unchanged, step.Look)
		c.Estimate = step.Estimate
	case stopwatt.OutcomeConfirmed:
		found := c.Steps[len(c.Steps)-2].Estimate
		c.close(step.Side, step.Look)
		c.Estimate, c.Found = step.Estimate, &found
	}
}

// confirm asks the fresh pairs of what a look suspects, and those alone.
func (r *reckoning) confirm(suspects []*comparison, look int) {
	first, last := r.procedure.Fresh(look + 1)
	for _, c := range suspects {
		side := c.Steps[len(c.Steps)-1].Side
		pairs := pairsOf(c.trials.Pairs, first, last)
		step := stopwatt.Step{
			Look: look + 1, Fresh: true, Side: side, Level: r.procedure.Level, Threshold: c.Threshold,
			Estimate: pairs.estimate(c.Metric.Better, r.procedure.Level),
			Outcome:  stopwatt.OutcomeNotConfirmed,
		}
		p := step.Estimate.Worse
		if side == stopwatt.Improved {
			p = step.Estimate.Better
		}
		if step.Rejected = p <= step.Level; step.Rejected {
			step.Outcome = stopwatt.OutcomeConfirmed
		}
		c.take(step)
	}
}

// settle gives what is open its verdict for now, and everything its estimate and
// doubts.
func (r *reckoning) settle() stopwatt.Judgement {
	for _, c := range r.comparisons {
		if !c.closed || c.Verdict == stopwatt.NotJudged {
			c.show(r.procedure, r.judgement.Over())
		}
		c.weigh(r.procedure)
		r.judgement.Comparisons = append(r.judgement.Comparisons, c.Comparison)
	}
	return r.judgement
}

// show gives a comparison without a decision the estimate of all rounds that there
// are, looked at or not: for reading, for no verdict comes of it.
func (c *comparison) show(p stopwatt.Procedure, over bool) {
	if len(p.Looks) == 0 {
		return
	}
	pairs := pairsOf(c.trials.Pairs, 1, p.Rounds())
	at := p.Looks[min(max(len(c.Steps), 1), len(p.Looks))-1]
	c.Estimate = pairs.estimate(c.Metric.Better, at.Suspect/float64(max(c.Family, 1)))
	switch {
	case c.closed:
	case over && pairs.n() == 0:
		c.Verdict = stopwatt.Missing
	case over && pairs.n() == 1:
		c.Verdict = stopwatt.NotJudged
	default:
		c.More = pairs.more(c.Threshold, c.trials.Threshold, c.Family, p.Looks[len(p.Looks)-1])
	}
}
