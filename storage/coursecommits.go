package storage

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// A measuredCommit is a commit with its runs, in the order of history.
type measuredCommit struct {
	at   time.Time
	last int // position of it, or of the last one before it of which it is known
	runs []int64
}

// readCommits reads courses commit by commit, and thins those that are too long.
func (r courseReader) readCommits(ctx context.Context) ([]stopwatt.Course, error) {
	commits, err := r.measuredCommits(ctx)
	if err != nil {
		return nil, err
	}
	var runs []int64
	for _, commit := range commits {
		runs = append(runs, commit.runs...)
	}
	heads, err := r.readHeads(ctx, r.ids, runs)
	if err != nil {
		return nil, err
	}
	bases := map[caseRun]head{}
	if r.query.Against != "" {
		if bases, err = r.readHeads(ctx, r.bases, runs); err != nil {
			return nil, err
		}
	}
	reasons, err := r.readGaps(ctx, runs, heads)
	if err != nil {
		return nil, err
	}
	courses := r.begun()
	for i := range courses {
		course := &courses[i]
		for _, commit := range commits {
			if point, there := r.point(i, commit, heads, bases, reasons); there {
				course.Points = append(course.Points, point)
			}
		}
		course.Commits = len(course.Points)
		course.Points = thin(course.Points, r.query.Most)
	}
	return courses, nil
}

// measuredCommits are those of the time asked for, in the order of the first-parent
// history; one whose position is not known stands behind the commit that its time
// puts it behind.
func (r courseReader) measuredCommits(ctx context.Context) ([]measuredCommit, error) {
	rows, err := r.tx.Query(ctx, `
		SELECT h.run_id, h.commit_id, h.committed_at, coalesce(c.position, 0)
		FROM stopwatt_store.history h JOIN stopwatt_store.commits c ON c.id = h.commit_id
		WHERE h.track_id = $1 AND h.committed_at BETWEEN $2 AND $3
		ORDER BY h.committed_at, h.run_id`, r.track, r.from, r.to)
	if err != nil {
		return nil, err
	}
	var commits []measuredCommit
	at := map[int64]int{}
	var run, commit int64
	var position, last int
	var when time.Time
	_, err = pgx.ForEachRow(rows, []any{&run, &commit, &when, &position}, func() error {
		last = max(last, position)
		i, there := at[commit]
		if !there {
			i = len(commits)
			at[commit] = i
			commits = append(commits, measuredCommit{at: when, last: cmp.Or(position, last)})
		}
		commits[i].runs = append(commits[i].runs, run)
		return nil
	})
	slices.SortStableFunc(commits, func(a, b measuredCommit) int { return cmp.Compare(a.last, b.last) })
	return commits, err
}

// A caseRun is a case in a run, by their keys.
type caseRun struct{ of, run int64 }

// A head is what a run says of a case at its head.
type head struct {
	mean, sd float64 // sd is 0 where it is not known
	n        int
}

// readHeads reads the summaries of cases in runs.
func (r courseReader) readHeads(ctx context.Context, cases, runs []int64) (map[caseRun]head, error) {
	heads := map[caseRun]head{}
	rows, err := r.tx.Query(ctx, `
		SELECT y.case_id, y.run_id, y.n, y.mean, coalesce(y.sd, 0)
		FROM stopwatt_store.summaries y
		WHERE y.case_id = ANY($1) AND y.metric_id = $2 AND y.run_id = ANY($3) AND y.revision = 'head'`, cases, r.metric, runs)
	if err != nil {
		return nil, err
	}
	var key caseRun
	var h head
	_, err = pgx.ForEachRow(rows, []any{&key.of, &key.run, &h.n, &h.mean, &h.sd}, func() error {
		heads[key] = h
		return nil
	})
	return heads, err
}

// point is what the runs of a commit say of the i-th case; there is none where they
// did not try it.
func (r courseReader) point(i int, commit measuredCommit, heads, bases map[caseRun]head, reasons map[caseRun]string) (stopwatt.CoursePoint, bool) {
	point := stopwatt.CoursePoint{Run: commit.runs[len(commit.runs)-1], Commits: 1}
	var values []float64
	for _, run := range commit.runs {
		h, there := heads[caseRun{r.ids[i], run}]
		value, reason := h.mean, reasons[caseRun{r.ids[i], run}]
		if there && r.query.Against != "" {
			value, reason = over(h, bases[caseRun{r.bases[i], run}])
			h.sd = 0
		}
		if there && reason == "" {
			values, point.Run = append(values, value), run
			point.N, point.SD = point.N+h.n, h.sd
		}
		point.Absent = cmp.Or(point.Absent, reason)
	}
	if len(values) == 0 {
		return point, point.Absent != ""
	}
	if len(values) > 1 {
		point.SD = 0 // of the trials of several runs it is not known
	}
	point.Value, point.Low, point.High, point.Absent = median(values), slices.Min(values), slices.Max(values), ""
	return point, true
}

// over is a value divided by its baseline's, or why it cannot be.
func over(h, base head) (ratio float64, reason string) {
	switch {
	case base.n == 0:
		return 0, "the baseline has no value"
	case h.mean == base.mean:
		return 1, ""
	case math.Abs(base.mean) < 1e-100:
		return 0, "the baseline's value is 0"
	}
	return h.mean / base.mean, ""
}

// median is of one value at least.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return sorted[middle-1]/2 + sorted[middle]/2
}

// mostGaps is of how many missing values the reasons are looked up.
const mostGaps = 1000

// readGaps finds out why runs have no summary of a case that they tried.
func (r courseReader) readGaps(ctx context.Context, runs []int64, heads map[caseRun]head) (map[caseRun]string, error) {
	var cases, of []int64
	for _, id := range r.ids {
		for _, run := range runs {
			if heads[caseRun{id, run}].n == 0 && len(of) < mostGaps {
				cases, of = append(cases, id), append(of, run)
			}
		}
	}
	reasons := map[caseRun]string{}
	if len(of) == 0 {
		return reasons, nil
	}
	rows, err := r.tx.Query(ctx, `
		SELECT DISTINCT ON (t.case_id, t.run_id) t.case_id, t.run_id, coalesce(a.reason, nullif(t.reason, ''), 'it was not measured')
		FROM unnest($1::bigint[], $2::bigint[]) w (case_id, run_id)
		JOIN stopwatt_store.trials t ON t.case_id = w.case_id AND t.run_id = w.run_id AND t.revision = 'head'
		LEFT JOIN stopwatt_store.absences a ON a.trial_id = t.id AND a.metric_id = $3
		ORDER BY t.case_id, t.run_id, a.reason NULLS LAST, t.reason DESC`, cases, of, r.metric)
	if err != nil {
		return nil, err
	}
	var key caseRun
	var reason string
	_, err = pgx.ForEachRow(rows, []any{&key.of, &key.run, &reason}, func() error {
		reasons[key] = reason
		return nil
	})
	return reasons, err
}

// thin draws neighbours together until there are no more points than asked for.
func thin(points []stopwatt.CoursePoint, most int) []stopwatt.CoursePoint {
	if len(points) <= most {
		return points
	}
	together := (len(points) + most - 1) / most
	var thinned []stopwatt.CoursePoint
	for group := range slices.Chunk(points, together) {
		thinned = append(thinned, pooled(group))
	}
	return thinned
}

// pooled is one point in the place of several. It is a gap where all of them are.
func pooled(points []stopwatt.CoursePoint) stopwatt.CoursePoint {
	one := points[len(points)-1]
	one.Commits, one.N, one.SD = 0, 0, 0
	var values []float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, point := range points {
		one.Commits += point.Commits
		if point.Absent != "" {
			continue
		}
		one.N += point.N
		low, high = min(low, point.Low), max(high, point.High)
		values = append(values, point.Value)
	}
	if len(values) > 0 {
		one.Value, one.Low, one.High, one.Absent = median(values), low, high, ""
	}
	return one
}
