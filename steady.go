package stopwatt

// SteadyState says whether what was measured came to rest.
type SteadyState string

// A stretch is steady from its beginning, became steady late, never did, or is
// too short to tell. When in doubt it is steady: a warning that cries wolf is
// worse than none.
const (
	SteadyAtOnce  SteadyState = "steady"
	SteadyLate    SteadyState = "late"
	SteadyNever   SteadyState = "never"
	SteadyUnknown SteadyState = "unknown" // too few values
)

// A SteadyRule says what counts as steady. A field that is 0 stands for its
// default.
type SteadyRule struct {
	// Tolerance is how much a level may differ from the last one, relative to
	// it, and still be the same. Default 0.05.
	Tolerance float64
	// Level is the largest family-wise p of a change of level. Default 0.0001.
	Level float64
}

// A Steadiness is what a search for a steady state found.
type Steadiness struct {
	State SteadyState
	N     int // values that were looked at, gaps left out
	// From is the index of the first value of the steady state, among all that
	// were given; 0 unless State is SteadyLate.
	From int
	// Longer is by how much the warm-up should have been longer, in the unit of
	// the times that were given; 0 unless State is SteadyLate.
	Longer float64
	// First and Last are the levels at the beginning and at the end, in the
	// unit of the values.
	First, Last Level
}
