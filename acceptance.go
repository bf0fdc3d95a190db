package stopwatt

import (
	"path"
	"time"
)

// An Acceptance says that somebody meant what became worse. It changes the exit
// status and not the verdict.
type Acceptance struct {
	// Case is IMPLEMENTATION/WORKLOAD, globs allowed, as --case takes it.
	Case   string
	Metric string // empty: every metric
	Reason string
	By     string    // who said so
	Commit string    // that said so in its message; empty when it was said otherwise
	At     time.Time // when
	Until  time.Time // it ends then; zero: it does not
}

// Covers tells whether the acceptance is meant for a metric of a case, at a time.
func (a Acceptance) Covers(c Case, metric string, at time.Time) bool {
	if !a.Until.IsZero() && at.After(a.Until) || a.Metric != "" && a.Metric != metric {
		return false
	}
	for _, name := range []string{c.String(), c.Implementation} {
		if matches, err := path.Match(a.Case, name); err == nil && matches {
			return true
		}
	}
	return false
}
