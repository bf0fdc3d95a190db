package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestForeignTextStaysTextInMarkdown(t *testing.T) {
	t.Parallel()
	results := first(hostile())
	var out bytes.Buffer
	if err := Markdown(&out, results.Run, contrastOf(results, DefaultMetrics(results)), Options{}); err != nil {
		t.Fatal(err)
	}
	plainMarkdown(t, out.String())
}

// plainMarkdown fails for foreign text outside of code, and for a row of a table
// that has not three columns.
func plainMarkdown(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		rest := strings.ReplaceAll(outsideOfCode(line), "<br>", "")
		if strings.ContainsAny(rest, "`<>[]@!\\\x1b") || strings.Contains(rest, "javascript") || strings.HasPrefix(line, "/") {
			t.Errorf("outside of code: %q", line)
		}
		if strings.HasPrefix(line, "|") && strings.Count(line, "|") != 4 {
			t.Errorf("a row of the table has %d edges: %q", strings.Count(line, "|"), line)
		}
	}
}

// outsideOfCode is a line without its code spans, which end where as many backticks
// stand as they begin with, and without <code> elements.
func outsideOfCode(line string) string {
	line = regexp.MustCompile("<code>[^<\n]*</code>").ReplaceAllString(line, "")
	runs := regexp.MustCompile("`+")
	rest := ""
	for {
		from := runs.FindStringIndex(line)
		if from == nil {
			return rest + line
		}
		fence, behind, end := line[from[0]:from[1]], line[from[1]:], -1
		for _, run := range runs.FindAllStringIndex(behind, -1) {
			if run[1]-run[0] == len(fence) {
				end = run[1]
				break
			}
		}
		if end < 0 {
			return rest + line
		}
		rest, line = rest+line[:from[0]], behind[end:]
	}
}

func TestMarkdownTablesFitAPhone(t *testing.T) {
	t.Parallel()
	results := first(servers(2))
	var out bytes.Buffer
	if err := Markdown(&out, results.Run, contrastOf(results, DefaultMetrics(results)), Options{As: AsPercent}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Count(line, "|") > 4 {
			t.Errorf("more than three columns: %s", line)
		}
	}
	if !strings.Contains(out.String(), " % more**") {
		t.Error("percent was asked for")
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rust-tokio":    "`rust-tokio`",
		"@all <b> #1":   "`@all <b> #1`",
		"a|b`":          "<code>a&#124;b&#96;</code>",
		"`x` @all":      "`` `x` @all ``",
		"a``b`":         "``` a``b` ```",
		`back\`:         "`back\\`",
		"line\n/assign": "`line /assign`",
		"":              "",
	} {
		if got := code(text); got != want {
			t.Errorf("code(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestCSVKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	results := first(servers(3))
	var out bytes.Buffer
	if err := CSV(&out, results); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := columnsOf(records[0])
	line := 1
	for _, result := range results.Cases {
		for _, s := range result.Summaries {
			record := records[line]
			line++
			got := stopwatt.Summary{
				Case:     stopwatt.Case{Implementation: record[at["implementation"]], Workload: record[at["workload"]]},
				Revision: stopwatt.Revision(record[at["revision"]]), Metric: record[at["metric"]],
				N: int(parsed(t, record[at["n"]])), Mean: parsed(t, record[at["mean"]]), SD: parsed(t, record[at["sd"]]),
				Median: parsed(t, record[at["median"]]), Min: parsed(t, record[at["min"]]), Max: parsed(t, record[at["max"]]),
			}
			if diff := cmp.Diff(s, got); diff != "" {
				t.Fatalf("line %d (-want +got):\n%s", line, diff)
			}
		}
	}
	if line != len(records) {
		t.Errorf("%d lines, want %d", len(records), line)
	}
}

func TestCSVKeepsCasesWithoutAnyNumber(t *testing.T) {
	t.Parallel()
	results := first(hostile())
	var out bytes.Buffer
	if err := CSV(&out, results); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := columnsOf(records[0])
	dead := 0
	for _, record := range records {
		if record[at["implementation"]] == "dead" {
			dead++
			if record[at["metric"]] != "" || record[at["mean"]] != "" || record[at["invalid"]] != "3" || !strings.HasPrefix(record[at["reasons"]], "3 × exited with 137") {
				t.Errorf("line of a dead case: %q", record)
			}
		}
	}
	if dead != 2 {
		t.Errorf("%d lines of the two dead cases", dead)
	}
}

func TestTrialsCSVSaysWhyNumbersAreAbsent(t *testing.T) {
	t.Parallel()
	trials := []stopwatt.Trial{
		{
			PlannedTrial: stopwatt.PlannedTrial{Round: 2, Case: stopwatt.Case{Implementation: "go", Workload: "hello"}, Revision: stopwatt.Head},
			Position:     7, Status: stopwatt.Valid, Window: stopwatt.Window{Start: 5, End: 1_500_000_005},
			Measurements: []stopwatt.Measurement{{Metric: "time", Value: 1.0 / 3}},
			Absent:       []stopwatt.Absence{{Metric: "memory_peak", Reason: "no such file"}},
			Warnings:     []string{"one", "two"},
		},
		{Status: stopwatt.Invalid, Reason: "wrong body"},
	}
	var out bytes.Buffer
	if err := TrialsCSV(&out, stopwatt.Run{ID: 3}, trials); err != nil {
		t.Fatal(err)
	}
	want := `run,position,round,workload,implementation,revision,started,seconds,status,reason,warnings,metric,unit,value,absent
3,7,2,hello,go,head,,1.5,valid,,one; two,time,s,0.3333333333333333,
3,7,2,hello,go,head,,1.5,valid,,one; two,memory_peak,B,,no such file
3,0,0,,,,,0,invalid,wrong body,,,,,
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSamplesCSVHasEveryReadingAndGap(t *testing.T) {
	t.Parallel()
	run := stopwatt.Run{ID: 3, Idle: []stopwatt.IdleWindow{{Window: stopwatt.Window{Start: 1e9, End: 2e9}, Samples: []stopwatt.Samples{
		{Meter: "vmstat", Quantity: "us", Times: []int64{1e9}, Values: []int64{12}},
	}}}}
	trials := []stopwatt.Trial{{Position: 7, Window: stopwatt.Window{Start: 5e9, End: 9e9}, Samples: []stopwatt.Samples{
		{Meter: "board", Quantity: stopwatt.PowerDrawn, Times: []int64{4.9e9, 5.3e9}, Values: []int64{38123456, 3}, Gaps: []stopwatt.Gap{{From: 5.3e9, To: 9e9, Reason: "EAGAIN, twice"}}},
		{Meter: "server", Quantity: stopwatt.CPUUsed, Times: []int64{5e9, 6e9}, Values: []int64{1}},
	}}}
	var out bytes.Buffer
	if err := SamplesCSV(&out, run, trials); err != nil {
		t.Fatal(err)
	}
	want := `run,trial,meter,quantity,unit,seconds,value,until,reason
3,idle-1,vmstat,us,1,0,0.012,,
3,7,board,power,W,-0.1,38.123456,,
3,7,board,power,W,0.3,3e-06,,
3,7,board,power,W,0.3,,4,"EAGAIN, twice"
3,7,server,cpu,s,0,1e-09,,
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestJSONHasNoNumberThatIsNone(t *testing.T) {
	t.Parallel()
	results, trials := servers(1)
	results.Cases[0].Summaries[0].Mean = math.NaN()
	trials[0].Measurements[0].Value = math.Inf(1)
	trials[0].Latency = &stopwatt.Histogram{}
	trials[0].Latency.Record(1_234_567)
	var out bytes.Buffer
	if err := JSON(&out, results, trials); err != nil {
		t.Fatal(err)
	}
	var got jsonResults
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if mean := got.Cases[0].Metrics[0].Mean; mean != nil {
		t.Errorf("a mean that is no number: %v", *mean)
	}
	if sd := got.Cases[0].Metrics[1].SD; sd != nil {
		t.Errorf("the standard deviation of one trial: %v", *sd)
	}
	if value, listed := got.Trials[0].Values["time"]; !listed || value != nil {
		t.Errorf("a value that is no number: %v", value)
	}
	if h := got.Trials[0].Latency; h == nil || h.Count() != 1 {
		t.Errorf("the histogram was not read back: %v", h)
	}
	if got.Run.Seed != results.Run.Seed || got.Format != "stopwatt.results/1" || len(got.Trials) != 12 {
		t.Errorf("seed %d, format %s, %d trials", got.Run.Seed, got.Format, len(got.Trials))
	}
}

func columnsOf(header []string) map[string]int {
	at := map[string]int{}
	for i, name := range header {
		at[name] = i
	}
	return at
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
