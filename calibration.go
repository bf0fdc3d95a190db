package stopwatt

import "time"

// A Calibration is what rounds of the same against the same, A/A, say about a
// machine: how often it cries wolf, and how small a change it can see.
type Calibration struct {
	Suite string
	Taken time.Time // when the last pair began
	// Alarms are stretches of rounds, none of which overlap, that an exact test at
	// AlarmLevel calls different, all cases and metrics taken together.
	Alarms Share
	Cases  []CaseCalibration // in the order of the paired trials
}

// AlarmLevel is the level, two-sided, of the test that counts false alarms. It
// alone: without correction and confirmation, which leave hardly an alarm to count.
const AlarmLevel = 0.05

// AlarmRounds is how long the stretches of rounds are in which false alarms are
// counted: those of a first look.
const AlarmRounds = 12

// A Share is how many of how many, with an interval at 95 % (Wilson's).
type Share struct {
	Count, Of int
	Low, High float64 // of the share, 0 to 1; 0 and 1 when Of is 0
}

// A CaseCalibration is what A/A rounds say about one case and one metric.
type CaseCalibration struct {
	Case     Case
	Metric   Metric
	N        int     // pairs that have both values
	PairSD   float64 // standard deviation of a pair's log ratio: near its relative one
	Spread   float64 // the same, by the signed-rank interval: hardly moved by outliers
	Smallest float64 // relative change that the procedure's last look would show; 0: not known, or any
	Alarms   Share
	Order    Effect // whether it matters which side comes first: the first against the second
	Hours    Effect // whether the hour of the day matters: the slowest against the fastest; no value within a single hour
	Drift    Effect // whether values drift while it lasts: the end against the beginning
}

// An Effect is something that should not matter, how much it does, and whether
// that may be chance.
type Effect struct {
	Ratio float64 // 1 for no effect; 0 when it is not known
	P     float64 // two-sided; 1 when it is not known
}

// Smallest returns the smallest change that the calibration says can be seen in
// a case's metric, relative: the Floor of its paired trials. It is 0 where the
// calibration does not know.
func (c Calibration) Smallest(of Case, metric string) float64 {
	for _, one := range c.Cases {
		if one.Case == of && one.Metric.Name == metric {
			return one.Smallest
		}
	}
	return 0
}
