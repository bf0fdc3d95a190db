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
	for _, c := range r.cases() {
		for _, revision := range r.revisions(c) {
			results.Cases = append(results.Cases, r.result(c, revision))
		}
	}
	results.Metrics = m.occurring(results.Cases)
	return results, nil
}

// occurring are the metrics that occur in cases.
func (m *Memory) occurring(cases []stopwatt.CaseResult) []stopwatt.Metric {
	var names []string
	for _, c := range cases {
		for _, s := range c.Summaries {
			names = append(names, s.Metric)
		}
		for _, a := range c.Absent {
			names = append(names, a.Metric)
		}
	}
	slices.SortFunc(names, stopwatt.CompareMetrics)
	var metrics []stopwatt.Metric
	for _, name := range slices.Compact(names) {
		metric, known := stopwatt.MetricNamed(name)
		if !known {
			metric = m.defined[name]
		}
		metrics = append(metrics, metric)
	}
	return metrics
}

// cases lists those of the suite, workload by workload, behind each its parts.
func (r *memoryRun) cases() []stopwatt.Case {
	var cases []stopwatt.Case
	for _, workload := range r.run.Settings.Workloads {
		for _, name := range append([]string{workload.Name}, r.partsOf(workload.Name)...) {
			for _, implementation := range r.run.Settings.Implementations {
				cases = append(cases, stopwatt.Case{Implementation: implementation.Name, Workload: name})
			}
		}
	}
	return cases
}

// partsOf lists the parts of a workload in the order in which they were told
// first.
func (r *memoryRun) partsOf(workload string) []string {
	var names []string
	for _, trial := range slices.SortedStableFunc(slices.Values(r.trials), func(a, b stopwatt.Trial) int { return cmp.Compare(a.Position, b.Position) }) {
		for _, part := range trial.Parts {
			if trial.Case.Workload == workload && !slices.Contains(names, part.Case.Workload) {
				names = append(names, part.Case.Workload)
			}
		}
	}
	return names
}

// trialsOf lists the trials of a case and revision, and whether they are parts
// of others.
func (r *memoryRun) trialsOf(c stopwatt.Case, revision stopwatt.Revision) (trials []stopwatt.Trial, parts bool) {
	for _, trial := range r.trials {
		if trial.Revision != revision {
			continue
		}
		for i, part := range wholeAndParts(trial) {
			if part.Case != c {
				continue
			}
			of := trial
			of.Case, of.Absent = part.Case, part.Absent
			if i > 0 {
				of.Warnings, parts = nil, true
			}
			trials = append(trials, of)
		}
	}
	return trials, parts
}

// revisions lists those of a case that have a trial or a summary.
func (r *memoryRun) revisions(c stopwatt.Case) []stopwatt.Revision {
	var revisions []stopwatt.Revision
	for _, revision := range []stopwatt.Revision{stopwatt.Base, stopwatt.Head} {
		trials, _ := r.trialsOf(c, revision)
		summarized := slices.ContainsFunc(r.summaries, func(s stopwatt.Summary) bool { return s.Case == c && s.Revision == revision })
		if len(trials) > 0 || summarized {
			revisions = append(revisions, revision)
		}
	}
	return revisions
}

func (r *memoryRun) result(c stopwatt.Case, revision stopwatt.Revision) stopwatt.CaseResult {
	trials, parts := r.trialsOf(c, revision)
	result := stopwatt.CaseResult{Case: c, Revision: revision, Part: parts}
	reasons, absent, warnings := map[string]int{}, map[stopwatt.Absence]int{}, map[string]int{}
	for _, trial := range trials {
		switch trial.Status {
		case stopwatt.Valid:
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
