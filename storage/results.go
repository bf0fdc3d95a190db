package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveSummaries stores the summaries of a run in place of those it had.
func (s *Store) SaveSummaries(ctx context.Context, runID int64, summaries []stopwatt.Summary) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error { return saveSummaries(ctx, tx, runID, summaries) })
	if err != nil {
		return fmt.Errorf("save the summaries of run %d: %w", runID, err)
	}
	return nil
}

func saveSummaries(ctx context.Context, tx pgx.Tx, runID int64, summaries []stopwatt.Summary) error {
	var suite int64
	// The lock lets one of two that replace the same summaries wait for the other.
	err := tx.QueryRow(ctx, "SELECT suite_id FROM stopwatt_store.runs WHERE id = $1 FOR UPDATE", runID).Scan(&suite)
	if err != nil {
		return notFound(err)
	}
	if _, err := tx.Exec(ctx, "DELETE FROM stopwatt_store.summaries WHERE run_id = $1", runID); err != nil {
		return err
	}
	var cases []stopwatt.Case
	var metrics []string
	for _, summary := range summaries {
		cases, metrics = append(cases, summary.Case), append(metrics, summary.Metric)
	}
	if err := insertCases(ctx, tx, suite, cases); err != nil {
		return err
	}
	if err := insertMetrics(ctx, tx, metrics, nil); err != nil {
		return err
	}
	if err := insertSummaries(ctx, tx, runID, suite, summaries); err != nil {
		return err
	}
	// A run that finishes enters history by itself; see enter_history in the migrations.
	_, err = tx.Exec(ctx, "SELECT stopwatt_store.refresh_spans($1)", runID)
	return err
}

// insertSummaries stores all summaries in one statement.
func insertSummaries(ctx context.Context, tx pgx.Tx, runID, suite int64, summaries []stopwatt.Summary) error {
	var implementations, workloads, metrics, revisions []string
	var ns []int
	var means, sds, medians, mins, maxs []float64
	for _, s := range summaries {
		implementations, workloads = append(implementations, s.Case.Implementation), append(workloads, s.Case.Workload)
		metrics, revisions, ns = append(metrics, s.Metric), append(revisions, string(s.Revision)), append(ns, s.N)
		means, sds, medians = append(means, s.Mean), append(sds, s.SD), append(medians, s.Median)
		mins, maxs = append(mins, s.Min), append(maxs, s.Max)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.summaries (run_id, case_id, metric_id, revision, n, mean, sd, median, min, max)
		SELECT $1, c.id, m.id, v.revision, v.n, v.mean, CASE WHEN v.n > 1 THEN v.sd END, v.median, v.min, v.max
		FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::float8[], $9::float8[], $10::float8[], $11::float8[], $12::float8[])
			v (implementation, workload, metric, revision, n, mean, sd, median, min, max)
		JOIN stopwatt_store.cases c ON c.suite_id = $2 AND c.implementation = v.implementation AND c.workload = v.workload
		JOIN stopwatt_store.metrics m ON m.name = v.metric`,
		runID, suite, implementations, workloads, metrics, revisions, ns, means, sds, medians, mins, maxs)
	return err
}

// Results returns a run with what came of its cases: of those that have a trial
// or a summary, in the order of its suite. Parts follow the workload that they
// are parts of, in the order in which a harness told them first.
func (s *Store) Results(ctx context.Context, runID int64) (stopwatt.Results, error) {
	var results stopwatt.Results
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var err error
		results, err = readResults(ctx, tx, runID)
		return err
	})
	if err != nil {
		return stopwatt.Results{}, fmt.Errorf("read the results of run %d: %w", runID, err)
	}
	return results, nil
}

func readResults(ctx context.Context, tx pgx.Tx, runID int64) (stopwatt.Results, error) {
	run, err := readRun(ctx, tx, runID)
	if err != nil {
		return stopwatt.Results{}, err
	}
	c := caseResults{of: map[caseRevision]*stopwatt.CaseResult{}}
	if err := c.readCounts(ctx, tx, runID); err != nil {
		return stopwatt.Results{}, err
	}
	parts, err := c.readParts(ctx, tx, runID)
	if err != nil {
		return stopwatt.Results{}, err
	}
	if err := c.readAbsences(ctx, tx, runID); err != nil {
		return stopwatt.Results{}, err
	}
	if err := c.readWarnings(ctx, tx, runID); err != nil {
		return stopwatt.Results{}, err
	}
	if err := c.readSummaries(ctx, tx, runID); err != nil {
		return stopwatt.Results{}, err
	}
	results := stopwatt.Results{Run: run, Cases: c.sorted(orderOf(run.Settings, parts))}
	results.Metrics, err = readMetrics(ctx, tx, results.Cases)
	return results, err
}

type caseRevision struct {
	Case     stopwatt.Case
	Revision stopwatt.Revision
}

// caseResults gathers what is known of each case.
type caseResults struct {
	of map[caseRevision]*stopwatt.CaseResult
}

func (c caseResults) at(key caseRevision) *stopwatt.CaseResult {
	if c.of[key] == nil {
		c.of[key] = &stopwatt.CaseResult{Case: key.Case, Revision: key.Revision}
	}
	return c.of[key]
}

// readCounts counts the valid trials, and the invalid ones by their reasons.
func (c caseResults) readCounts(ctx context.Context, tx pgx.Tx, runID int64) error {
	var key caseRevision
	var status stopwatt.TrialStatus
	var reason stopwatt.ReasonCount
	var marked int
	into := []any{&key.Case.Implementation, &key.Case.Workload, &key.Revision, &status, &reason.Reason, &reason.Count, &marked}
	return forEach(ctx, tx, `
		SELECT c.implementation, c.workload, t.revision, t.status, t.reason, t.trials, t.marked
		FROM (
			SELECT case_id, revision, status, reason, count(*) AS trials, count(*) FILTER (WHERE cardinality(warnings) > 0) AS marked
			FROM stopwatt_store.trials
			WHERE run_id = $1
			GROUP BY 1, 2, 3, 4
		) t
		JOIN stopwatt_store.cases c ON c.id = t.case_id
		ORDER BY t.trials DESC, t.reason COLLATE "C"`, runID, into, func() error {
		result := c.at(key)
		if status == stopwatt.Valid {
			result.Valid += reason.Count
			result.Marked += marked
			return nil
		}
		result.Invalid += reason.Count
		result.Reasons = append(result.Reasons, reason)
		return nil
	})
}

// A partName is a workload that is a part of another.
type partName struct{ part, of string }

// readParts marks the cases that are parts, and lists their workloads in the
// order in which they were told first.
func (c caseResults) readParts(ctx context.Context, tx pgx.Tx, runID int64) ([]partName, error) {
	var names []partName
	var key caseRevision
	var of string
	err := forEach(ctx, tx, `
		SELECT c.implementation, c.workload, t.revision, w.workload
		FROM stopwatt_store.trials t
		JOIN stopwatt_store.cases c ON c.id = t.case_id
		-- OFFSET keeps the trials of one run from being looked for among all parts.
		CROSS JOIN LATERAL (SELECT case_id FROM stopwatt_store.trials WHERE id = t.part_of OFFSET 0) o
		JOIN stopwatt_store.cases w ON w.id = o.case_id
		-- IS NOT NULL would let the parts of all runs be looked through for those of one.
		WHERE t.run_id = $1 AND coalesce(t.part_of, 0) > 0
		GROUP BY 1, 2, 3, 4
		ORDER BY min(t.position), min(t.id)`, runID, []any{&key.Case.Implementation, &key.Case.Workload, &key.Revision, &of}, func() error {
		c.at(key).Part = true
		if name := (partName{key.Case.Workload, of}); !slices.Contains(names, name) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// readAbsences counts why valid trials have no number for a metric.
func (c caseResults) readAbsences(ctx context.Context, tx pgx.Tx, runID int64) error {
	var key caseRevision
	var absence stopwatt.AbsenceCount
	into := []any{&key.Case.Implementation, &key.Case.Workload, &key.Revision, &absence.Metric, &absence.Reason, &absence.Count}
	return forEach(ctx, tx, `
		SELECT c.implementation, c.workload, t.revision, m.name, a.reason, count(*)
		FROM stopwatt_store.absences a
		JOIN stopwatt_store.metrics m ON m.id = a.metric_id
		JOIN stopwatt_store.trials t ON t.id = a.trial_id
		JOIN stopwatt_store.cases c ON c.id = t.case_id
		WHERE t.run_id = $1 AND t.status = 'valid'
		GROUP BY 1, 2, 3, 4, 5
		ORDER BY count(*) DESC, a.reason COLLATE "C"`, runID, into, func() error {
		result := c.at(key)
		result.Absent = append(result.Absent, absence)
		return nil
	})
}

// readWarnings counts the valid trials that carry each warning.
func (c caseResults) readWarnings(ctx context.Context, tx pgx.Tx, runID int64) error {
	var key caseRevision
	var warning stopwatt.WarningCount
	into := []any{&key.Case.Implementation, &key.Case.Workload, &key.Revision, &warning.Warning, &warning.Count}
	return forEach(ctx, tx, `
		SELECT c.implementation, c.workload, t.revision, t.warning, t.trials
		FROM (
			SELECT t.case_id, t.revision, w.warning, count(DISTINCT t.id) AS trials
			FROM stopwatt_store.trials t
			CROSS JOIN LATERAL unnest(t.warnings) w (warning)
			WHERE t.run_id = $1 AND t.status = 'valid'
			GROUP BY 1, 2, 3
		) t
		JOIN stopwatt_store.cases c ON c.id = t.case_id
		ORDER BY t.trials DESC, t.warning COLLATE "C"`, runID, into, func() error {
		result := c.at(key)
		result.Warnings = append(result.Warnings, warning)
		return nil
	})
}

func (c caseResults) readSummaries(ctx context.Context, tx pgx.Tx, runID int64) error {
	var s stopwatt.Summary
	into := []any{&s.Case.Implementation, &s.Case.Workload, &s.Revision, &s.Metric, &s.N, &s.Mean, &s.SD, &s.Median, &s.Min, &s.Max}
	return forEach(ctx, tx, `
		SELECT c.implementation, c.workload, y.revision, m.name, y.n, y.mean, coalesce(y.sd, 0), y.median, y.min, y.max
		FROM stopwatt_store.summaries y
		JOIN stopwatt_store.cases c ON c.id = y.case_id
		JOIN stopwatt_store.metrics m ON m.id = y.metric_id
		WHERE y.run_id = $1`, runID, into, func() error {
		result := c.at(caseRevision{s.Case, s.Revision})
		result.Summaries = append(result.Summaries, s)
		return nil
	})
}

// metrics are the names of the metrics that occur.
func (c caseResults) metrics() []string {
	var names []string
	for _, result := range c.of {
		names = append(names, metricsOfCase(*result)...)
	}
	return names
}

func metricsOfCase(result stopwatt.CaseResult) []string {
	var names []string
	for _, summary := range result.Summaries {
		names = append(names, summary.Metric)
	}
	for _, absence := range result.Absent {
		names = append(names, absence.Metric)
	}
	return names
}

// sorted lists the cases in an order of theirs, the revisions of each by their
// names.
func (c caseResults) sorted(compare func(a, b stopwatt.Case) int) []stopwatt.CaseResult {
	var results []stopwatt.CaseResult
	order := orderOfMetrics(c.metrics())
	for _, result := range c.of {
		slices.SortFunc(result.Summaries, func(a, b stopwatt.Summary) int { return order.compare(a.Metric, b.Metric) })
		slices.SortStableFunc(result.Absent, func(a, b stopwatt.AbsenceCount) int { return order.compare(a.Metric, b.Metric) })
		results = append(results, *result)
	}
	slices.SortFunc(results, func(a, b stopwatt.CaseResult) int {
		return cmp.Or(compare(a.Case, b.Case), cmp.Compare(a.Revision, b.Revision))
	})
	return results
}

// orderOf is the order of a suite's cases: workload by workload, behind each its
// parts, and what the suite does not know last.
func orderOf(suite stopwatt.Suite, parts []partName) func(a, b stopwatt.Case) int {
	workloads, implementations := map[string]int{}, map[string]int{} // places below 0, so that strangers come last
	var names []string
	for _, workload := range suite.Workloads {
		names = append(names, workload.Name)
		for _, name := range parts {
			if name.of == workload.Name {
				names = append(names, name.part)
			}
		}
	}
	for i, name := range names {
		workloads[name] = i - len(names)
	}
	for i, implementation := range suite.Implementations {
		implementations[implementation.Name] = i - len(suite.Implementations)
	}
	return func(a, b stopwatt.Case) int {
		return cmp.Or(
			cmp.Compare(workloads[a.Workload], workloads[b.Workload]),
			cmp.Compare(implementations[a.Implementation], implementations[b.Implementation]),
			compareCases(a, b))
	}
}

// readMetrics are the metrics that occur in cases, as stopwatt knows them or as
// they were defined.
func readMetrics(ctx context.Context, tx pgx.Tx, cases []stopwatt.CaseResult) ([]stopwatt.Metric, error) {
	var names []string
	for _, result := range cases {
		names = append(names, metricsOfCase(result)...)
	}
	names = distinct(names)
	slices.SortFunc(names, stopwatt.CompareMetrics)
	stored, err := storedMetrics(ctx, tx, strange(slices.Clone(names)))
	var metrics []stopwatt.Metric
	for _, name := range names {
		metric, known := stopwatt.MetricNamed(name)
		if !known {
			metric = stored[name]
		}
		metrics = append(metrics, metric)
	}
	return metrics, err
}
