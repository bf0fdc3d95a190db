package regression

import (
	"cmp"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// LayMeters lays the energy of the head by each meter beside that by the others:
// for each case the first meter's mean divided by each other's, and for each
// workload the pairs of implementations that two meters order differently. It
// is empty where fewer than two meters have a number. Cases of which nothing was
// tried are left out.
func LayMeters(results stopwatt.Results, gross bool) stopwatt.MeterContrast {
	tried := triedAtHead(results)
	contrast := stopwatt.MeterContrast{Gross: gross}
	for _, meter := range results.EnergyMeters() {
		one := stopwatt.MeterContrast{Meters: []stopwatt.Meter{meter}, Gross: gross}
		metric := one.Metrics()[0]
		if slices.ContainsFunc(tried, func(r stopwatt.CaseResult) bool { return !math.IsNaN(meanOf(r, metric)) }) {
			contrast.Meters = append(contrast.Meters, meter)
		}
	}
	if len(contrast.Meters) < 2 {
		return stopwatt.MeterContrast{}
	}
	for _, name := range appendNew(nil, tried, workload) {
		block, comparable := layMeterWorkload(contrast, name, tried)
		contrast.Workloads = append(contrast.Workloads, block)
		if comparable {
			contrast.Comparable++
		}
		if comparable && len(block.Swaps) == 0 {
			contrast.Alike++
		}
	}
	return contrast
}

// layMeterWorkload makes the block of one workload, and tells whether two
// implementations or more have a number of every meter.
func layMeterWorkload(c stopwatt.MeterContrast, name string, tried []stopwatt.CaseResult) (block stopwatt.MeterWorkload, comparable bool) {
	block.Workload = name
	metrics := c.Metrics()
	var complete []stopwatt.CaseResult
	for _, result := range tried {
		if result.Case.Workload != name {
			continue
		}
		row := stopwatt.MeterRow{Implementation: result.Case.Implementation, Result: result}
		whole := true
		for m, metric := range metrics {
			whole = whole && !math.IsNaN(meanOf(result, metric))
			if m > 0 {
				row.Ratios = append(row.Ratios, RatioOf(meanOf(result, metrics[0]), meanOf(result, metric)))
			}
		}
		if whole {
			complete = append(complete, result)
		}
		block.Rows = append(block.Rows, row)
	}
	block.Swaps = swaps(c, complete)
	return block, len(complete) > 1
}

// swaps are the pairs of results that the first meter and another one order
// differently. Equal means are ordered either way.
func swaps(c stopwatt.MeterContrast, complete []stopwatt.CaseResult) []stopwatt.Swap {
	var found []stopwatt.Swap
	metrics := c.Metrics()
	for m := range metrics[1:] {
		for i, a := range complete {
			for _, b := range complete[i+1:] {
				if s, swapped := swapOf(a, b, metrics[0], metrics[m+1]); swapped {
					s.Meters = [2]string{c.Meters[0].Name, c.Meters[m+1].Name}
					found = append(found, s)
				}
			}
		}
	}
	return found
}

// swapOf compares two results by two metrics.
func swapOf(a, b stopwatt.CaseResult, first, second stopwatt.Metric) (stopwatt.Swap, bool) {
	if meanOf(a, first) > meanOf(b, first) {
		a, b = b, a
	}
	swapped := cmp.Compare(meanOf(a, first), meanOf(b, first))*cmp.Compare(meanOf(a, second), meanOf(b, second)) < 0
	return stopwatt.Swap{
		Implementations: [2]string{a.Case.Implementation, b.Case.Implementation},
		Means: [2][2]float64{
			{meanOf(a, first), meanOf(b, first)},
			{meanOf(a, second), meanOf(b, second)},
		},
		Near: near(a, b, first) || near(a, b, second),
	}, swapped
}

// near tells whether two means lie within two standard errors of their
// difference, which is that of Welch (The generalization of "Student's" problem
// when several different population variances are involved, Biometrika 34,
// 1947). A single trial tells nothing of its error: then they are near.
func near(a, b stopwatt.CaseResult, metric stopwatt.Metric) bool {
	x, _ := a.Summary(metric.Name)
	y, _ := b.Summary(metric.Name)
	if x.N < 2 || y.N < 2 {
		return true
	}
	variance := x.SD*x.SD/float64(x.N) + y.SD*y.SD/float64(y.N)
	return math.Abs(x.Mean-y.Mean) <= 2*math.Sqrt(variance)
}
