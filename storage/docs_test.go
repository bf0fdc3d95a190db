package storage_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt/storage"
)

var update = flag.Bool("update", false, "write the answers into docs/sql.md")

const manual = "../docs/sql.md"

var example = regexp.MustCompile("(?s)```sql\n(.*?)```\n\n```text\n(.*?)```\n")

// TestTheManualsExamplesAnswerAsItSays asks each example of docs/sql.md and
// compares the answer, reckoned from the figures in views_test.go, with the
// one that stands there.
func TestTheManualsExamplesAnswerAsItSays(t *testing.T) {
	t.Parallel()
	s := history(t)
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	got := example.ReplaceAllStringFunc(string(text), func(block string) string {
		asked++
		sql := example.FindStringSubmatch(block)[1]
		answer, err := s.Query(t.Context(), sql, 0)
		if err != nil {
			t.Fatal(err)
		}
		return "```sql\n" + sql + "```\n\n```text\n" + table(answer) + "```\n"
	})
	if blocks := strings.Count(string(text), "```sql"); asked != blocks || asked < 4 {
		t.Errorf("%d of %d examples have an answer", asked, blocks)
	}
	if *update {
		if err := os.WriteFile(manual, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Error(diff)
	}
}

var columnRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([\\w \\[\\]]+) \\|")

// TestTheManualListsEveryColumn compares the tables of docs/sql.md with the
// catalogue.
func TestTheManualListsEveryColumn(t *testing.T) {
	t.Parallel()
	s := history(t)
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, chapter := range strings.Split(string(text), "\n## `")[1:] {
		view, rest, _ := strings.Cut(chapter, "`\n")
		for _, row := range columnRow.FindAllStringSubmatch(rest, -1) {
			documented[view] = append(documented[view], row[1]+" "+row[2])
		}
	}
	there := map[string][]string{}
	for _, row := range query(t, s, `
		select c.relname::text, a.attname || ' ' || replace(format_type(a.atttypid, null), 'timestamp with time zone', 'timestamptz')
		from pg_attribute a join pg_class c on c.oid = a.attrelid
		where c.relnamespace = 'stopwatt'::regnamespace and a.attnum > 0
		order by c.relname, a.attnum`) {
		there[row[0].(string)] = append(there[row[0].(string)], row[1].(string))
	}
	if diff := cmp.Diff(there, documented); diff != "" {
		t.Errorf("views (-), manual (+):\n%s", diff)
	}
}

// table lays an answer out for reading.
func table(answer storage.Answer) string {
	lines := [][]string{answer.Columns}
	for _, row := range answer.Rows {
		var line []string
		for _, value := range row {
			line = append(line, shown(value))
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(answer.Columns))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for i, line := range lines {
		out.WriteString(laidOut(line, widths, " | ", " "))
		if i == 0 {
			out.WriteString(laidOut(make([]string, len(widths)), widths, "-+-", "-"))
		}
	}
	return out.String()
}

func laidOut(cells []string, widths []int, between, filler string) string {
	padded := make([]string, len(cells))
	for i, cell := range cells {
		padded[i] = cell + strings.Repeat(filler, widths[i]-utf8.RuneCountInString(cell))
	}
	return strings.TrimRight(strings.Join(padded, between), " ") + "\n"
}

func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case time.Time:
		return value.Truncate(time.Second).Format(time.RFC3339)
	}
	return fmt.Sprint(value)
}
