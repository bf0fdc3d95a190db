package report

import (
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// An answer says in a few words how an implementation stands against the
// baseline, with no more digits than its error allows.
type answer struct {
	Implementation string // as it is named, not yet made safe
	Index          int    // among the contrast's implementations
	Ratio          string // of the first metric, over all workloads: 1.02×
	Change         string // the same as a change: +2.1 % more
	From, To       extreme
	Others         []answerOther // of the other metrics
}

// An extreme is the workload with the smallest or the largest ratio.
type extreme struct {
	Ratio    string
	Workload string
}

// answerOther is the mean ratio of a further metric, and of how many workloads
// where that is not said elsewhere.
type answerOther struct{ Metric, Ratio string }

// answersOf makes an answer for each implementation but the baseline.
func answersOf(c stopwatt.Contrast) []answer {
	if len(c.Metrics) == 0 {
		return nil
	}
	usual, same := sameCount(c)
	if !same {
		usual = len(c.Workloads)
	}
	var answers []answer
	for i, row := range c.Means {
		a := answer{
			Implementation: row.Implementation,
			Index:          i + 1,
			Ratio:          roughRatio(row.Ratios[0]),
			Change:         roughChange(row.Ratios[0]),
		}
		a.From, a.To = extremes(c, i+1)
		for m, metric := range c.Metrics[1:] {
			a.Others = append(a.Others, answerOther{label(metric), roughRatio(row.Ratios[m+1]) + ofCount(row, m+1, usual)})
		}
		answers = append(answers, a)
	}
	return answers
}

// extremes finds the workloads in which the first metric's ratio is smallest
// and largest, of the implementation at index. They are empty when fewer than
// two workloads have a ratio.
func extremes(c stopwatt.Contrast, index int) (from, to extreme) {
	var low, high stopwatt.Ratio
	known := 0
	for _, block := range c.Workloads {
		ratio := block.Rows[index].Ratios[0]
		if !ratio.Known {
			continue
		}
		known++
		if !low.Known || ratio.Value < low.Value {
			low, from = ratio, extreme{roughRatio(ratio), block.Workload}
		}
		if !high.Known || ratio.Value > high.Value {
			high, to = ratio, extreme{roughRatio(ratio), block.Workload}
		}
	}
	if known < 2 {
		return extreme{}, extreme{}
	}
	return from, to
}

// ofWhat says what the ratios of the answers are.
func ofWhat(c stopwatt.Contrast) string {
	if len(c.Metrics) == 0 || len(c.Workloads) == 0 {
		return "Nothing was measured."
	}
	about := fmt.Sprintf("%s (%s)", label(c.Metrics[0]), direction(c.Metrics[0]))
	if len(c.Workloads) == 1 {
		return about
	}
	kind := fmt.Sprintf("%s mean of %s", c.Mean, plural(len(c.Workloads), "workload"))
	if n, alike := sameCount(c); alike && n < len(c.Workloads) {
		kind = fmt.Sprintf("%s mean of %d of %s", c.Mean, n, plural(len(c.Workloads), "workload"))
	}
	return about + ", " + kind
}
