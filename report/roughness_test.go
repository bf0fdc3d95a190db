package report

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// withMeans replaces the summaries of a case by others of the same trials.
func withMeans(result *stopwatt.CaseResult, means map[string]float64) {
	var kept []stopwatt.Summary
	for _, s := range result.Summaries {
		if _, replaced := means[s.Metric]; !replaced {
			kept = append(kept, s)
		}
	}
	for metric, mean := range means {
		kept = append(kept, stopwatt.Summary{Case: result.Case, Metric: metric, N: result.Valid, Mean: mean, Median: mean, Min: 0.9 * mean, Max: 1.1 * mean})
	}
	result.Summaries = kept
}

func TestFootnotesSayWhatMakesFiguresRough(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		means  map[string]float64
		cases  int // of how many
		want   string
		absent bool
	}{
		{"windows below a second", map[string]float64{"time": 0.1}, 1,
			"Windows of 90.0 ms to 110 ms are short, and figures rough (rust-tokio/csv-svg-path): raise requests, or write for: 10s.", false},
		{"three cases are named", map[string]float64{"time": 0.1}, 3,
			"(rust-tokio/csv-svg-path, go/csv-svg-path, rust-arena/csv-svg-path)", false},
		{"of more, three", map[string]float64{"time": 0.1}, 8,
			"(rust-tokio/csv-svg-path, go/csv-svg-path, rust-arena/csv-svg-path and 5 more)", false},
		{"a window of a second is long enough", map[string]float64{"time": 1}, 1, "are short", true},
		{"a percentile of few requests", map[string]float64{"requests": 2000}, 1,
			"Beyond latency_p99 there are few requests, 20 a trial where 100 would do (rust-tokio/csv-svg-path).", false},
		{"10,000 requests are enough for the 99th", map[string]float64{"requests": 10000}, 1, "few requests", true},
		{"the median asks for fewer", map[string]float64{"requests": 2000}, 1, "Beyond latency_p50", true},
		{"a driver as busy as the server", map[string]float64{"cpu_server": 2, "cpu_driver": 2}, 1,
			"The driver used as much CPU as the server or more (rust-tokio/csv-svg-path): where they share cores", false},
		{"a driver less busy", map[string]float64{"cpu_server": 2, "cpu_driver": 1.9}, 1, "The driver used", true},
		{"a server that waited for its CPUs", map[string]float64{"time": 10, "pressure_cpu_server": 1.2}, 1,
			"Threads of the server waited for a CPU during 12 % of the window (rust-tokio/csv-svg-path):", false},
		{"a server that hardly waited", map[string]float64{"time": 10, "pressure_cpu_server": 1}, 1, "waited for a CPU", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			results := first(servers(2))
			for i := range test.cases {
				withMeans(&results.Cases[i], test.means)
			}
			got := strings.Join(doubts(contrastOf(results, DefaultMetrics(results)), AsValue), "\n")
			if strings.Contains(got, test.want) == test.absent || strings.Count(got, test.want) > 1 {
				t.Errorf("%q, absent %t, in\n%s", test.want, test.absent, got)
			}
		})
	}
}

func TestNobodyIsAskedToRaiseTheRequestsOfAnImportedRun(t *testing.T) {
	t.Parallel()
	results := first(servers(2))
	withMeans(&results.Cases[0], map[string]float64{"time": 0.1})
	c := contrastOf(results, DefaultMetrics(results))
	c.Imported = true
	if got := strings.Join(doubts(c, AsValue), "\n"); strings.Contains(got, "are short") {
		t.Errorf("notes are\n%s", got)
	}
}

func TestARatioThatShowsNoDifferenceIsNeverBare(t *testing.T) {
	t.Parallel()
	results := first(servers(1))
	c := contrastOf(results, DefaultMetrics(results))
	var markdown, page strings.Builder
	if err := Markdown(&markdown, results.Run, c, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&page, results, c, nil); err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{
		"terminal": string(terminalOf(t, results, c.Metrics, Options{})),
		"percent":  string(terminalOf(t, results, c.Metrics, Options{As: AsPercent})),
		"markdown": markdown.String(),
		"page":     page.String(),
	} {
		if strings.Count(text, "≈: not safely told") != 1 {
			t.Errorf("%s: the sign is explained %d times", form, strings.Count(text, "≈: not safely told"))
		}
		if !strings.Contains(text, "≈1.") && !strings.Contains(text, "≈+") {
			t.Errorf("%s: no ratio of single trials has the sign", form)
		}
	}
	for _, a := range answersOf(c) {
		if !strings.HasPrefix(a.Ratio, near) || !strings.HasPrefix(a.Change, near) || !strings.HasPrefix(a.From.Ratio, near) {
			t.Errorf("a card says %+v of single trials", a)
		}
	}
	certain := first(servers(10))
	for i := range certain.Cases {
		for j := range certain.Cases[i].Summaries {
			certain.Cases[i].Summaries[j].SD /= 1e6
		}
	}
	if got := string(terminalOf(t, certain, c.Metrics, Options{})); strings.Contains(got, near) {
		t.Errorf("a doubt where nothing overlaps:\n%s", got)
	}
}
