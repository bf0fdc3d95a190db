package regression

import (
	"math"

	"gitlab.com/stopwatt/stopwatt"
)

// A cell is a ratio and how far from 1 it may be while its two ranges, mean ± sd,
// still overlap; NaN when one of them is of a single trial.
type cell struct {
	stopwatt.Ratio
	slack float64
}

// ratioToBaseline is the ratio of a case's mean to its baseline's, with its
// doubts. The baseline's own has none: it is 1 by definition.
func ratioToBaseline(result, base stopwatt.CaseResult, metric stopwatt.Metric, isBaseline bool) stopwatt.Ratio {
	ratio := RatioOf(meanOf(result, metric), meanOf(base, metric))
	if !ratio.Known || isBaseline {
		return ratio
	}
	a, _ := result.Summary(metric.Name)
	b, _ := base.Summary(metric.Name)
	ratio.Error = errorOf(ratio.Value, a, b)
	ratio.Near = showNoDifference(a, b)
	return ratio
}

// showNoDifference tells whether the trials of a case and its baseline show no
// difference: the ranges mean ± sd overlap, the medians say the opposite of the
// means, or there is a single trial, which tells nothing of its spread. Equal
// values without any spread are equal, and no doubt is about it.
//
// It is a plain reading aid, not a test: with many trials, ranges that overlap
// may well belong to different means.
func showNoDifference(a, b stopwatt.Summary) bool {
	switch {
	case a.Mean == b.Mean && a.SD == 0 && b.SD == 0:
		return false
	case a.N < 2 || b.N < 2:
		return true
	case (a.Mean-b.Mean)*(a.Median-b.Median) < 0:
		return true
	}
	return math.Abs(a.Mean-b.Mean) <= a.SD+b.SD
}

// errorOf is the standard error of the ratio of two means, by propagation of
// their errors to the first order (H. H. Ku, Notes on the use of propagation of
// error formulas, J. Res. NBS 70C, 1966). It is 0, not known, where one of them is
// of a single trial.
func errorOf(ratio float64, a, b stopwatt.Summary) float64 {
	if a.N < 2 || b.N < 2 || b.Mean == 0 {
		return 0
	}
	above := a.SD / math.Sqrt(float64(a.N))
	below := ratio * b.SD / math.Sqrt(float64(b.N))
	return math.Hypot(above, below) / math.Abs(b.Mean)
}

// slackOf is how far from 1 the ratio may be while the ranges still overlap.
func slackOf(result, base stopwatt.CaseResult, metric stopwatt.Metric) float64 {
	a, _ := result.Summary(metric.Name)
	b, _ := base.Summary(metric.Name)
	switch {
	case a.Mean == b.Mean && a.SD == 0 && b.SD == 0:
		return 0
	case a.N < 2 || b.N < 2:
		return math.NaN()
	}
	return (a.SD + b.SD) / math.Abs(b.Mean)
}

// nearMean tells whether a mean of ratios shows no difference from 1: it is no
// further from it than the workloads' slack is on average, or no ratio that went
// into it shows one. With a single workload it says what that one says.
func nearMean(mean float64, cells []cell) bool {
	slack, all := 0.0, true
	for _, cell := range cells {
		all = all && cell.Near
		slack += cell.slack
	}
	return all || math.IsNaN(slack) || slack > 0 && math.Abs(mean-1) <= slack/float64(len(cells))
}

// errorOfMean is the standard error of a mean of ratios, whose errors are taken
// as independent: each workload has its own trials of the baseline.
func errorOfMean(kind stopwatt.MeanKind, mean float64, cells []cell) float64 {
	sum := 0.0
	for _, cell := range cells {
		part := cell.Error
		if kind == stopwatt.Geometric && cell.Value > 0 {
			part *= mean / cell.Value
		}
		sum = math.Hypot(sum, part)
	}
	return sum / float64(len(cells))
}
