package storage_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

func TestQueryRefusesWhatChangesSomething(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	for _, row := range []struct{ sql, says string }{
		{"insert into stopwatt_store.projects (name) values ('x')", "returns no rows"},
		{"insert into stopwatt_store.projects (name) values ('x') returning id", "stopwatt sql reads only"},
		{"with x as (insert into stopwatt_store.projects (name) values ('x') returning id) select * from x", "stopwatt sql reads only"},
		{"explain analyze insert into stopwatt_store.projects (name) values ('x')", "stopwatt sql reads only"},
		{"select nextval('stopwatt_store.projects_id_seq')", "permission denied for sequence"},
		{"set transaction read write", "returns no rows"},
		{"select set_config('transaction_read_only', 'off', true)", "read-write"},
		{"copy (select 1) to program 'touch /tmp/x'", "returns no rows"},
		{"copy (select 1) to stdout", "returns no rows"},
		{"do $$ begin end $$", "returns no rows"},
		{"select 1; drop schema stopwatt cascade", "multiple commands"},
		{"commit; drop schema stopwatt cascade", "multiple commands"},
		{"commit", "returns no rows"},
		{"", "returns no rows"},
	} {
		_, err := s.Query(t.Context(), row.sql, 0)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.sql, err)
		}
	}
	if answer, err := s.Query(t.Context(), "select count(*) from stopwatt_store.projects", 0); err != nil || answer.Rows[0][0] != int64(0) {
		t.Errorf("%v, error %v", answer, err)
	}
}

func TestQueryPointsAtTheFault(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	_, err := s.Query(t.Context(), "select 'é',\n\tmeen\nfrom results", 0)
	var faults stopwatt.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	want := stopwatt.Faults{{File: "sql", Line: 2, Column: 2, Source: "\tmeen", Width: 1, Message: faults[0].Message}}
	if diff := cmp.Diff(want, faults); diff != "" || !strings.Contains(faults[0].Message, "mean") {
		t.Errorf("%s\n%s", err, diff)
	}
}

func TestQueryGivesEachValueItsKind(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	answer, err := s.Query(t.Context(), `select null::int as nothing, true as yes, 7::bigint as number, 0.1::float8 as float, 'NaN'::float8 as nan,
		'-Infinity'::float8 as low, 1.50::numeric as exact, '{"a": 1}'::jsonb as document,
		'2026-03-04 05:06:07.25+01'::timestamptz as instant, 'text' as text, array['a', 'b'] as list;`, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{nil, true, int64(7), 0.1, "NaN", "-Infinity", json.Number("1.50"), json.RawMessage(`{"a": 1}`),
		time.Date(2026, 3, 4, 4, 6, 7, 250_000_000, time.UTC), "text", "{a,b}"}
	if diff := cmp.Diff(want, answer.Rows[0]); diff != "" {
		t.Error(diff)
	}
	if answer.Columns[0] != "nothing" || answer.Columns[10] != "list" {
		t.Errorf("columns %v", answer.Columns)
	}
}

func TestQueryStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	for _, row := range []struct {
		sql  string
		rows int
		cut  bool
	}{
		{"select generate_series(1, 2)", 2, false},
		{"select generate_series(1, 3)", 3, false},
		{"select generate_series(1, 4)", 3, true},
		{"select generate_series(1, 100000000000)", 3, true}, // hours, were it read to its end
	} {
		answer, err := s.Query(t.Context(), row.sql, 3)
		if err != nil || len(answer.Rows) != row.rows || answer.Cut != row.cut {
			t.Errorf("%s: %d rows, cut %t, error %v", row.sql, len(answer.Rows), answer.Cut, err)
		}
	}
}

func TestQueryStopsAtWhatCanBeHeld(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	for _, row := range []struct {
		name, sql string
		rows      int
		cut       bool
	}{
		{"what can just be held", "select repeat('x', (1 << 20) - 32) from generate_series(1, 64)", 64, false},
		{"long values", "select repeat('x', 1 << 20) from generate_series(1, 100000)", 63, true},
		{"one value that is too long", "select repeat('x', 65 << 20)", 0, true},
		{"many short values", "select " + strings.Repeat("null, ", 1023) + "null from generate_series(1, 100000)", 2048, true},
	} {
		answer, err := s.Query(t.Context(), row.sql, 0)
		if err != nil || len(answer.Rows) != row.rows || answer.Cut != row.cut {
			t.Errorf("%s: %d rows, cut %t, error %v", row.name, len(answer.Rows), answer.Cut, err)
		}
	}
}

func TestQueryAnswersShowAndExplain(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	for _, sql := range []string{"show server_version", "explain select * from results", "table runs", "values (1)"} {
		if _, err := s.Query(t.Context(), sql, 0); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
