package regression

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// RatioOf divides a value by its baseline's; a missing one is NaN. Equal values
// have the ratio 1, 0 and 0 too: nothing changed. There is no ratio when either
// is missing or infinite, when another value stands against 0, or when either
// is negative (net energy may be): ratios belong to scales with a true zero
// (S. S. Stevens, On the Theory of Scales of Measurement, Science 103, 1946),
// and "−2 times the energy" says nothing to anybody.
func RatioOf(value, baseline float64) stopwatt.Ratio {
	ratio := value / baseline
	switch {
	case math.IsInf(value, 0) || math.IsInf(baseline, 0):
		return stopwatt.Ratio{}
	case value == baseline:
		return stopwatt.Ratio{Value: 1, Known: true}
	case value < 0 || baseline < 0 || math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return stopwatt.Ratio{}
	}
	return stopwatt.Ratio{Value: ratio, Known: true}
}

// Lay lays the implementations of the head beside the baseline: for each
// workload and metric the ratio of means, and for each implementation the mean
// of these ratios with how many workloads went in. An empty baseline is the
// run's own.
//
// Implementations and workloads of which nothing was tried are left out, the
// baseline excepted. A workload does not go into a metric's mean when its ratio
// is not known, or when the baseline has 0 there: "equal" is then a convention
// and no measurement, and would pull every mean towards 1.
//
// It fails for a baseline that the run does not have, naming those it has, and
// for a mean that is none.
func Lay(results stopwatt.Results, baseline string, metrics []stopwatt.Metric, mean stopwatt.MeanKind) (stopwatt.Contrast, error) {
	if baseline == "" {
		baseline = results.Run.Baseline
	}
	if names := implementationsOf(results); !slices.Contains(names, baseline) {
		return stopwatt.Contrast{}, fmt.Errorf("baseline %q is no implementation of this run; it has %s", baseline, strings.Join(names, ", "))
	}
	if mean != stopwatt.Arithmetic && mean != stopwatt.Geometric {
		return stopwatt.Contrast{}, fmt.Errorf("mean %q is unknown; there are %s and %s", mean, stopwatt.Arithmetic, stopwatt.Geometric)
	}
	contrast := stopwatt.Contrast{Baseline: baseline, Metrics: metrics, Mean: mean, Imported: results.Run.Imported}
	tried := triedAtHead(results)
	contrast.Implementations = appendNew([]string{baseline}, tried, implementation)
	for _, name := range appendNew(nil, tried, workload) {
		contrast.Workloads = append(contrast.Workloads, layWorkload(contrast, name, tried))
	}
	for i, name := range contrast.Implementations[1:] {
		contrast.Means = append(contrast.Means, meanRow(contrast, name, i+1))
	}
	contrast.Meters = LayMeters(results, false)
	return contrast, nil
}

// triedAtHead are the results of cases that were tried at the head.
func triedAtHead(results stopwatt.Results) []stopwatt.CaseResult {
	var tried []stopwatt.CaseResult
	for _, result := range results.Cases {
		if result.Revision == stopwatt.Head && result.Valid+result.Invalid > 0 {
			tried = append(tried, result)
		}
	}
	return tried
}

// implementationsOf lists every implementation that the run knows of.
func implementationsOf(results stopwatt.Results) []string {
	var names []string
	for _, i := range results.Run.Settings.Implementations {
		names = append(names, i.Name)
	}
	return appendNew(names, results.Cases, implementation)
}

func implementation(r stopwatt.CaseResult) string { return r.Case.Implementation }
func workload(r stopwatt.CaseResult) string       { return r.Case.Workload }

// appendNew appends the name that each result gives, unless it is there already.
func appendNew(names []string, results []stopwatt.CaseResult, nameOf func(stopwatt.CaseResult) string) []string {
	for _, result := range results {
		if name := nameOf(result); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// layWorkload makes the block of one workload.
func layWorkload(c stopwatt.Contrast, workload string, results []stopwatt.CaseResult) stopwatt.WorkloadContrast {
	block := stopwatt.WorkloadContrast{Workload: workload}
	base := resultOf(results, stopwatt.Case{Implementation: c.Baseline, Workload: workload})
	for _, name := range c.Implementations {
		row := stopwatt.ContrastRow{Implementation: name}
		row.Result = resultOf(results, stopwatt.Case{Implementation: name, Workload: workload})
		for _, metric := range c.Metrics {
			ratio := ratioToBaseline(row.Result, base, metric, name == c.Baseline)
			ratio.Near = ratio.Near && !published(c, row.Result, base, metric)
			row.Ratios = append(row.Ratios, ratio)
		}
		block.Rows = append(block.Rows, row)
	}
	return block
}

// published tells whether the spread of figures is known to somebody else alone:
// a mark on each of them would say nothing.
func published(c stopwatt.Contrast, result, base stopwatt.CaseResult, metric stopwatt.Metric) bool {
	a, _ := result.Summary(metric.Name)
	b, _ := base.Summary(metric.Name)
	return c.Imported && (a.N < 2 || b.N < 2)
}

// resultOf finds a case's result; one that was never tried is empty.
func resultOf(results []stopwatt.CaseResult, c stopwatt.Case) stopwatt.CaseResult {
	for _, result := range results {
		if result.Case == c {
			return result
		}
	}
	return stopwatt.CaseResult{Case: c, Revision: stopwatt.Head}
}

// meanOf is a case's mean of a metric, NaN when there is none.
func meanOf(result stopwatt.CaseResult, metric stopwatt.Metric) float64 {
	if s, has := result.Summary(metric.Name); has {
		return s.Mean
	}
	return math.NaN()
}

// meanRow sums up the workloads of the implementation that stands at index in
// every block.
func meanRow(c stopwatt.Contrast, name string, index int) stopwatt.MeanRow {
	row := stopwatt.MeanRow{Implementation: name}
	for m, metric := range c.Metrics {
		var cells []cell
		known := true // their spreads
		for _, block := range c.Workloads {
			ratio := block.Rows[index].Ratios[m]
			if ratio.Known && meanOf(block.Rows[0].Result, metric) != 0 {
				result, base := block.Rows[index].Result, block.Rows[0].Result
				known = known && !published(c, result, base, metric)
				cells = append(cells, cell{ratio, slackOf(result, base, metric)})
			}
		}
		mean := meanRatio(c.Mean, cells)
		mean.Near = mean.Near && known
		row.Ratios = append(row.Ratios, mean)
		row.Times = append(row.Times, timesOf(c.Mean, mean, cells))
		row.Counts = append(row.Counts, len(cells))
	}
	return row
}

// timesOf is 1 ÷ the mean of 1 ÷ ratio: see stopwatt.MeanRow. Of the geometric mean
// that is the mean itself.
func timesOf(kind stopwatt.MeanKind, mean stopwatt.Ratio, cells []cell) stopwatt.Ratio {
	if kind == stopwatt.Geometric || !mean.Known {
		return mean
	}
	sum := 0.0
	for _, cell := range cells {
		sum += 1 / cell.Value
	}
	if math.IsInf(sum, 0) {
		return stopwatt.Ratio{}
	}
	return stopwatt.Ratio{Value: float64(len(cells)) / sum, Known: true, Near: mean.Near}
}

// meanRatio is the mean of ratios. The geometric one does not depend on which
// implementation is the baseline (P. J. Fleming, J. J. Wallace, How not to lie
// with statistics, CACM 29, 1986); the arithmetic one is what most articles
// print. Of no ratios there is none.
func meanRatio(kind stopwatt.MeanKind, cells []cell) stopwatt.Ratio {
	if len(cells) == 0 {
		return stopwatt.Ratio{}
	}
	sum := 0.0
	for _, cell := range cells {
		if kind == stopwatt.Geometric {
			sum += math.Log(cell.Value)
		} else {
			sum += cell.Value
		}
	}
	mean := sum / float64(len(cells))
	if kind == stopwatt.Geometric {
		mean = math.Exp(mean)
	}
	return stopwatt.Ratio{Value: mean, Known: true, Error: errorOfMean(kind, mean, cells), Near: nearMean(mean, cells)}
}
