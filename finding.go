package stopwatt

import "slices"

// Fitness says whether what was looked at is fit to measure with.
type Fitness string

// How fit it is. What is doubtful widens the spread of figures; what is unfit
// takes figures away.
const (
	Fit      Fitness = "ok"
	Doubtful Fitness = "warn"
	Unfit    Fitness = "unfit"
)

// A Finding is one thing that was looked at on a machine, what it is like, and
// how to mend it.
type Finding struct {
	Subject string // what was looked at, in a word or two: "governor", "energy_cpu"
	Verdict Fitness
	Says    string // one line
	// Metrics are those whose figures it takes away or puts in doubt. Empty: all.
	Metrics  []string `json:",omitempty"`
	Remedies []Remedy `json:",omitempty"` // the first is the quickest
}

// A Remedy is a command or a line of a file that mends what was found.
type Remedy struct {
	When string // what it is good for: "until the next boot"; empty where that is plain
	Line string // one line to paste, never wrapped
}

// FitFor says whether nothing that was found takes the named metric's figures
// away.
func FitFor(findings []Finding, metric string) bool {
	for _, f := range findings {
		if f.Verdict == Unfit && (len(f.Metrics) == 0 || slices.Contains(f.Metrics, metric)) {
			return false
		}
	}
	return true
}
