package stopwatt

import "math"

// A Verdict is what is said about one case and one metric of head against base.
type Verdict string

// The verdicts.
const (
	// Regressed: worse, significantly so among all that were judged, by more than
	// the threshold, and worse again in fresh pairs.
	Regressed Verdict = "regressed"
	// Improved: better by the same rule.
	Improved Verdict = "improved"
	// Unchanged: the interval lies within the threshold that the suite asks for.
	Unchanged Verdict = "unchanged"
	// Undecided is all else, and never shown as Unchanged.
	Undecided Verdict = "undecided"
	// Missing: expected, and not one pair has both values.
	Missing Verdict = "missing"
	// New: there is nothing at base to compare with.
	New Verdict = "new"
	// Identical: base and head have the same image and settings.
	Identical Verdict = "identical"
	// NotJudged: shown only; the doubts say why.
	NotJudged Verdict = "not judged"
)

// Decided tells whether nothing more need be measured for it.
func (v Verdict) Decided() bool { return v != Undecided }

// A Look is one of the times at which a run is judged. There are no others: a
// test that is asked after every round finds something by chance in the end.
type Look struct {
	Rounds int // after so many
	// Suspect is the false discovery rate at which changes are suspected (Benjamini
	// and Hochberg), in each direction.
	Suspect float64
	// Unchanged is the one-sided level of the interval that must lie within the
	// threshold.
	Unchanged float64
}

// A Procedure is how a run is judged: planned looks, and fresh pairs that
// confirm what is suspected at one of them.
type Procedure struct {
	Looks   []Look  // in the order of their rounds
	Confirm int     // fresh pairs of each suspect
	Level   float64 // one-sided p that confirms
}

// The levels of a procedure, as simulated: with one pair in fifty changed, and
// with none. The first look may spend as much as all later ones together.
const (
	suspectRate    = 0.05
	unchangedLevel = 0.005
	confirmPairs   = 12
	confirmLevel   = 0.05
)

// Adaptive is the procedure of a plan with a least and a greatest number of
// rounds: looks after the least, after their geometric mean and after the
// greatest, 12, 20 and 32 for a plan of 12 to 32. With as many at least as at
// most it is Fixed.
func Adaptive(least, most int) Procedure {
	if most <= least {
		return Fixed(least)
	}
	looks := []Look{{least, suspectRate, unchangedLevel}}
	later := []int{int(math.Round(math.Sqrt(float64(least) * float64(most)))), most}
	if later[0] <= least || later[0] >= most {
		later = later[1:]
	}
	for _, rounds := range later {
		share := float64(len(later))
		looks = append(looks, Look{rounds, suspectRate / share, unchangedLevel / share})
	}
	return Procedure{Looks: looks, Confirm: confirmPairs, Level: confirmLevel}
}

// Fixed is the procedure of a plan of so many rounds: one look, which may spend on
// Unchanged what three looks spend together.
func Fixed(rounds int) Procedure {
	look := Look{rounds, suspectRate, 2 * unchangedLevel}
	return Procedure{Looks: []Look{look}, Confirm: confirmPairs, Level: confirmLevel}
}

// Rounds is the greatest number of rounds that the procedure may take, fresh ones
// not counted.
func (p Procedure) Rounds() int {
	if len(p.Looks) == 0 {
		return 0
	}
	return p.Looks[len(p.Looks)-1].Rounds
}

// Fresh are the rounds, from first to last, in which what is suspected at a look,
// counted from 1, is to be confirmed. They are numbered behind the last look's,
// so that a round's number says what it is for.
func (p Procedure) Fresh(look int) (first, last int) {
	last = p.Rounds() + look*p.Confirm
	return last - p.Confirm + 1, last
}

// Reach is how many rounds a run must have for a verdict to be within reach, when
// so many comparisons are judged together: a procedure with fewer at its last look
// can never tell a change, or never tell that there is none, however clear the
// figures.
//
// Of n pairs that all point the same way the exact one-sided p is 2^-n. It must
// be low enough for Unchanged, and half of what the strictest rank of Benjamini
// and Hochberg allows: a plan in which a change counts only if not one pair, be
// it of noise alone, points the other way is no plan. Twelve rounds reach a
// family of up to 102, ten one of up to 25.
func (p Procedure) Reach(family int) (rounds int) {
	if len(p.Looks) == 0 {
		return 0
	}
	last := p.Looks[len(p.Looks)-1]
	level := min(last.Unchanged, last.Suspect/float64(max(family, 1))/2)
	return int(math.Ceil(-math.Log2(level)))
}

// Reachable tells whether some look can reach a verdict when so many comparisons
// are judged together. When none can, Reach says how many rounds it takes.
func (p Procedure) Reachable(family int) bool {
	for i, look := range p.Looks {
		until := Procedure{Looks: p.Looks[:i+1]}
		if look.Rounds >= until.Reach(family) {
			return true
		}
	}
	return false
}

// An Outcome is what a step came to.
type Outcome string

// The outcomes of a look, and of a confirmation.
const (
	OutcomeSuspected    Outcome = "suspected"     // to be confirmed
	OutcomeUnchanged    Outcome = "unchanged"     // decided
	OutcomeGoesOn       Outcome = "goes on"       // to the next look, if there is one
	OutcomeConfirmed    Outcome = "confirmed"     // decided
	OutcomeNotConfirmed Outcome = "not confirmed" // to the next look, if there is one
)

// A Step is one look at a comparison, or one confirmation: all figures that its
// outcome rests on.
type Step struct {
	Look     int // from 1
	Fresh    bool
	Estimate Estimate
	// Side is Regressed or Improved: the direction that the estimate points to, of
	// which Rank, Level and Rejected are.
	Side Verdict
	// Rank is the place of p among those of the family in this direction, from 1.
	// It is rejected if p ≤ Level: Rank × rate ÷ Family, or that of the last
	// one that is rejected, if that is greater. In a confirmation Rank is 0.
	Rank     int
	Level    float64
	Rejected bool
	// Inner is the interval that lies within Within when nothing has
	// changed. A confirmation has none.
	Inner     Interval
	Threshold float64 // that a suspicion must be beyond
	// Within is the change that Unchanged rules out: the suite's threshold, also where
	// Threshold is more, because the machine cannot see so small a change.
	Within  float64
	Outcome Outcome
}

// A Judgement is what is said about a whole run of head against base.
type Judgement struct {
	Procedure   Procedure
	Family      int          // how many comparisons were judged together
	Look        int          // the last look that was taken, from 1; 0 for none
	Comparisons []Comparison // as the paired trials were given
	// Wanted is what is to be measured next, until the next look or confirmation;
	// empty when the run is over.
	Wanted []Wanted
	// Confirming tells that Wanted are fresh pairs of suspects.
	Confirming bool
	// Stopped says why no more was measured although something was undecided; empty
	// when nothing more could have been.
	Stopped string `json:",omitempty"`
	// Notes are what base and head differ in beside the change, in words: packages
	// that were installed on another day, what could not be built.
	Notes []string `json:",omitempty"`
	// Removed are the base's cases that the head has no more.
	Removed []Case `json:",omitempty"`
}

// Wanted are rounds of one case that a judgement asks for, the first and the last
// among them. Those that have been measured need no second time.
type Wanted struct {
	Case        Case
	First, Last int
}

// Over tells whether nothing more is to be measured.
func (j Judgement) Over() bool { return len(j.Wanted) == 0 }

// Count is how many comparisons have this verdict.
func (j Judgement) Count(v Verdict) int {
	n := 0
	for _, c := range j.Comparisons {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// A Trade is a case that became better in some metrics and worse in others: faster
// but hungrier.
type Trade struct {
	Case          Case
	Better, Worse []Comparison
}

// Trades are the cases with both an Improved and a Regressed comparison, in their
// order. Each is to be told in one line that says both.
func (j Judgement) Trades() []Trade {
	var all []Trade
	place := map[Case]int{}
	for _, c := range j.Comparisons {
		if _, seen := place[c.Case]; !seen {
			place[c.Case] = len(all)
			all = append(all, Trade{Case: c.Case})
		}
		switch trade := &all[place[c.Case]]; c.Verdict {
		case Improved:
			trade.Better = append(trade.Better, c)
		case Regressed:
			trade.Worse = append(trade.Worse, c)
		}
	}
	var trades []Trade
	for _, trade := range all {
		if len(trade.Better) > 0 && len(trade.Worse) > 0 {
			trades = append(trades, trade)
		}
	}
	return trades
}
