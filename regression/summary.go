package regression

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// group names the trials that are summed up together.
type group struct {
	stopwatt.Case
	stopwatt.Revision
}

// Summarize sums up the valid trials, per case, revision and metric, in the
// metric's base unit. What a harness measured by itself in a trial is summed up
// under the cases of its parts: there, too, N counts trials. A trial that has no finite number for a metric does not
// count towards that metric's N; a metric that no trial has gets no summary.
//
// The order is by workload, implementation and revision, then that of
// stopwatt.CompareMetrics; it and every figure are the same whatever the order of the
// trials.
func Summarize(trials []stopwatt.Trial) []stopwatt.Summary {
	groups := map[group][][]stopwatt.Measurement{}
	add := func(of group, measured []stopwatt.Measurement) { groups[of] = append(groups[of], measured) }
	for _, trial := range trials {
		if trial.Status != stopwatt.Valid {
			continue
		}
		add(group{trial.Case, trial.Revision}, trial.Measurements)
		for _, part := range trial.Parts {
			add(group{part.Case, trial.Revision}, part.Measurements)
		}
	}
	var summaries []stopwatt.Summary
	for _, of := range sorted(groups) {
		summaries = append(summaries, summarize(of, groups[of])...)
	}
	return summaries
}

// sorted lists the groups by workload, implementation and revision.
func sorted(groups map[group][][]stopwatt.Measurement) []group {
	keys := make([]group, 0, len(groups))
	for of := range groups {
		keys = append(keys, of)
	}
	slices.SortFunc(keys, func(a, b group) int {
		return cmp.Or(
			cmp.Compare(a.Workload, b.Workload),
			cmp.Compare(a.Implementation, b.Implementation),
			cmp.Compare(a.Revision, b.Revision))
	})
	return keys
}

// summarize sums up the trials of one group, metric by metric.
func summarize(of group, trials [][]stopwatt.Measurement) []stopwatt.Summary {
	values := map[string][]float64{}
	for _, measured := range trials {
		for _, m := range measured {
			if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
				values[m.Metric] = append(values[m.Metric], m.Value)
			}
		}
	}
	var summaries []stopwatt.Summary
	for _, metric := range slices.SortedFunc(maps.Keys(values), stopwatt.CompareMetrics) {
		s := describe(values[metric])
		s.Case, s.Revision, s.Metric = of.Case, of.Revision, metric
		summaries = append(summaries, s)
	}
	return summaries
}

// describe computes the figures of a summary from at least one finite value.
//
// Mean and variance are the corrected two-pass ones of Chan, Golub and LeVeque
// (Algorithms for Computing the Sample Variance, The American Statistician 37,
// 1983): rounding does not grow with the distance of the values from zero. The
// standard deviation divides by n−1.
func describe(values []float64) stopwatt.Summary {
	slices.Sort(values) // for the median, and so that sums do not depend on the order of trials
	n := float64(len(values))
	mean := 0.0
	for _, v := range values {
		mean += v / n
	}
	rest := 0.0
	for _, v := range values {
		rest += (v - mean) / n
	}
	mean += rest
	return stopwatt.Summary{
		N:      len(values),
		Mean:   min(max(mean, values[0]), values[len(values)-1]), // rounding may carry it past them
		SD:     deviation(values, mean),
		Median: median(values),
		Min:    values[0],
		Max:    values[len(values)-1],
	}
}

// deviation is the sample standard deviation of values round their mean, 0 for
// a single one.
func deviation(values []float64, mean float64) float64 {
	if len(values) < 2 {
		return 0
	}
	n, squares, rest := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
		rest += v - mean
	}
	return math.Sqrt(max(squares-rest*rest/n, 0) / (n - 1))
}

// median is the middle of sorted values, or halfway between the middle two.
func median(sorted []float64) float64 {
	n := len(sorted)
	low, high := sorted[(n-1)/2], sorted[n/2]
	return low + (high-low)/2
}
