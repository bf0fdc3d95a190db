package stopwatt

// Revision says which side of a comparison is measured. The commit behind it
// stands in the Run.
type Revision string

// The revisions: Head is the commit whose checkout stopwatt was started in, Base
// the one that it is measured against, when there is one.
const (
	Head Revision = "head"
	Base Revision = "base"
)

// A Plan is all the rounds of a run, drawn from a seed, so that drift falls on
// every case alike.
type Plan struct {
	Seed   uint64
	Trials []PlannedTrial // in the order in which they are carried out
}

// A PlannedTrial is one place in the plan. It is comparable: within a run it
// names a trial.
type PlannedTrial struct {
	Round    int // from 1
	Case     Case
	Revision Revision
	// Attempt is 0, or which repetition of a pair this is, of which a side failed.
	Attempt int
}

// Rounds is the number of rounds that the plan has.
func (p Plan) Rounds() int {
	rounds := 0
	for _, trial := range p.Trials {
		rounds = max(rounds, trial.Round)
	}
	return rounds
}
