package storage_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// fillSpans are the statements of the migration that makes the spans of what an older
// stopwatt stored.
var fillSpans = regexp.MustCompile(`(?s)INSERT INTO stopwatt_store\.spans .*?;\n`)

// TestSpansOfWhatWasStoredBeforeAreThoseOfRunsThatFinish makes them by both ways, of
// commits that were measured in any order, twice, and in part.
func TestSpansOfWhatWasStoredBeforeAreThoseOfRunsThatFinish(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	for i, n := range []int{30, 3, 1, 200, 3, 31, 1700, 2, 250} { // hours
		run := commitRun(n)
		run.Key, run.PlanKey = run.Key+string(rune('a'+i)), run.PlanKey+string(rune('a'+i))
		figures := []stopwatt.Summary{storagetest.Summary("go", "csv", "time", float64(n))}
		if i%2 == 0 {
			figures = append(figures, storagetest.Summary("rust", "csv", "throughput", float64(-i)))
		}
		id := endRun(t, s, run, stopwatt.Finished, nil, figures)
		if n == 31 { // summed up once more
			figures[0].Mean = 7
			if err := s.SaveSummaries(t.Context(), id, figures); err != nil {
				t.Fatal(err)
			}
		}
	}
	conn := connect(t, dsn)
	spans := func() [][]any {
		rows, err := conn.Query(t.Context(), `
			SELECT case_id, metric_id, days, number, last_run, runs, commits, trials, mean, low, high FROM stopwatt_store.spans
			ORDER BY case_id, metric_id, days, number`)
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	finished := spans()
	if len(finished) < 15 {
		t.Fatalf("%d spans", len(finished))
	}
	execute(t, dsn, "DELETE FROM stopwatt_store.spans")
	text, err := os.ReadFile("../migrations/00014_wide_history.sql")
	if err != nil {
		t.Fatal(err)
	}
	statements := fillSpans.FindAllString(string(text), -1)
	if len(statements) != 3 {
		t.Fatalf("%d statements", len(statements))
	}
	for _, statement := range statements {
		execute(t, dsn, statement)
	}
	if diff := cmp.Diff(finished, spans()); diff != "" {
		t.Error(diff)
	}
}
