package regression

import (
	"cmp"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Collect makes a run's results from its trials: for every case how many
// counted, why others did not, and its summaries. Cases come in the order of
// the suite, those without any trial too; a case that the suite does not have
// follows them.
func Collect(run stopwatt.Run, trials []stopwatt.Trial) stopwatt.Results {
	byGroup := map[group][]stopwatt.Trial{}
	for _, trial := range trials {
		of := group{trial.Case, trial.Revision}
		byGroup[of] = append(byGroup[of], trial)
	}
	summaries := map[group][]stopwatt.Summary{}
	for _, s := range Summarize(trials) {
		of := group{s.Case, s.Revision}
		summaries[of] = append(summaries[of], s)
	}
	results := stopwatt.Results{Run: run}
	for _, of := range inOrder(run.Settings.Cases(), byGroup) {
		result := count(byGroup[of])
		result.Case, result.Revision, result.Summaries = of.Case, of.Revision, summaries[of]
		results.Cases = append(results.Cases, result)
	}
	return results
}

// inOrder lists the head of every case of the suite, then the other groups.
func inOrder(cases []stopwatt.Case, groups map[group][]stopwatt.Trial) []group {
	var order []group
	for _, c := range cases {
		order = append(order, group{c, stopwatt.Head})
	}
	for _, of := range sorted(groups) {
		if !slices.Contains(order, of) {
			order = append(order, of)
		}
	}
	return order
}

// count counts the trials of one case by what became of them.
func count(trials []stopwatt.Trial) stopwatt.CaseResult {
	var result stopwatt.CaseResult
	reasons, absent := map[string]int{}, map[stopwatt.Absence]int{}
	for _, trial := range trials {
		if trial.Status != stopwatt.Valid {
			result.Invalid++
			reasons[trial.Reason]++
			continue
		}
		result.Valid++
		if len(trial.Warnings) > 0 {
			result.Marked++
		}
		for _, a := range trial.Absent {
			absent[a]++
		}
	}
	result.Reasons = mostFrequent(reasons)
	result.Absent = byMetric(absent)
	return result
}

// mostFrequent lists reasons, the most frequent first.
func mostFrequent(reasons map[string]int) []stopwatt.ReasonCount {
	var counts []stopwatt.ReasonCount
	for reason, n := range reasons {
		counts = append(counts, stopwatt.ReasonCount{Reason: reason, Count: n})
	}
	slices.SortFunc(counts, func(a, b stopwatt.ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return counts
}

// byMetric lists absences in the order of metrics, the most frequent reason of
// each first.
func byMetric(absent map[stopwatt.Absence]int) []stopwatt.AbsenceCount {
	byName := map[string]map[string]int{}
	for a, n := range absent {
		if byName[a.Metric] == nil {
			byName[a.Metric] = map[string]int{}
		}
		byName[a.Metric][a.Reason] = n
	}
	var counts []stopwatt.AbsenceCount
	for _, metric := range metricsIn(byName) {
		for _, r := range mostFrequent(byName[metric]) {
			counts = append(counts, stopwatt.AbsenceCount{Metric: metric, Reason: r.Reason, Count: r.Count})
		}
	}
	return counts
}
