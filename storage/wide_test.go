package storage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// A pageQuestion is what one page asks of the archive.
type pageQuestion struct {
	page  string
	bound time.Duration // of p95, where the figures of scale name one
	ask   func(ctx context.Context, a *storage.Archive, n int) error
}

// wideQuery asks how a metric of the n-th case went.
func wideQuery(n, most int) stopwatt.CourseQuery {
	return stopwatt.CourseQuery{
		Suite: storagetest.WideSuite, Metric: "time", Machine: storage.Fingerprint(storagetest.WideMachine.Identity), Most: most,
		Cases: []stopwatt.Case{wideCase(n)},
	}
}

func wideCase(n int) stopwatt.Case {
	return stopwatt.Case{
		Implementation: fmt.Sprintf("i%d", 1+n%storagetest.WideImplementations),
		Workload:       fmt.Sprintf("w%d", 1+n/storagetest.WideImplementations%storagetest.WideWorkloads),
	}
}

// pageQuestions are what pages ask of a wide history of so many commits.
func pageQuestions(commits int) []pageQuestion {
	at := func(n int) time.Time {
		return time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 72 * time.Minute)
	}
	courses := func(ctx context.Context, a *storage.Archive, query stopwatt.CourseQuery) error {
		found, err := a.Courses(ctx, query)
		if err == nil && (len(found) == 0 || len(found[0].Points) == 0) {
			err = fmt.Errorf("nothing found of %+v", query)
		}
		return err
	}
	runAt := func(ctx context.Context, a *storage.Archive, commit string) (int64, error) {
		return a.RunAt(ctx, stopwatt.RunPlace{Suite: storagetest.WideSuite, Commit: commit})
	}
	return []pageQuestion{
		{"overview", 100 * time.Millisecond, func(ctx context.Context, a *storage.Archive, _ int) error {
			_, err := a.Overview(ctx)
			return err
		}},
		{"suite grid", 100 * time.Millisecond, func(ctx context.Context, a *storage.Archive, _ int) error {
			if _, err := a.Contents(ctx, storagetest.WideSuite); err != nil {
				return err
			}
			id, err := runAt(ctx, a, "")
			if err != nil {
				return err
			}
			if _, err := a.Results(ctx, id); err != nil {
				return err
			}
			query := wideQuery(0, 30)
			query.Cases = nil
			return courses(ctx, a, query)
		}},
		{"series, all commits", 30 * time.Millisecond, func(ctx context.Context, a *storage.Archive, n int) error {
			query := wideQuery(n, 1000)
			if _, err := a.Changes(ctx, query); err != nil {
				return err
			}
			return courses(ctx, a, query)
		}},
		{"series, a month of it", 30 * time.Millisecond, func(ctx context.Context, a *storage.Archive, n int) error {
			query := wideQuery(n, 1000)
			query.From = at(1 + n*997%(commits-commits/10))
			query.To = query.From.AddDate(0, 1, 0)
			return courses(ctx, a, query)
		}},
		{"series, as ratios", 0, func(ctx context.Context, a *storage.Archive, n int) error {
			query := wideQuery(n*storagetest.WideImplementations+1, 1000)
			query.Against = "i1"
			return courses(ctx, a, query)
		}},
		{"compare two commits", 100 * time.Millisecond, func(ctx context.Context, a *storage.Archive, n int) error {
			for _, commit := range []int{commits - n%10, 1 + n*997%commits} {
				id, err := runAt(ctx, a, storagetest.WideSHA(commit)[:12])
				if err != nil {
					return err
				}
				if _, err := a.Results(ctx, id); err != nil {
					return err
				}
			}
			return nil
		}},
		{"run", 0, func(ctx context.Context, a *storage.Archive, n int) error {
			id, err := runAt(ctx, a, "")
			if err != nil {
				return err
			}
			if _, err := a.Line(ctx, id); err != nil {
				return err
			}
			_, err = a.TrialList(ctx, id)
			return err
		}},
		{"trial", 0, func(ctx context.Context, a *storage.Archive, n int) error {
			id, err := runAt(ctx, a, "")
			if err != nil {
				return err
			}
			_, err = a.Trial(ctx, id, 1+n)
			return err
		}},
		{"machine", 0, func(ctx context.Context, a *storage.Archive, _ int) error {
			_, err := a.MachineHistory(ctx, storage.Fingerprint(storagetest.WideMachine.Identity))
			return err
		}},
	}
}

// A questionLog keeps what was asked of the database.
type questionLog struct {
	sync.Mutex
	asked []askedQuestion
}

type askedQuestion struct {
	sql  string
	args []any
}

func (l *questionLog) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	l.Lock()
	defer l.Unlock()
	if !slices.ContainsFunc(l.asked, func(q askedQuestion) bool { return q.sql == data.SQL }) {
		l.asked = append(l.asked, askedQuestion{data.SQL, data.Args})
	}
	return ctx
}

func (l *questionLog) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A planNode is a step of a plan, as EXPLAIN (FORMAT JSON) tells it.
type planNode struct {
	Kind      string `json:"Node Type"`
	Relation  string `json:"Relation Name"`
	Condition string `json:"Index Cond"`
	Plans     []planNode
}

// fromEndToEnd lists the tables that a plan reads as a whole: with no index, or all
// along one, unless a limit ends that.
func (p planNode) fromEndToEnd() []string {
	var read []string
	if p.Kind == "Seq Scan" || p.Kind == "Index Scan" && p.Condition == "" || p.Kind == "Index Only Scan" && p.Condition == "" {
		read = append(read, p.Relation)
	}
	for _, below := range p.Plans {
		if p.Kind != "Limit" || below.Kind == "Sort" || below.Kind == "Aggregate" {
			read = append(read, below.fromEndToEnd()...)
		}
	}
	return read
}

// planOf is the plan of a question.
func planOf(ctx context.Context, conn *pgx.Conn, q askedQuestion) (planNode, error) {
	var text []byte
	if err := conn.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+q.sql, q.args...).Scan(&text); err != nil {
		return planNode{}, err
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(text, &plans); err != nil {
		return planNode{}, err
	}
	return plans[0].Plan, nil
}

// largeTables are those with more rows than a question may read from end to end.
func largeTables(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `
		SELECT relname::text FROM pg_class
		WHERE relnamespace = 'stopwatt_store'::regnamespace AND relkind = 'r' AND reltuples > 2000`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// wideDatabase fills a database as a stopwatt of schema 12 did, and brings the
// schema up to date.
func wideDatabase(t testing.TB, commits int) (dsn string) {
	t.Helper()
	dsn = embeddedtest.ForTest(t)
	if err := storage.MigrateTo(t.Context(), dsn, 12); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := storagetest.FillWide(t.Context(), dsn, commits); err != nil {
		t.Fatal(err)
	}
	t.Logf("made %d commits in %v", commits, time.Since(began))
	began = time.Now()
	if _, _, err := storage.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	t.Logf("migrated in %v", time.Since(began))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "VACUUM (ANALYZE)"); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// TestNoPageReadsALargeTableFromEndToEnd looks at the plan of every question that
// every page asks of a history of half a year.
func TestNoPageReadsALargeTableFromEndToEnd(t *testing.T) {
	t.Parallel()
	const commits = storagetest.WideCommits / 10
	checkPlans(t, wideDatabase(t, commits), commits)
}

func checkPlans(t *testing.T, dsn string, commits int) {
	t.Helper()
	var log questionLog
	a, err := storage.OpenTraced(t.Context(), dsn, &log)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	conn, err := storage.ConnectAsPages(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	large, err := largeTables(t.Context(), conn)
	if err != nil || len(large) < 8 {
		t.Fatalf("%v, error %v", large, err)
	}
	for _, question := range pageQuestions(commits) {
		log.asked = nil
		if err := question.ask(t.Context(), a, 7); err != nil {
			t.Fatalf("%s: %v", question.page, err)
		}
		for _, q := range log.asked {
			if !strings.Contains(q.sql, "SELECT") {
				continue // begin and commit
			}
			plan, err := planOf(t.Context(), conn, q)
			if err != nil {
				t.Fatalf("%s: %v", q.sql, err)
			}
			for _, table := range plan.fromEndToEnd() {
				if slices.Contains(large, table) {
					t.Errorf("%s reads all of %s:\n%s", question.page, table, q.sql)
				}
			}
		}
	}
}
