package report

import (
	"fmt"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// doubts lists, in sentences, what could not be said: trials that did not
// count, absent values, ratios that have no value or show no difference, spreads
// of a single trial, what makes figures rough, and what trials are marked for.
func doubts(c stopwatt.Contrast, as As) []string {
	var list []string
	single, noRatio := false, ""
	for i := range c.Workloads {
		own := narrowed(c, i)
		block := own.Workloads[0]
		for _, row := range block.Rows {
			of := stopwatt.Case{Implementation: Clean(row.Implementation), Workload: Clean(block.Workload)}
			list = append(list, doubtsOfCase(of, row.Result, as)...)
			for m, metric := range own.Metrics {
				s, has := row.Result.Summary(metric.Name)
				single = single || has && s.N == 1
				if has && !row.Ratios[m].Known && noRatio == "" {
					noRatio = whyNoRatio(metric, s.Mean, block.Rows[0])
				}
			}
		}
		for _, lack := range lacksOf(block, own.Metrics) {
			list = append(list, lack.sentence(len(block.Rows)))
		}
	}
	if single && (as == "" || as == AsValue) {
		list = append(list, "± –: one trial has no spread.")
	}
	notes := roughness(c)
	if as != asMeans {
		if noRatio != "" {
			list = append(list, "?: "+noRatio)
		}
		notes = append(notes, nearNote(c))
	}
	for _, note := range append(notes, marks(c)) {
		if note != "" {
			list = append(list, note)
		}
	}
	return list
}

// doubtsOfCase says which trials of a case did not count.
func doubtsOfCase(of stopwatt.Case, result stopwatt.CaseResult, as As) []string {
	switch {
	case result.Valid == 0 && (as == "" || as == AsValue):
		return nil // its row says so
	case result.Valid == 0:
		return []string{fmt.Sprintf("–: %s: %s.", of, whyInvalid(result))}
	case result.Invalid > 0:
		return []string{fmt.Sprintf("%s: %s; not counted.", of, whyInvalid(result))}
	}
	return nil
}

// mostKinds bounds how many kinds of warnings a footnote names.
const mostKinds = 6

// marks says what trials are marked for, by kind.
func marks(c stopwatt.Contrast) string {
	marked := 0
	var warnings []tally
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			marked += row.Result.Marked
			for _, w := range row.Result.Warnings {
				warnings = append(warnings, tally{short(w.Warning), w.Count})
			}
		}
	}
	if marked == 0 || warnings == nil {
		return ""
	}
	var parts []string
	for i, kind := range kinds(warnings) {
		if i == mostKinds {
			parts = append(parts, "and others")
			break
		}
		part := kind.text
		if marked > 1 {
			part += fmt.Sprintf(" (%d)", kind.count)
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("%s marked: %s.", plural(marked, "trial"), strings.Join(parts, "; "))
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
