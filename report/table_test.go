package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var queried = struct {
	columns []string
	rows    [][]any
}{
	[]string{"implementation", "n", "mean", "started", "reason", "n"},
	[][]any{
		{"go", int64(10), 7.081, time.Date(2026, 11, 30, 10, 2, 0, 0, time.UTC), nil, int32(3)},
		{"rust|\x1b[31m名", int64(1200), math.NaN(), nil, "a, \"b\"\nc", nil},
	},
}

func TestTable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("very long, ", 12)
	tests := []struct {
		name    string
		columns []string
		rows    [][]any
		want    []string
	}{
		{
			"numbers stand to the right, nulls are said to be absent",
			[]string{"name", "n"},
			[][]any{{"go", int64(5)}, {"rust", int64(1234)}, {nil, nil}},
			[]string{"name     n", "go       5", "rust  1234", "–        –", "(3 rows)"},
		},
		{
			"control characters are shown, not obeyed",
			[]string{"\x1b[1mname"},
			[][]any{{"a\x1b[2Jb\nc"}},
			[]string{`\x1b[1mname`, `a\x1b[2Jb c`, "(1 row)"},
		},
		{
			"long cells are cut",
			[]string{"text"},
			[][]any{{long}},
			[]string{"text", "very long, very long, very long, very long, ver…", "(1 row)", "… : cut; the CSV and JSON forms have it whole"},
		},
		{
			"what does not fit in 80 columns is written in blocks",
			[]string{"first", "second", "n"},
			[][]any{{strings.Repeat("a", 40), strings.Repeat("b", 40), 1}},
			[]string{"first   " + strings.Repeat("a", 40), "second  " + strings.Repeat("b", 40), "n       1", "", "(1 row)"},
		},
		{"no rows", []string{"a", "b"}, nil, []string{"a  b", "(0 rows)"}},
		{
			"kinds of values",
			[]string{"kind"},
			[][]any{{true}, {[]byte{0xde, 0xad}}, {[16]byte{0x12, 15: 0x34}}, {map[string]any{"a": 1}}, {1e21}},
			[]string{"kind", "true", `\xdead`, "12000000-0000-0000-0000-000000000034", `{"a":1}`, "1000000000000000000000", "(5 rows)"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := Table(&out, test.columns, test.rows, 0); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Join(test.want, "\n")+"\n", out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for line := range strings.Lines(out.String()) {
				if width(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("wider than 80 columns: %q", line)
				}
			}
		})
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	columns := []string{"implementation", "a_column_with_a_name_far_longer_than_others", "note"}
	rows := [][]any{{"rust-tokio", 12.5, strings.Repeat("名 ", 40)}, {"go", nil, strings.Repeat("x", 200)}}
	for asked, limit := range map[int]int{0: 80, 1: 40, 40: 40, 60: 60, 110: 110, 200: 200} {
		var out bytes.Buffer
		if err := Table(&out, columns, rows, asked); err != nil {
			t.Fatal(err)
		}
		narrow(t, out.String(), limit)
		if inRows := strings.HasPrefix(out.String(), "implementation  a_column"); inRows != (limit >= 110) {
			t.Errorf("%d columns: in rows %t:\n%s", asked, inRows, out.String())
		}
	}
}

func TestTableCSVIsReadBackUnchanged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := TableCSV(&out, queried.columns, queried.rows); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		queried.columns,
		{"go", "10", "7.081", "2026-11-30T10:02:00Z", "", "3"},
		{"rust|\x1b[31m名", "1200", "NaN", "", "a, \"b\"\nc", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTableJSONKeepsOrderAndNumbersEqualNames(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := TableJSON(&out, queried.columns, queried.rows); err != nil {
		t.Fatal(err)
	}
	want := `[
  {"implementation": "go", "n": 10, "mean": 7.081, "started": "2026-11-30T10:02:00Z", "reason": null, "n_2": 3},
  {"implementation": "rust|\u001b[31m名", "n": 1200, "mean": null, "started": null, "reason": "a, \"b\"\nc", "n_2": null}
]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("not valid JSON")
	}
	out.Reset()
	if err := TableJSON(&out, []string{"a"}, nil); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("no rows: %q, %v", out.String(), err)
	}
}
