package campaign

import (
	"context"
	"fmt"
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A Prober measures commits against the good end, interleaved.
type Prober interface {
	// Probe measures a commit and judges it. CannotMeasure says that this never will be.
	Probe(ctx context.Context, order ProbeOrder) (stopwatt.BisectionRun, error)
	// Probed comes when a commit has been dealt with.
	Probed(step stopwatt.BisectionStep)
}

// A ProbeOrder says what is to be measured.
type ProbeOrder struct {
	Commit stopwatt.Commit
	// Threshold is the relative change that is to be told from none; 0: that of the suite.
	Threshold float64
	// Attempt counts how often the commit was measured and undecided: each takes twice
	// the rounds of the one before.
	Attempt int
}

// A Bisect looks for the commit of a first-parent history that brought a change.
type Bisect struct {
	Prober Prober
	// Commits are those after the good end, the oldest first; the last is the bad end.
	Commits []stopwatt.Commit
	// Change is the size of the change as it is known, a ratio; 0: not known, the ends
	// are told apart by the suite's threshold.
	Change float64
	// Attempts is how often an undecided commit is measured, each time with twice the
	// rounds.
	Attempts int
	Budget   time.Duration // 0: as long as it takes
	Now      func() time.Time
}

// Run looks for the commit. With an error what is known until then is returned too.
func (b Bisect) Run(ctx context.Context) (stopwatt.Bisection, error) {
	s := &search{Bisect: b, spend: &budget{within: b.Budget, now: b.Now, began: b.Now()}, good: -1, bad: len(b.Commits) - 1, skipped: map[int]bool{}}
	s.finding.Suspects = b.Commits
	if done, err := s.ends(ctx); done || err != nil {
		return s.finding, err
	}
	for {
		at, any := s.middle()
		switch {
		case s.bad-s.good == 1:
			return s.end(stopwatt.BisectionNamed), nil
		case !any:
			return s.end(stopwatt.BisectionRange), nil
		case ctx.Err() != nil:
			return s.end(stopwatt.BisectionStopped), ctx.Err()
		case !s.spend.allows():
			return s.end(stopwatt.BisectionStopped), nil
		}
		if err := s.halve(ctx, at); err != nil {
			return s.end(stopwatt.BisectionStopped), err
		}
	}
}

// A search is a bisection while it lasts. The change came after the commit good, up
// to and including bad; both are places in Commits, and -1 is the good end itself.
type search struct {
	Bisect
	spend     *budget
	good, bad int
	skipped   map[int]bool
	finding   stopwatt.Bisection
}

// ends measures the bad end against the good one: whether there is a change, in which
// direction, and how large it is.
func (s *search) ends(ctx context.Context) (done bool, err error) {
	threshold := 0.0
	if s.Change > 0 {
		threshold = half(s.Change)
	}
	step, err := s.step(ctx, s.Commits[s.bad], threshold, "")
	if err != nil {
		s.finding.Ending = stopwatt.BisectionUntold
		return true, err
	}
	step.Left = len(s.Commits)
	s.finding.Ends = step
	s.Prober.Probed(step)
	comparison := step.Last().Comparison
	switch {
	case step.Skipped != "":
		s.finding.Ending = stopwatt.BisectionUntold
		return true, nil
	case comparison.Verdict != stopwatt.Regressed && comparison.Verdict != stopwatt.Improved:
		s.finding.Ending, s.finding.Error = stopwatt.BisectionNoChange, step.Error
		return true, nil
	}
	s.finding.Side, s.finding.Error = comparison.Verdict, step.Error
	if ratio := comparison.Estimate.Ratio; ratio.Known && ratio.Value > 0 { // else, from nothing, any change that matters will do
		s.finding.Threshold = half(ratio.Value)
	}
	return false, nil
}

// half is the relative change that is half way, as ratios go, from none to this one.
func half(ratio float64) float64 { return math.Expm1(math.Abs(math.Log(ratio)) / 2) }

// middle is the commit to be measured next: the one nearest to the middle of what is
// left, of those that can be.
func (s *search) middle() (int, bool) {
	middle := (s.good + s.bad) / 2
	for distance := 0; distance < len(s.Commits); distance++ {
		for _, at := range []int{middle - distance, middle + distance} {
			if at > s.good && at < s.bad && !s.skipped[at] {
				return at, true
			}
		}
	}
	return 0, false
}

// halve measures a commit and leaves those among which the change lies then.
func (s *search) halve(ctx context.Context, at int) error {
	step, err := s.step(ctx, s.Commits[at], s.finding.Threshold, s.finding.Side)
	if err != nil {
		return err
	}
	switch {
	case step.Skipped != "":
		s.skipped[at] = true
	case step.Bad:
		s.bad = at
	default:
		s.good = at
	}
	step.Left = s.bad - s.good
	s.finding.Steps = append(s.finding.Steps, step)
	s.finding.Error += step.Error
	s.Prober.Probed(step)
	return nil
}

// end says how the bisection ended, and what is left.
func (s *search) end(how stopwatt.BisectionEnding) stopwatt.Bisection {
	s.finding.Ending, s.finding.Suspects = how, s.Commits[s.good+1:s.bad+1]
	return s.finding
}

// step measures a commit until it is decided, or the attempts or the budget are
// spent. Without a side any change counts.
func (s *search) step(ctx context.Context, commit stopwatt.Commit, threshold float64, side stopwatt.Verdict) (stopwatt.BisectionStep, error) {
	step := stopwatt.BisectionStep{Commit: commit}
	for attempt := range max(s.Attempts, 1) {
		if attempt > 0 && !s.allowsAgain() {
			break
		}
		began := s.Now()
		run, err := s.Prober.Probe(ctx, ProbeOrder{Commit: commit, Threshold: threshold, Attempt: attempt})
		if why, is := cannot(err); is {
			step.Skipped = why
			return step, nil
		}
		if err != nil {
			return step, err
		}
		if !run.Reused {
			s.spend.took = append(s.spend.took, s.Now().Sub(began))
		}
		step.Runs = append(step.Runs, run)
		step.Error += chance(run)
		switch verdict := run.Comparison.Verdict; verdict {
		case stopwatt.Undecided:
			continue
		case stopwatt.Regressed, stopwatt.Improved, stopwatt.Unchanged, stopwatt.Identical:
			step.Bad = verdict == side || side == "" && (verdict == stopwatt.Regressed || verdict == stopwatt.Improved)
			return step, nil
		default:
			step.Skipped, step.Error = fmt.Sprintf("it cannot be compared: %s", verdict), 0
			return step, nil
		}
	}
	step.Skipped, step.Error = "undecided", 0
	return step, nil
}

// allowsAgain tells whether the budget lasts for twice the rounds of the last run.
func (s *search) allowsAgain() bool {
	if s.spend.within == 0 || len(s.spend.took) == 0 {
		return true
	}
	again := *s.spend
	again.took = []time.Duration{2 * s.spend.took[len(s.spend.took)-1]}
	return again.allows()
}

// chance is how often, at most, a verdict like this is the opposite of what is so:
// by the levels of its procedure, which were fixed before anything was measured. What
// has the same image and settings is the same.
func chance(run stopwatt.BisectionRun) float64 {
	falseChange, falseUnchanged := 0.0, 0.0
	for _, look := range run.Procedure.Looks {
		falseChange += look.Suspect * run.Procedure.Level
		falseUnchanged += look.Unchanged
	}
	switch run.Comparison.Verdict {
	case stopwatt.Regressed, stopwatt.Improved:
		return falseChange
	case stopwatt.Unchanged:
		return falseUnchanged
	case stopwatt.Undecided: // its looks were spent, whichever way they might have gone
		return max(falseChange, falseUnchanged)
	}
	return 0
}
