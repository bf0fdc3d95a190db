package storage_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

const dashboard = "../docs/grafana/dashboard.json"

// questions are all that the dashboard asks, by what asks it.
func dashboardQuestions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ RawSQL string }
		}
		Templating struct {
			List []struct{ Name, Query string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	questions := map[string]string{}
	for _, panel := range board.Panels {
		for i, target := range panel.Targets {
			questions[fmt.Sprintf("panel %s, %d", panel.Title, i)] = target.RawSQL
		}
	}
	for _, variable := range board.Templating.List {
		questions["variable "+variable.Name] = variable.Query
	}
	return questions
}

var timeFilter = regexp.MustCompile(`\$__timeFilter\(([\w.]+)\)`)

// filledIn is a question as Grafana sends it.
func filledIn(sql string) string {
	sql = timeFilter.ReplaceAllString(sql, "$1 BETWEEN '2020-01-01T00:00:00Z' AND '2030-01-01T00:00:00Z'")
	return strings.NewReplacer("$suite", "web-servers", "$metric", "time", "$machine", "board-1", "$workload", "csv", "($implementation)", "('go','rust')").Replace(sql)
}

// TestTheDashboardAsksOnlyViews asks all of it as the role that may read nothing else.
func TestTheDashboardAsksOnlyViews(t *testing.T) {
	t.Parallel()
	owner, guest := reading(t, "grafana")
	s := open(t, owner)
	run := commitRun(9)
	run.Profile, run.Settings.Profile = "", ""
	failed := storagetest.Trial(2, "go", "csv")
	failed.Status, failed.Reason = stopwatt.Invalid, "it was killed"
	id := endRun(t, s, run, stopwatt.Finished, append(trials(), failed), summaries())
	if err := s.SaveIdle(t.Context(), id, storagetest.Idle(stopwatt.IdleBefore)); err != nil {
		t.Fatal(err)
	}
	search := storagetest.Search(fingerprint())
	if err := s.SaveChanges(t.Context(), run.Project, run.Suite, storagetest.Sought(), []stopwatt.ChangeSearch{search}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, guest)
	questions := dashboardQuestions(t)
	if len(questions) < 10 {
		t.Fatalf("%d questions", len(questions))
	}
	for by, sql := range questions {
		sql = filledIn(sql)
		if strings.Contains(sql, "$") {
			t.Errorf("%s: a variable is left in\n%s", by, sql)
		}
		rows, err := conn.Query(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %v\n%s", by, err, sql)
			continue
		}
		answer, err := pgx.CollectRows(rows, pgx.RowToMap)
		if err != nil || len(answer) == 0 {
			t.Errorf("%s: %d rows, error %v\n%s", by, len(answer), err, sql)
		}
	}
}
