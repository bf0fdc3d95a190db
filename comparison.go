package stopwatt

import "time"

// A Threshold says which change of a metric matters: one beyond Relative, 0.03
// for 3 %, in either direction.
type Threshold struct {
	Metric   string // by its name in the suite: energy_board, which is judged gross
	Relative float64
}

// DefaultThreshold is the change that matters where a suite does not say. Three
// percent, because a quiet board sees it in twelve rounds, and people act on it.
const DefaultThreshold = 0.03

// DefaultThresholds are what a suite without `judge` is judged by: time, and
// the energy of the whole board, or CPU time where no such meter can be read.
func DefaultThresholds(workload Workload, meters []Meter) []Threshold {
	second := "cpu_server"
	if workload.HTTP == nil {
		second = "cpu_program"
	}
	for _, meter := range meters {
		if meter.Name == "board" && meter.Absent == "" {
			second = "energy_board"
		}
	}
	return []Threshold{{"time", DefaultThreshold}, {second, DefaultThreshold}}
}

// Thresholds are what a workload of this run is judged by: what its suite says, or
// the default ones.
func (r Run) Thresholds(workload Workload) []Threshold {
	if len(r.Settings.Judge.Metrics) > 0 {
		return r.Settings.Judge.Metrics
	}
	return DefaultThresholds(workload, r.Meters)
}

// Judged is the metric whose values are judged. Of net energy it is the gross
// one: idle power that is taken off both sides makes every relative change look
// larger, and its own error comes in.
func (t Threshold) Judged() string {
	if meter, ok := MeterOf(t.Metric); ok && t.Metric == "energy_"+meter {
		return t.Metric + grossSuffix
	}
	return t.Metric
}

// PairedTrials are the values of one case and one metric, base and head back to
// back in every round. A judgement is made of all of them together, so those
// that are expected are given from the beginning, without pairs.
type PairedTrials struct {
	Case      Case
	Metric    Metric
	Threshold float64 // relative, as the suite says: 0.03 for 3 %
	// Floor is the smallest change that the machine's calibration says can be
	// seen here, relative; what is called worse or better must be beyond it. 0: not
	// calibrated.
	Floor float64
	Pairs []Pair // one for each round that was measured, in any order; the round says what it is for
	// Base and Head count the trials of each side, those that were run again too.
	Base, Head Tally
	// Identical: base and head have the same image and settings, and are not
	// measured. New: there is nothing at base that could be measured.
	Identical, New bool
	// Differing: base and head are expected to answer differently, so that what they
	// take is of other work. It is measured and not judged.
	Differing bool
	// GivenUp: no more pairs will come of this case, which failed too often.
	GivenUp bool
}

// A Pair is one round of a case: base and head, measured back to back.
type Pair struct {
	Round int // from 1; those behind the last look's are fresh ones, see Procedure.Fresh
	// Base and Head are in the metric's base unit, NaN where a trial has no number.
	// A side without one voids the pair, but the round has been.
	Base, Head float64
	HeadFirst  bool
	At         time.Time // when the pair began; calibration alone looks at it
	// Requests is the smaller number of right answers of the two trials; 0 where
	// there are none. Percentiles need it: see LeastBeyond.
	Requests float64
}

// LeastBeyond is how many requests of a trial must lie beyond a percentile of
// latency that is to be judged. One hundred: the value then stands on more than
// the luck of a handful (its rank alone varies by 10 %).
const LeastBeyond = 100

// UnpairedTrials are the values of one case and one metric in two runs at two times
// on one machine, in the metric's base unit.
type UnpairedTrials struct {
	Case       Case
	Metric     Metric
	Threshold  float64 // relative, as that of PairedTrials
	Floor      float64
	Base, Head []RoundValue
	// BaseControl and HeadControl are the same metric of the control case in each of
	// the runs; without both there is no verdict.
	BaseControl, HeadControl []RoundValue
}

// A RoundValue is what one round of a run has for a case and a metric.
type RoundValue struct {
	Round int
	Value float64 // NaN where there is no number
}

// A Tally counts the trials of one side of a comparison.
type Tally struct {
	Trials, Invalid int
}

// An Interval is a ratio of head to base, 1 for no change, with an interval
// round it. All are finite numbers, fit for JSON.
type Interval struct {
	Value float64
	Known bool // there is a value; not so when something stands against nothing
	// Low and High bound it with the probability Confidence: that which is attained
	// is never less than the one that was asked for. Bounded tells whether there are
	// bounds; so few pairs as five have none at 95 %.
	Low, High  float64
	Bounded    bool
	Confidence float64
}

// An Estimate is what pairs say about a change.
type Estimate struct {
	N          int     // pairs that have both values; never requests or repetitions within a trial
	Base, Head float64 // medians of these pairs, in the metric's base unit; 0 when N is 0
	// Ratio is head to base: the Hodges–Lehmann estimate of the pairs' ratios, with
	// the interval of the signed-rank test at 95 %.
	Ratio Interval
	// Worse and Better are exact one-sided p of the signed-rank test: how often
	// equal sides would look so much worse, or better, or more so.
	Worse, Better float64
	// Smallest is the smallest change, relative, that so many pairs of this spread
	// would show as significant in this family four times out of five. Sees tells
	// whether there is one: so few pairs may show none, however large.
	Smallest float64
	Sees     bool
}

// A Comparison is one case and one metric of head against base.
type Comparison struct {
	Case    Case
	Metric  Metric
	Verdict Verdict
	// Estimate is what is reported: of the fresh pairs alone where a change is
	// confirmed, else of the rounds. It is known without a verdict too.
	Estimate Estimate
	// Found is, of a confirmed change, the estimate of the rounds in which it was
	// suspected; else nil. It is too large on average, for it was selected.
	Found     *Estimate `json:",omitempty"`
	Family    int       // how many comparisons the run judges together, fixed at its start
	Look      int       // the look that decided, from 1; 0 when none has
	Threshold float64   // the relative change that matters: the suite's, or the machine's floor
	// More is about how many rounds beside those measured would decide, were the
	// change what it seems to be; 0 when it is decided or no number would.
	More   int
	Doubts []Doubt
	Steps  []Step // what led to the verdict, in order
	// Accepted is what somebody said to a change for the worse; nil when nobody did.
	Accepted *Acceptance `json:",omitempty"`
}

// DoubtKind says what a doubt is about.
type DoubtKind string

// What may be doubtful about a comparison, with what Have and Need count.
const (
	// TooFewPairs: a verdict takes more, see Procedure.Reach; of a single pair
	// nothing is told at all. Pairs.
	TooFewPairs DoubtKind = "too few pairs"
	// IncompletePairs: pairs lack a value on one side. Pairs; Need is the rounds.
	IncompletePairs DoubtKind = "incomplete pairs"
	// NegativeValues: a ratio needs a true zero, pairs with values below it are
	// void. Have is how many.
	NegativeValues DoubtKind = "negative values"
	// FromNothing: base is 0 where head is not. Have is how many pairs.
	FromNothing DoubtKind = "from nothing"
	// ToNothing: head is 0 where base is not. Have is how many pairs.
	ToNothing DoubtKind = "to nothing"
	// NoSpread: every pair has the same ratio, as counts have, or a stuck meter.
	NoSpread DoubtKind = "no spread"
	// UnequalFailures: base and head failed unequally often (Fisher's exact test).
	// Shares of invalid trials: Have is that of head, Need that of base.
	UnequalFailures DoubtKind = "unequal failures"
	// ThinPercentile: fewer than LeastBeyond requests lie beyond it, so it is shown
	// and not judged. Requests.
	ThinPercentile DoubtKind = "thin percentile"
	// NoDirection: the metric has no better direction, so it is not judged.
	NoDirection DoubtKind = "no direction"
	// DifferingAnswers: the suite expects other answers of head than of base, so what
	// they take is shown and not judged.
	DifferingAnswers DoubtKind = "differing answers"
	// ThresholdRaised: the machine cannot see what the suite asks for. Relative
	// changes: Have is the suite's, Need what calibration says.
	ThresholdRaised DoubtKind = "threshold raised"
	// NotConfirmed: a suspicion was not confirmed in fresh pairs. Have is how often.
	NotConfirmed DoubtKind = "not confirmed"
	// NotYetConfirmed: suspected, but the run ended before the fresh pairs were
	// measured. Pairs.
	NotYetConfirmed DoubtKind = "not yet confirmed"
	// NotPaired: two runs at two times, numbers only. How many trials head and base
	// have.
	NotPaired DoubtKind = "not paired"
	// ByControl: two runs at two times, each relative to its rounds of the control
	// case. How many rounds head and base have.
	ByControl DoubtKind = "by control"
	// SmallerThanFound: confirmed, but in the fresh pairs the change is within the
	// threshold. Relative changes: Have is theirs, Need the threshold.
	SmallerThanFound DoubtKind = "smaller than found"
)

// A Doubt is a reason to read a comparison with care: a value, which report puts
// into words.
type Doubt struct {
	Kind       DoubtKind
	Have, Need float64
}
