package storagetest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Results does what storage.Store.Results does.
func (m *Memory) Results(_ context.Context, runID int64) (stopwatt.Results, error) {
	if err := m.enter("Results"); err != nil {
		return stopwatt.Results{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return stopwatt.Results{}, err
	}
	results := stopwatt.Results{Run: r.run}
	for _, c := range r.run.Settings.Cases() {
		for _, revision := range r.revisions(c) {
			results.Cases = append(results.Cases, r.result(c, revision))
		}
	}
	return results, nil
}

// revisions lists those of a case that have a trial or a summary.
func (r *memoryRun) revisions(c stopwatt.Case) []stopwatt.Revision {
	var revisions []stopwatt.Revision
	for _, trial := range r.trials {
		if trial.Case == c {
			revisions = append(revisions, trial.Revision)
		}
	}
	for _, summary := range r.summaries {
		if summary.Case == c {
			revisions = append(revisions, summary.Revision)
		}
	}
	slices.Sort(revisions)
	return slices.Compact(revisions)
}

func (r *memoryRun) result(c stopwatt.Case, revision stopwatt.Revision) stopwatt.CaseResult {
	result := stopwatt.CaseResult{Case: c, Revision: revision}
	reasons, absent, warnings := map[string]int{}, map[stopwatt.Absence]int{}, map[string]int{}
	for _, trial := range r.trials {
		switch {
		case trial.Case != c || trial.Revision != revision:
		case trial.Status == stopwatt.Valid:
			result.Valid++
			result.Marked += min(len(trial.Warnings), 1)
			for _, absence := range trial.Absent {
				absent[absence]++
			}
			for _, warning := range slices.Compact(slices.Sorted(slices.Values(trial.Warnings))) {
				warnings[warning]++
			}
		default:
			result.Invalid++
			reasons[trial.Reason]++
		}
	}
	for reason, count := range reasons {
		result.Reasons = append(result.Reasons, stopwatt.ReasonCount{Reason: reason, Count: count})
	}
	slices.SortFunc(result.Reasons, func(a, b stopwatt.ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	for warning, count := range warnings {
		result.Warnings = append(result.Warnings, stopwatt.WarningCount{Warning: warning, Count: count})
	}
	slices.SortFunc(result.Warnings, func(a, b stopwatt.WarningCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Warning, b.Warning))
	})
	for absence, count := range absent {
		result.Absent = append(result.Absent, stopwatt.AbsenceCount{Metric: absence.Metric, Reason: absence.Reason, Count: count})
	}
	slices.SortFunc(result.Absent, func(a, b stopwatt.AbsenceCount) int {
		return cmp.Or(stopwatt.CompareMetrics(a.Metric, b.Metric), cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	for _, summary := range r.summaries {
		if summary.Case == c && summary.Revision == revision {
			result.Summaries = append(result.Summaries, summary)
		}
	}
	slices.SortFunc(result.Summaries, func(a, b stopwatt.Summary) int { return stopwatt.CompareMetrics(a.Metric, b.Metric) })
	return result
}
