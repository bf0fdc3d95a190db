package stopwatt

import "time"

// A Series is one metric of one case over the commits of the default branch.
// Its points may come in any order, from several machines, several for one
// commit, and with commits missing.
type Series struct {
	Case    Case
	Metric  string
	Profile string // of the runs; empty for whole ones: a short run is no long one
	// Against is the implementation whose value each point was divided by, in
	// the same run; empty unless the series is a relation.
	Against string
	Points  []SeriesPoint
}

// A SeriesPoint is what one run says of a commit.
type SeriesPoint struct {
	Position int // of the commit in the first-parent history of the default branch, from 1
	SHA      string
	Time     time.Time // of the commit
	Run      int64     // which run it comes from; a relation divides within one
	Value    float64   // in the metric's base unit; NaN and infinities are gaps
	N        int       // trials behind Value; for reading, not a weight
	Machine  string    // fingerprint of the MachineIdentity; another one starts a series of its own
	Epoch    string    // fingerprint of the MachineEpoch; another one is a marked boundary
}

// ChangeState says how far a change point has come.
type ChangeState string

// A change point is suspected when it is first significant, and confirmed when
// it is significant at a stricter level with enough commits behind it. One that
// is no longer found is withdrawn. Where the machine has changed at the same
// place a change point is withheld: it is shown, and not declared.
const (
	Suspected ChangeState = "suspected"
	Confirmed ChangeState = "confirmed"
	Withdrawn ChangeState = "withdrawn"
	Withheld  ChangeState = "withheld"
)

// WithheldFor says what else changed at the place of a change point.
type WithheldFor string

// What withholds a change point.
const (
	ControlShifted WithheldFor = "control" // the control, whose code never changes, shifted there too
	EpochChanged   WithheldFor = "epoch"   // kernel, governor or Docker changed there
)

// A ChangeRule says when a change point is declared. A field that is 0 stands
// for its default.
type ChangeRule struct {
	// Suspect is the largest family-wise p of a change point: the chance that a
	// series without any change shows at least one such. Default 0.05.
	Suspect float64
	// Confirm is the largest family-wise p of a confirmed one in a series of 500
	// points; in one of n points it is 500 ÷ n as much, and Suspect at most. Default
	// 0.002: one in n. A series is searched again with every commit, so a long one has
	// been asked more often.
	Confirm float64
	// Later is how many measured commits, from the change point on to the next
	// one, must lie nearer to the new level than to the old for it to be
	// confirmed; and as many before it the other way. Default 5.
	Later int
	// Smallest is the smallest relative change that is declared, 0.02 for two
	// in a hundred. Default 0: every significant one.
	Smallest float64
}

// A ChangeSearch is what was found in a series on one machine.
type ChangeSearch struct {
	Machine string
	// Points are what was searched: one for each commit, in the order of
	// history; several runs of a commit are pooled to their median.
	Points       []SeriesPoint
	ChangePoints []ChangePoint   // in the order of history
	Boundaries   []EpochBoundary // in the order of history
	// Noise is the standard deviation of a point round its level, in the base
	// unit: of the series as a whole, from differences of neighbours.
	Noise float64
	// Autocorrelation is that of a point with the next, 0 to 0.95, as it was
	// allowed for: where there are few points, drawn to 0.2.
	Autocorrelation float64
	// Family is how many independent tests the search amounts to: what a single
	// p is multiplied by.
	Family float64
}

// An EpochBoundary is the place where the machine's epoch changed.
type EpochBoundary struct {
	Index    int // in ChangeSearch.Points, of the first point of the new epoch
	From, To string
}

// A ChangePoint is a place where the level of a series changed.
type ChangePoint struct {
	State ChangeState
	// Withheld is empty unless State is Withheld.
	Withheld WithheldFor
	// Index is that of the first point at the new level, in ChangeSearch.Points;
	// with 95 % confidence it lies from IndexLow to IndexHigh.
	Index, IndexLow, IndexHigh int
	// First is the first commit at the new level. The change was brought by a
	// commit after Past, up to and including Reached, with 95 % confidence: those
	// that were not measured are among them.
	First, Past, Reached CommitPlace
	Before, After        Level // the stretches to the neighbouring change points
	// Shift is After − Before in the base unit, and ShiftLow and ShiftHigh bound
	// it with 95 % confidence.
	Shift, ShiftLow, ShiftHigh float64
	// Ratio is After ÷ Before with its 95 % interval: 1.03 is three in a hundred
	// more. It is not known where a level is 0 or negative.
	Ratio Interval
	// P is the chance that a series without change, of this length, shows
	// anything as clear as this anywhere: Evidence.P × the search's Family, at
	// most 1; but no less than the chance that of so many values in random order
	// the one stretch has all the smaller ones.
	P        float64
	Evidence ChangeEvidence
	// Since tells the newest measured commit when each state was first reached;
	// a state that was not reached has the zero value.
	Since ChangeHistory
}

// Brings tells whether the change may have been brought by the commit of this
// position, with 95 % confidence.
func (c ChangePoint) Brings(position int) bool {
	return c.Past.Position < position && position <= c.Reached.Position
}

// A CommitPlace is a commit and where it stands in history.
type CommitPlace struct {
	Position int // as in SeriesPoint; 0: no commit
	SHA      string
}

// A Level is where a series stayed for a while.
type Level struct {
	N    int     // points, one for each commit
	Mean float64 // base unit, with outliers drawn in
	SD   float64 // base unit, round Mean, with outliers drawn in
}

// ChangeEvidence is what led to a change point.
type ChangeEvidence struct {
	Energy float64 // the statistic that placed it: scaled energy distance of the two stretches, base unit
	T      float64 // difference of the levels ÷ its standard error, autocorrelation allowed for
	DF     float64 // degrees of freedom of T
	P      float64 // of this place alone, two-sided
}

// ChangeHistory tells when a change point reached its states.
type ChangeHistory struct {
	Suspected, Confirmed, Withdrawn CommitPlace
}

// An OrderChange says that two implementations changed places: by a relation,
// the one that had the smaller value now has the larger one, with confidence
// both before and after.
type OrderChange struct {
	First, Past, Reached CommitPlace // as in ChangePoint
	Before, After        Interval    // the ratio on both sides; one lies below 1, the other above
	State                ChangeState // that of the change point, or the least certain of those between
}
