package report

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gitlab.com/stopwatt/stopwatt"
)

func terminalOf(t *testing.T, results stopwatt.Results, metrics []stopwatt.Metric, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Terminal(&out, results.Run, contrastOf(results, metrics), o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	good, bad, hungry := first(servers(10)), first(hostile()), first(metered(10))
	single, _ := stopwatt.MetricNamed("time")
	tests := []struct {
		file    string
		results stopwatt.Results
		metrics []stopwatt.Metric
		options Options
	}{
		{"servers-value.txt", good, DefaultMetrics(good), Options{Next: "stopwatt compare --implementations --as percent"}},
		{"servers-value-wide.txt", good, DefaultMetrics(good), Options{Width: 160}},
		{"servers-time-us.txt", good, []stopwatt.Metric{single}, Options{Unit: "us"}},
		{"servers-ratio.txt", good, DefaultMetrics(good)[:2], Options{As: AsRatio}},
		{"servers-times.txt", good, DefaultMetrics(good)[:2], Options{As: AsTimes}},
		{"servers-percent.txt", good, DefaultMetrics(good)[:2], Options{As: AsPercent}},
		{"types-ratio.txt", types(), []stopwatt.Metric{single}, Options{As: AsRatio}},
		{"types-value-ns.txt", types(), []stopwatt.Metric{single}, Options{Unit: "ns"}},
		{"metered-value.txt", hungry, DefaultMetrics(hungry), Options{}},
		{"metered-gross.txt", hungry, Gross(DefaultMetrics(hungry)), Options{As: AsPercent}},
		{"hostile-value.txt", bad, DefaultMetrics(bad), Options{}},
		{"hostile-ratio.txt", bad, DefaultMetrics(bad)[:1], Options{As: AsRatio}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			golden(t, test.file, terminalOf(t, test.results, test.metrics, test.options))
		})
	}
}

func TestTerminalIsNeverWiderThanAsked(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	name := hostileNames(random)
	for range 60 {
		results, metrics := randomResults(random, name)
		options := Options{
			As:    []As{AsValue, AsRatio, AsTimes, AsPercent}[random.IntN(4)],
			Width: []int{0, 40, 60, 80, 120}[random.IntN(5)],
			Unit:  []string{"", "ns", "h"}[random.IntN(3)],
		}
		limit := map[int]int{0: 80, 40: 60, 60: 60, 80: 80, 120: 120}[options.Width]
		narrow(t, string(terminalOf(t, results, metrics, options)), limit)
	}
}

// hostileNames makes names of all that a terminal may trip over.
func hostileNames(random *rand.Rand) func() string {
	pieces := []string{"go", "rust-tokio", "名", "é", "e\u0301", "👩‍👩‍👧", "\x1b[1m", "\u202e", " ", "|", "\n", "a-very-long-name-", "\xff", "<script>", "`", "12.5"}
	return func() string {
		text := ""
		for range 1 + random.IntN(12) {
			text += pieces[random.IntN(len(pieces))]
		}
		return text
	}
}

// narrow fails for a line that is wider than so many columns, and for one that
// holds a control character.
func narrow(t *testing.T, text string, limit int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if width(line) > limit {
			t.Fatalf("%d columns wide:\n%s\n%s", width(line), line, text)
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return unicode.Is(unicode.C, r) }); i >= 0 || !utf8.ValidString(line) {
			t.Fatalf("a control character in %q", line)
		}
	}
}

// randomResults makes results of random size with values of every magnitude.
func randomResults(random *rand.Rand, name func() string) (stopwatt.Results, []stopwatt.Metric) {
	results := stopwatt.Results{Run: stopwatt.Run{Suite: name(), Checkout: stopwatt.Checkout{Branch: name()}}}
	settings := &results.Run.Settings
	for range 1 + random.IntN(9) {
		settings.Implementations = append(settings.Implementations, stopwatt.Implementation{Name: name()})
	}
	for range 1 + random.IntN(3) {
		settings.Workloads = append(settings.Workloads, stopwatt.Workload{Name: name(), Load: stopwatt.Load{Users: random.IntN(1e6), Requests: random.IntN(1e9)}})
	}
	metrics := slices.Clone(stopwatt.Metrics)
	random.Shuffle(len(metrics), func(i, j int) { metrics[i], metrics[j] = metrics[j], metrics[i] })
	metrics = append(metrics[:random.IntN(8)], stopwatt.Metrics[0])
	metrics = append(metrics, stopwatt.EnergyMetrics("board")[:random.IntN(5)]...)
	for _, c := range settings.Cases() {
		result := stopwatt.CaseResult{Case: c, Valid: random.IntN(1e6), Invalid: random.IntN(3), Marked: random.IntN(2)}
		if result.Marked > 0 {
			result.Warnings = []stopwatt.WarningCount{{Warning: name(), Count: 1}, {Warning: name(), Count: 2}}
		}
		if random.IntN(8) == 0 {
			result.Valid, result.Invalid = 0, 2
		}
		result.Absent = []stopwatt.AbsenceCount{{Metric: metrics[0].Name, Reason: name(), Count: 1}}
		if result.Invalid > 0 {
			result.Reasons = []stopwatt.ReasonCount{{Reason: name() + name(), Count: result.Invalid}}
		}
		for _, metric := range metrics {
			value := math.Pow(10, random.Float64()*40-20)
			s := stopwatt.Summary{Case: c, Metric: metric.Name, N: 1 + random.IntN(3), Mean: value, SD: value * random.ExpFloat64(), Median: -value}
			switch random.IntN(5) {
			case 0:
				s.Mean, s.SD, s.Median = 0, 0, 0
			case 1:
				continue
			}
			result.Summaries = append(result.Summaries, s)
		}
		results.Cases = append(results.Cases, result)
	}
	return results, metrics
}

func TestTerminalRefusesAUnitThatFitsNothing(t *testing.T) {
	t.Parallel()
	results := first(servers(1))
	err := Terminal(&bytes.Buffer{}, results.Run, contrastOf(results, stopwatt.Metrics[:1]), Options{Unit: "MiB"})
	if err == nil || !strings.Contains(err.Error(), `unit "MiB" fits none`) {
		t.Errorf("error %v", err)
	}
}

func TestTerminalSaysWhatIsSpecialAboutARun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*stopwatt.Results)
		want   string
	}{
		{"uncommitted changes", func(r *stopwatt.Results) { r.Run.Checkout.Dirty = true }, "90d47bb1 (main, with uncommitted changes)"},
		{"a detached head", func(r *stopwatt.Results) { r.Run.Checkout.Branch = "" }, "· 90d47bb1 ·"},
		{"no repository", func(r *stopwatt.Results) { r.Run.Checkout = stopwatt.Checkout{} }, "· no commit ·"},
		{"an interrupted run", func(r *stopwatt.Results) { r.Run.Status, r.Run.Planned = stopwatt.Aborted, 100 }, "aborted: 76 of 100 planned trials not carried"},
		{"a profile", func(r *stopwatt.Results) { r.Run.Profile = "short" }, "profile short"},
		{"a case without valid trials", func(r *stopwatt.Results) {
			r.Cases[2] = stopwatt.CaseResult{Case: r.Cases[2].Case, Invalid: 10, Reasons: []stopwatt.ReasonCount{{Reason: "exited with 137 (out of memory)", Count: 3}}}
		}, "rust-arena  –  exited with 137 (out of memory) in 3 of 10 trials"},
		{"a case that was not measured", func(r *stopwatt.Results) {
			r.Cases[2] = stopwatt.CaseResult{Case: r.Cases[2].Case}
		}, "rust-arena  –  not measured"},
		{"an absent metric", func(r *stopwatt.Results) {
			r.Cases[0].Summaries = slices.Clone(r.Cases[0].Summaries)[1:]
			r.Cases[0].Absent = []stopwatt.AbsenceCount{{Metric: "time", Reason: "clock stood still", Count: 2}}
		}, "–: time of rust-tokio/csv-svg-path: clock stood still in 2 of 2 trials."},
		{"a metric that some trials lack", func(r *stopwatt.Results) { r.Cases[0].Valid = 5 }, "time of rust-tokio/csv-svg-path is of n 2: measured in 2 of 5 trials."},
		{"a single trial", func(r *stopwatt.Results) {
			r.Cases[0].Summaries = slices.Clone(r.Cases[0].Summaries)
			r.Cases[0].Summaries[0].N, r.Cases[0].Valid = 1, 1
		}, "± –: one trial has no spread."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			results := first(servers(2))
			test.change(&results)
			got := string(terminalOf(t, results, stopwatt.Metrics[:1], Options{}))
			if !strings.Contains(strings.ReplaceAll(got, "\n  ", " "), test.want) {
				t.Errorf("%q is not in\n%s", test.want, got)
			}
		})
	}
}
