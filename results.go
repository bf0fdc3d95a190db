package stopwatt

// A Summary is what the valid trials of one case say about one metric, in the
// metric's base unit.
type Summary struct {
	Case     Case
	Revision Revision
	Metric   string
	N        int // trials, never requests within one
	Mean     float64
	SD       float64 // sample standard deviation; 0 when N is 1, and then said to be unknown
	Median   float64
	Min, Max float64
}

// Results are a run and what came out of it.
type Results struct {
	Run   Run
	Cases []CaseResult // in the order of the suite; parts behind what they are parts of
	// Metrics are those that occur in Cases, in the order in which they are shown:
	// a harness may have defined some.
	Metrics []Metric
	// Judgement is what the head was judged against its base; nil where there is no
	// base, or it was not asked for.
	Judgement *Judgement
}

// Metric returns the metric of this name: one that occurs in the results, or
// one that MetricNamed knows.
func (r Results) Metric(name string) (Metric, bool) {
	for _, metric := range r.Metrics {
		if metric.Name == name {
			return metric, true
		}
	}
	return MetricNamed(name)
}

// A CaseResult is what came of one case: how many trials counted, why others
// did not, and the summaries of its metrics.
type CaseResult struct {
	Case     Case
	Revision Revision
	// Part is true when it is what a harness measured by itself within trials of
	// another case: those are its trials too, and count once.
	Part      bool
	Valid     int
	Invalid   int
	Marked    int            // of the valid ones, those that carry warnings
	Reasons   []ReasonCount  // of the invalid ones, the most frequent first
	Absent    []AbsenceCount // of the valid ones, in the order of Metrics, the most frequent first
	Warnings  []WarningCount // of the valid ones, the most frequent first
	Summaries []Summary
}

// ReasonCount says how many trials are invalid for one reason.
type ReasonCount struct {
	Reason string
	Count  int
}

// AbsenceCount says how many valid trials have no number for a metric, for one
// reason.
type AbsenceCount struct {
	Metric string
	Reason string
	Count  int
}

// WarningCount says how many valid trials carry a warning.
type WarningCount struct {
	Warning string
	Count   int
}

// Summary returns the summary of the named metric.
func (r CaseResult) Summary(metric string) (Summary, bool) {
	for _, s := range r.Summaries {
		if s.Metric == metric {
			return s, true
		}
	}
	return Summary{}, false
}

// A Ratio is a value divided by its baseline's. It is not known when either is
// missing, or when something stands against nothing.
type Ratio struct {
	Value float64
	Known bool
	// Error is the standard error of Value; 0 where it is not known.
	Error float64
	// Near says that the trials show no difference from 1. It is a doubt and no
	// verdict: without it the difference may be chance too.
	Near bool
}

// A Contrast lays the implementations of one revision beside their baseline,
// workload by workload. It is for reading; a Contrast gives no verdict.
type Contrast struct {
	Baseline        string
	Metrics         []Metric
	Implementations []string // the baseline first
	Workloads       []WorkloadContrast
	Means           []MeanRow // of the workloads' ratios, the baseline left out
	Mean            MeanKind
	Meters          MeterContrast // of net energy; empty where fewer than two meters have it
	Imported        bool          // the figures were brought in from elsewhere
}

// WorkloadContrast is a Contrast's block for one workload.
type WorkloadContrast struct {
	Workload string
	Rows     []ContrastRow // in the order of Implementations
}

// A ContrastRow is one implementation under one workload.
type ContrastRow struct {
	Implementation string
	Result         CaseResult
	Ratios         []Ratio // to the baseline's mean, in the order of Metrics
}

// MeanKind says which mean sums the workloads up.
type MeanKind string

// The means of ratios.
const (
	Arithmetic MeanKind = "arithmetic"
	Geometric  MeanKind = "geometric"
)

// A MeanRow is one implementation's mean ratio per metric, and of how many
// workloads it is the mean.
type MeanRow struct {
	Implementation string
	Ratios         []Ratio
	// Times are 1 ÷ the mean of how many times the baseline has what the
	// implementation has: the arithmetic mean of "2 times faster" and "4 times faster"
	// is 3, where that of the ratios, 0.5 and 0.25, is 2.67 times. Not known where one of
	// the ratios is 0.
	Times  []Ratio
	Counts []int
}
