package storage_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// asksOfAPage is how often a page is asked for: p95 is the tenth of two hundred
// that is the slowest.
const asksOfAPage = 200

// BenchmarkWidePages prints how long what each page asks takes, of a tenth of five
// years, a third and the whole, and at last the plans. The whole takes 12 GB on
// disk while it is made.
func BenchmarkWidePages(b *testing.B) {
	for _, part := range []struct {
		name    string
		commits int
	}{{"a tenth", storagetest.WideCommits / 10}, {"a third", storagetest.WideCommits / 3}, {"the whole", storagetest.WideCommits}} {
		b.Run(part.name, func(b *testing.B) {
			dsn := wideDatabase(b, part.commits)
			for b.Loop() {
				measurePages(b, dsn, part.commits)
			}
		})
	}
}

// measurePages prints p50 and p95 of each page, and fails where one is too slow.
func measurePages(tb testing.TB, dsn string, commits int) {
	tb.Helper()
	var log questionLog
	a, err := storage.OpenTraced(tb.Context(), dsn, &log)
	if err != nil {
		tb.Fatal(err)
	}
	defer a.Close()
	conn, err := storage.ConnectAsPages(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, question := range pageQuestions(commits) {
		log.asked = nil
		var took []time.Duration
		for n := range asksOfAPage {
			began := time.Now()
			if err := question.ask(tb.Context(), a, n); err != nil {
				tb.Fatalf("%s: %v", question.page, err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		p50, p95 := took[asksOfAPage/2], took[asksOfAPage*95/100]
		tb.Logf("%-24s p50 %6.1f ms  p95 %6.1f ms", question.page, p50.Seconds()*1e3, p95.Seconds()*1e3)
		if question.bound > 0 && p95 > question.bound {
			tb.Errorf("%s: p95 is %v, bound %v", question.page, p95, question.bound)
		}
		printPlans(tb, conn, question.page, log.asked)
	}
}

// printPlans prints the plan of each question, executed once.
func printPlans(tb testing.TB, conn *pgx.Conn, page string, asked []askedQuestion) {
	tb.Helper()
	for _, q := range asked {
		if !strings.Contains(q.sql, "SELECT") {
			continue
		}
		rows, err := conn.Query(tb.Context(), "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) "+q.sql, q.args...)
		if err != nil {
			tb.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Printf("%s:\n%s\n  %s\n\n", page, q.sql, strings.Join(lines, "\n  "))
	}
}
