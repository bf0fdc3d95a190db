package report

import (
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// doubts lists, in sentences, what could not be said: absent values, trials
// that did not count, ratios that have no value, spreads of a single trial.
func doubts(c stopwatt.Contrast, as As) []string {
	var list []string
	single, noRatio := false, ""
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			of := stopwatt.Case{Implementation: Clean(row.Implementation), Workload: Clean(block.Workload)}
			list = append(list, doubtsOfCase(c, of, row, as)...)
			for m, metric := range c.Metrics {
				s, has := row.Result.Summary(metric.Name)
				single = single || has && s.N == 1
				if has && !row.Ratios[m].Known && noRatio == "" {
					noRatio = whyNoRatio(metric, s.Mean, block.Rows[0])
				}
			}
		}
	}
	if single && as != AsRatio && as != AsTimes && as != AsPercent {
		list = append(list, "± –: one trial has no spread.")
	}
	if noRatio != "" {
		list = append(list, "?: "+noRatio)
	}
	return list
}

// doubtsOfCase lists what is to be said of one case.
func doubtsOfCase(c stopwatt.Contrast, of stopwatt.Case, row stopwatt.ContrastRow, as As) []string {
	result := row.Result
	if result.Valid == 0 {
		if as == "" || as == AsValue {
			return nil // its row says so
		}
		return []string{fmt.Sprintf("–: %s: %s.", of, whyInvalid(result))}
	}
	var list []string
	if result.Invalid > 0 {
		list = append(list, fmt.Sprintf("%s: %s; not counted.", of, whyInvalid(result)))
	}
	for _, metric := range c.Metrics {
		s, has := result.Summary(metric.Name)
		switch why := whyAbsent(result, metric.Name); {
		case !has:
			list = append(list, fmt.Sprintf("–: %s of %s: %s.", metric.Name, of, why))
		case s.N < result.Valid:
			list = append(list, fmt.Sprintf("%s of %s is of n %d: %s.", metric.Name, of, s.N, why))
		}
	}
	return list
}

// whyNoRatio explains a ratio that has no value.
func whyNoRatio(metric stopwatt.Metric, value float64, baseline stopwatt.ContrastRow) string {
	base, has := baseline.Result.Summary(metric.Name)
	switch {
	case !has:
		return "no ratio without a value of the baseline."
	case base.Mean == 0:
		return fmt.Sprintf("%s against 0 has no ratio. Equal values, 0 and 0 too, are 1.00.", Value(metric, value))
	}
	return fmt.Sprintf("%s against %s has no ratio.", Value(metric, value), Value(metric, base.Mean))
}
