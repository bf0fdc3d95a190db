package report

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A lack is why metrics have no number, or not of every trial, in one case or
// in several of a workload.
type lack struct {
	metrics []string
	n       int // trials of each case that have a number
	trials  int // valid ones of each case
	cases   []stopwatt.Case
	reasons []tally // as they were given, not yet joined by kind
}

// lacksOf finds what the cases of a workload lack of these metrics. What is
// lacking for the same kind of reasons is found once.
func lacksOf(block stopwatt.WorkloadContrast, metrics []stopwatt.Metric) []lack {
	var found []lack
	for _, row := range block.Rows {
		of := stopwatt.Case{Implementation: Clean(row.Implementation), Workload: Clean(block.Workload)}
		for _, one := range lacksOfCase(of, row.Result, metrics) {
			if i := slices.IndexFunc(found, one.alike); i >= 0 {
				found[i].cases = append(found[i].cases, of)
				found[i].reasons = append(found[i].reasons, one.reasons...)
			} else {
				found = append(found, one)
			}
		}
	}
	return found
}

// lacksOfCase finds what a case lacks; metrics with the same reasons are found
// together.
func lacksOfCase(of stopwatt.Case, result stopwatt.CaseResult, metrics []stopwatt.Metric) []lack {
	var found []lack
	for _, metric := range metrics {
		s, has := result.Summary(metric.Name)
		if result.Valid == 0 || has && s.N >= result.Valid {
			continue
		}
		reasons := absences(result, metric.Name)
		same := func(l lack) bool { return l.n == s.N && slices.Equal(l.reasons, reasons) }
		if i := slices.IndexFunc(found, same); i >= 0 {
			found[i].metrics = append(found[i].metrics, Clean(metric.Name))
		} else {
			found = append(found, lack{[]string{Clean(metric.Name)}, s.N, result.Valid, []stopwatt.Case{of}, reasons})
		}
	}
	return found
}

// alike tells whether what two cases lack can be said at once.
func (l lack) alike(other lack) bool {
	return l.n == other.n && l.trials == other.trials && slices.Equal(l.metrics, other.metrics) &&
		slices.Equal(skeletons(l.reasons), skeletons(other.reasons))
}

// skeletons are the kinds of reasons, sorted.
func skeletons(reasons []tally) []string {
	var kinds []string
	for _, r := range reasons {
		kinds = append(kinds, skeleton(r.text))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// sentence says what is lacking and why, of a workload with so many rows.
func (l lack) sentence(rows int) string {
	about := fmt.Sprintf("%s of %s", strings.Join(l.metrics, ", "), l.where(rows))
	why := reasonsIn(l.reasons, l.trials*len(l.cases))
	switch {
	case l.n > 0 && why == "":
		return fmt.Sprintf("%s is of n %d: measured in %d of %s.", about, l.n, l.n, plural(l.trials, "trial"))
	case l.n > 0:
		return fmt.Sprintf("%s is of n %d: %s.", about, l.n, why)
	case why == "":
		return fmt.Sprintf("–: %s: not measured.", about)
	}
	return fmt.Sprintf("–: %s: %s.", about, why)
}

// where names the cases, not all of many.
func (l lack) where(rows int) string {
	n := len(l.cases)
	if n == 1 {
		return l.cases[0].String()
	}
	var names []string
	for _, c := range l.cases {
		names = append(names, c.Implementation)
	}
	list := strings.Join(names, ", ")
	switch {
	case n == rows:
		list = fmt.Sprintf("all %d implementations", n)
	case n > 3:
		list = fmt.Sprintf("%s, %s and %d more", names[0], names[1], n-2)
	}
	return fmt.Sprintf("%s (%s)", l.cases[0].Workload, list)
}

// absences are the reasons why trials of a case have no number for a metric.
func absences(result stopwatt.CaseResult, metric string) []tally {
	var reasons []tally
	for _, a := range result.Absent {
		if a.Metric == metric {
			reasons = append(reasons, tally{short(a.Reason), a.Count})
		}
	}
	return reasons
}

// reasonsIn lists the kinds of reasons and in how many trials each was met.
func reasonsIn(reasons []tally, trials int) string {
	var parts []string
	for _, r := range kinds(reasons) {
		parts = append(parts, fmt.Sprintf("%s in %d of %s", r.text, r.count, plural(trials, "trial")))
	}
	return strings.Join(parts, "; ")
}
