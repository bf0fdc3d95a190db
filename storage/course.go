package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// finer is how many times as many commits or spans may be read as are drawn. It
	// bounds what a course costs, however long the history is.
	finer = 2
	// mostPoints is how many a course may have when all are asked for.
	mostPoints = 10_000
)

// A courseReader reads the courses of one query.
type courseReader struct {
	tx       pgx.Tx
	query    stopwatt.CourseQuery
	track    int64
	suite    int64
	metric   int64
	from, to pgtype.Timestamptz
	cases    []stopwatt.Case
	ids      []int64 // of cases
	bases    []int64 // of query.Against under the same workload; 0 where there is none
}

// Courses returns how a metric of some cases went on one machine, in the order of
// the query's cases, else of the suite's. Those without a point are left out.
//
// What is read grows with the points that are asked for, and not with the history:
// a longer one is read in days, 8 or 64 of them, of which the means, the smallest
// and the largest values are kept.
func (a *Archive) Courses(ctx context.Context, query stopwatt.CourseQuery) ([]stopwatt.Course, error) {
	var courses []stopwatt.Course
	err := a.reading(ctx, func(tx pgx.Tx) error {
		r, found, err := newCourseReader(ctx, tx, query)
		if err != nil || !found {
			return err
		}
		courses, err = r.read(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read how %s of %s went: %w", query.Metric, query.Suite.Suite, err)
	}
	return courses, nil
}

// newCourseReader looks up what the query names; nothing is found where one of
// those has no history.
func newCourseReader(ctx context.Context, tx pgx.Tx, query stopwatt.CourseQuery) (courseReader, bool, error) {
	if query.Most <= 0 || query.Most > mostPoints {
		query.Most = mostPoints
	}
	r := courseReader{tx: tx, query: query, from: bound(query.From, pgtype.NegativeInfinity), to: bound(query.To, pgtype.Infinity)}
	err := tx.QueryRow(ctx, `
		SELECT t.id, s.id, x.id
		FROM stopwatt_store.tracks t
		JOIN stopwatt_store.suites s ON s.id = t.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		JOIN stopwatt_store.machines m ON m.id = t.machine_id
		CROSS JOIN stopwatt_store.metrics x
		WHERE p.name = $1 AND s.name = $2 AND t.profile = $3 AND m.fingerprint = $4 AND x.name = $5`,
		query.Suite.Project, query.Suite.Suite, query.Profile, query.Machine, query.Metric).Scan(&r.track, &r.suite, &r.metric)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	return r, true, r.readCases(ctx)
}

// bound is a time that may be missing.
func bound(at time.Time, missing pgtype.InfinityModifier) pgtype.Timestamptz {
	if at.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: missing, Valid: true}
	}
	return pgtype.Timestamptz{Time: at, Valid: true}
}

// readCases finds the cases that are asked for, and what each is divided by.
func (r *courseReader) readCases(ctx context.Context) error {
	all, err := readCaseIDs(ctx, r.tx, r.suite)
	if err != nil {
		return err
	}
	wanted := r.query.Cases
	if len(wanted) == 0 {
		if wanted, err = r.suiteCases(ctx, all); err != nil {
			return err
		}
	}
	for _, c := range wanted {
		base := all[stopwatt.Case{Implementation: r.query.Against, Workload: c.Workload}]
		if all[c] == 0 || r.query.Against != "" && (base == 0 || base == all[c]) {
			continue
		}
		r.cases, r.ids, r.bases = append(r.cases, c), append(r.ids, all[c]), append(r.bases, base)
	}
	return nil
}

// suiteCases are all cases in the order of the latest run's suite.
func (r *courseReader) suiteCases(ctx context.Context, all map[stopwatt.Case]int64) ([]stopwatt.Case, error) {
	var settings []byte
	err := r.tx.QueryRow(ctx, `
		SELECT r.settings
		FROM (SELECT run_id FROM stopwatt_store.history WHERE track_id = $1 ORDER BY committed_at DESC, run_id DESC LIMIT 1) h
		JOIN stopwatt_store.runs r ON r.id = h.run_id`, r.track).Scan(&settings)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var suite stopwatt.Suite
	if err := json.Unmarshal(settings, &suite); err != nil {
		return nil, fmt.Errorf("decode settings: %w", err)
	}
	return inOrder(all, suite), nil
}

// inOrder are the cases in the order of a suite; a harness's parts stand behind the
// workload that their names begin with.
func inOrder(all map[stopwatt.Case]int64, suite stopwatt.Suite) []stopwatt.Case {
	var cases []stopwatt.Case
	for c := range all {
		cases = append(cases, c)
	}
	slices.SortFunc(cases, orderOf(suite, partsOf(suite, cases)))
	return cases
}

// readCaseIDs are the keys of all cases of a suite.
func readCaseIDs(ctx context.Context, tx pgx.Tx, suite int64) (map[stopwatt.Case]int64, error) {
	ids := map[stopwatt.Case]int64{}
	var id int64
	var c stopwatt.Case
	return ids, forEach(ctx, tx, "SELECT id, implementation, workload FROM stopwatt_store.cases WHERE suite_id = $1", suite,
		[]any{&id, &c.Implementation, &c.Workload}, func() error {
			ids[c] = id
			return nil
		})
}

// read reads the commits one by one where they are few enough, else in spans.
func (r courseReader) read(ctx context.Context) ([]stopwatt.Course, error) {
	if len(r.cases) == 0 {
		return nil, nil
	}
	var commits int
	err := r.tx.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT FROM stopwatt_store.history WHERE track_id = $1 AND committed_at BETWEEN $2 AND $3 LIMIT $4
		) few`, r.track, r.from, r.to, finer*r.query.Most+1).Scan(&commits)
	if err != nil {
		return nil, err
	}
	read := r.readSpans
	if commits <= finer*r.query.Most {
		read = r.readCommits
	}
	courses, err := read(ctx)
	if err != nil {
		return nil, err
	}
	courses = slices.DeleteFunc(courses, func(c stopwatt.Course) bool { return len(c.Points) == 0 })
	return courses, r.describe(ctx, courses)
}

// begun are the courses, without points.
func (r courseReader) begun() []stopwatt.Course {
	var courses []stopwatt.Course
	for _, c := range r.cases {
		courses = append(courses, stopwatt.Course{Case: c, Metric: r.query.Metric, Against: r.query.Against, Machine: r.query.Machine})
	}
	return courses
}

// describe adds to the points what their runs' commits say.
func (r courseReader) describe(ctx context.Context, courses []stopwatt.Course) error {
	at := map[int64][]*stopwatt.CoursePoint{}
	var runs []int64
	for i := range courses {
		for j := range courses[i].Points {
			point := &courses[i].Points[j]
			if at[point.Run] == nil {
				runs = append(runs, point.Run)
			}
			at[point.Run] = append(at[point.Run], point)
		}
	}
	rows, err := r.tx.Query(ctx, `
		SELECT h.run_id, coalesce(c.position, 0), c.sha, c.committed_at, c.subject, c.author, coalesce(c.merge_request, 0), h.epoch
		FROM unnest($1::bigint[]) w (run_id)
		JOIN stopwatt_store.history h ON h.run_id = w.run_id
		JOIN stopwatt_store.commits c ON c.id = h.commit_id`, runs)
	if err != nil {
		return err
	}
	var run int64
	var p stopwatt.CoursePoint
	_, err = pgx.ForEachRow(rows, []any{&run, &p.Position, &p.SHA, &p.Time, &p.Subject, &p.Author, &p.MergeRequest, &p.Epoch}, func() error {
		for _, point := range at[run] {
			point.Position, point.SHA, point.Time, point.Subject, point.Author, point.MergeRequest, point.Epoch =
				p.Position, p.SHA, p.Time, p.Subject, p.Author, p.MergeRequest, p.Epoch
		}
		return nil
	})
	return err
}

// partsOf are the cases' workloads that are parts of one of the suite's, by name.
func partsOf(suite stopwatt.Suite, cases []stopwatt.Case) []partName {
	var names []partName
	for _, c := range cases {
		for _, workload := range suite.Workloads {
			if name := (partName{c.Workload, workload.Name}); strings.HasPrefix(name.part, name.of+"/") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, func(a, b partName) int { return cmp.Compare(a.part, b.part) })
	return names
}
