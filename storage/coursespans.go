package storage

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// spanDays are the lengths of the spans that are stored, the shortest first.
var spanDays = []int{1, 8, 64}

// A spanKey says which span of which case is meant.
type spanKey struct {
	of     int64
	number int
}

// readSpans reads courses in spans, the shortest of which there are few enough.
func (r courseReader) readSpans(ctx context.Context) ([]stopwatt.Course, error) {
	first, last, err := r.ends(ctx)
	if err != nil {
		return nil, err
	}
	days := spanDays[len(spanDays)-1]
	for i := len(spanDays) - 2; i >= 0; i-- {
		if spanNumber(last, spanDays[i])-spanNumber(first, spanDays[i]) < finer*r.query.Most {
			days = spanDays[i]
		}
	}
	bases := map[spanKey]float64{}
	if r.query.Against != "" {
		err = r.eachSpan(ctx, r.bases, days, first, last, func(key spanKey, p stopwatt.CoursePoint) { bases[key] = p.Value })
		if err != nil {
			return nil, err
		}
	}
	courses := r.begun()
	places := map[int64]int{}
	for i, id := range r.ids {
		places[id] = i
	}
	err = r.eachSpan(ctx, r.ids, days, first, last, func(key spanKey, p stopwatt.CoursePoint) {
		i := places[key.of]
		if r.query.Against != "" {
			p = r.relation(p, bases, spanKey{r.bases[i], key.number})
		}
		courses[i].Points = append(courses[i].Points, p)
		courses[i].Commits += p.Commits
	})
	for i := range courses {
		courses[i].Points = thin(courses[i].Points, r.query.Most)
	}
	return courses, err
}

// ends are the times of the first and of the last commit of the time asked for.
func (r courseReader) ends(ctx context.Context) (first, last time.Time, err error) {
	err = r.tx.QueryRow(ctx, `
		SELECT a.committed_at, b.committed_at
		FROM (SELECT committed_at FROM stopwatt_store.history WHERE track_id = $1 AND committed_at BETWEEN $2 AND $3 ORDER BY committed_at LIMIT 1) a,
		     (SELECT committed_at FROM stopwatt_store.history WHERE track_id = $1 AND committed_at BETWEEN $2 AND $3 ORDER BY committed_at DESC LIMIT 1) b`,
		r.track, r.from, r.to).Scan(&first, &last)
	return first, last, err
}

// spanNumber is that of table spans.
func spanNumber(at time.Time, days int) int {
	seconds := int64(days) * 86400
	number := at.Unix() / seconds
	if at.Unix()%seconds < 0 {
		number-- // before 1970
	}
	return int(number)
}

// eachSpan reads the spans of cases in the order of time.
func (r courseReader) eachSpan(ctx context.Context, cases []int64, days int, first, last time.Time, do func(spanKey, stopwatt.CoursePoint)) error {
	rows, err := r.tx.Query(ctx, `
		SELECT case_id, number, last_run, commits, trials, mean, low, high
		FROM stopwatt_store.spans
		WHERE case_id = ANY($1) AND metric_id = $2 AND track_id = $3 AND days = $4 AND number BETWEEN $5 AND $6
		ORDER BY number`, cases, r.metric, r.track, days, spanNumber(first, days), spanNumber(last, days))
	if err != nil {
		return err
	}
	var key spanKey
	var p stopwatt.CoursePoint
	_, err = pgx.ForEachRow(rows, []any{&key.of, &key.number, &p.Run, &p.Commits, &p.N, &p.Value, &p.Low, &p.High}, func() error {
		do(key, p)
		return nil
	})
	return err
}

// relation is a span's point as a ratio: of the means of the span, since the runs'
// own are not at hand.
func (r courseReader) relation(p stopwatt.CoursePoint, bases map[spanKey]float64, at spanKey) stopwatt.CoursePoint {
	base := head{}
	if mean, there := bases[at]; there {
		base = head{mean: mean, n: 1}
	}
	ratio, reason := over(head{mean: p.Value}, base)
	p.Value, p.Low, p.High, p.Absent = ratio, ratio, ratio, reason
	return p
}
