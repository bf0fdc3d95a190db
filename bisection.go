package stopwatt

// A Bisection is what came of looking for the commit that brought a change, among
// those of a first-parent history between a good end and a bad one.
type Bisection struct {
	Case   Case
	Metric Metric
	Good   Commit
	Ending BisectionEnding
	// Suspects are the commits that may have brought the change, the oldest first.
	Suspects []Commit
	Ends     BisectionStep // of the bad end against the good one
	Side     Verdict       // Regressed or Improved: what the change is
	// Threshold is the relative change that commits were told apart by: half of what
	// the ends differ in.
	Threshold float64
	Steps     []BisectionStep // beside Ends, in the order in which they were taken
	// Error is the chance at most that any of the steps is wrong: the sum of theirs.
	Error float64
}

// BisectionEnding says how a bisection ended.
type BisectionEnding string

// The endings.
const (
	// BisectionNamed: one commit is left, and it brought the change.
	BisectionNamed BisectionEnding = "named"
	// BisectionRange: those that are left cannot be told apart: they could not be
	// measured, or were undecided.
	BisectionRange BisectionEnding = "range"
	// BisectionStopped: the budget is spent, or it was interrupted.
	BisectionStopped BisectionEnding = "stopped"
	// BisectionNoChange: the ends do not differ.
	BisectionNoChange BisectionEnding = "no change"
	// BisectionUntold: it is not decided whether the ends differ, or the bad one
	// cannot be measured.
	BisectionUntold BisectionEnding = "untold"
)

// A BisectionStep is a commit that was measured against the good end, or could not be.
type BisectionStep struct {
	Commit Commit
	Runs   []BisectionRun // more than one where the first were undecided
	Bad    bool           // the change is in it
	// Skipped is why nothing is known of the commit; empty when something is.
	Skipped string
	// Error is the chance at most that such a step says the opposite of what is so.
	Error float64
	Left  int // commits that may have brought the change then
}

// Last is the run that decided, or the last one that did not; the zero value where
// nothing could be measured.
func (s BisectionStep) Last() BisectionRun {
	if len(s.Runs) == 0 {
		return BisectionRun{}
	}
	return s.Runs[len(s.Runs)-1]
}

// A BisectionRun is what a run said of a commit against the good end.
type BisectionRun struct {
	Run        int64
	Comparison Comparison
	Procedure  Procedure // that the verdict was reached by
	Reused     bool      // it was stored before
}
