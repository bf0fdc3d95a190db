package regression

import (
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Accept says of each comparison that regressed who accepted it, and why, by the
// acceptances that hold at a time; of several the latest. It changes no verdict:
// what was accepted is still worse.
func Accept(judgement stopwatt.Judgement, acceptances []stopwatt.Acceptance, at time.Time) stopwatt.Judgement {
	judgement.Comparisons = slices.Clone(judgement.Comparisons)
	for i := range judgement.Comparisons {
		c := &judgement.Comparisons[i]
		if c.Verdict == stopwatt.Regressed {
			c.Accepted = covering(acceptances, c.Case, c.Metric.Name, at)
		}
	}
	return judgement
}

// covering is the latest of the acceptances that is meant for a metric of a case;
// nil when none is.
func covering(acceptances []stopwatt.Acceptance, of stopwatt.Case, metric string, at time.Time) *stopwatt.Acceptance {
	var latest *stopwatt.Acceptance
	for _, a := range acceptances {
		if a.Covers(of, metric, at) && (latest == nil || !a.At.Before(latest.At)) {
			latest = &a
		}
	}
	return latest
}
