package report

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// estimate is one of n pairs: the ratio with its interval and the base's median.
func estimate(n int, base, ratio, low, high float64) stopwatt.Estimate {
	return stopwatt.Estimate{
		N: n, Base: base, Head: base * ratio, Worse: 0.00024, Better: 1, Smallest: 0.012, Sees: true,
		Ratio: stopwatt.Interval{Value: ratio, Known: true, Low: low, High: high, Bounded: true, Confidence: 0.95},
	}
}

// compared makes a comparison of the draft's web servers.
func compared(implementation, workload, metric string, verdict stopwatt.Verdict, of stopwatt.Estimate) stopwatt.Comparison {
	known, _ := stopwatt.MetricNamed(metric)
	c := stopwatt.Comparison{
		Case: stopwatt.Case{Implementation: implementation, Workload: workload}, Metric: known,
		Verdict: verdict, Estimate: of, Family: 12, Threshold: 0.03, Look: 1,
	}
	step := stopwatt.Step{
		Look: 1, Estimate: of, Side: stopwatt.Regressed, Rank: 1, Level: 0.0042, Threshold: 0.03, Within: 0.03, Outcome: stopwatt.OutcomeGoesOn,
		Inner: stopwatt.Interval{Known: true, Value: of.Ratio.Value, Low: of.Ratio.Low * 0.99, High: of.Ratio.High * 1.01, Bounded: true, Confidence: 0.99},
	}
	if verdict == stopwatt.Unchanged {
		step.Outcome = stopwatt.OutcomeUnchanged
	}
	c.Steps = append(c.Steps, step)
	if verdict == stopwatt.Regressed || verdict == stopwatt.Improved {
		c.Steps[0].Rejected, c.Steps[0].Outcome = true, stopwatt.OutcomeSuspected
		found := of
		c.Found = &found
		c.Steps = append(c.Steps, stopwatt.Step{Look: 1, Fresh: true, Estimate: of, Side: verdict, Level: 0.05, Rejected: true, Threshold: 0.03, Outcome: stopwatt.OutcomeConfirmed})
	}
	return c
}

// changedServers is a judgement in which something of everything happened.
func changedServers() (stopwatt.Run, stopwatt.Judgement) {
	run := first(servers(12)).Run
	run.Against = stopwatt.Checkout{Commit: stopwatt.Commit{SHA: "1f3c9a2e0000", Time: time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)}}
	undecided := compared("go", "send-static-file", "time", stopwatt.Undecided, estimate(12, 4.97, 1.010, 0.994, 1.026))
	undecided.More, undecided.Look = 24, 0
	gone := compared("rust-arena", "send-static-file", "time", stopwatt.Missing, stopwatt.Estimate{})
	gone.Doubts = []stopwatt.Doubt{{Kind: stopwatt.UnequalFailures, Have: 1, Need: 0}}
	gone.Steps = nil
	thin := compared("go", "csv-svg-path", "latency_p99.9", stopwatt.NotJudged, estimate(12, 0.0021, 1.2, 0.9, 1.6))
	thin.Doubts, thin.Steps = []stopwatt.Doubt{{Kind: stopwatt.ThinPercentile, Have: 20, Need: 100}}, nil
	same := compared("rust-tokio", "csv-svg-path", "time", stopwatt.Identical, stopwatt.Estimate{})
	same.Steps = nil
	fresh := compared("zig", "csv-svg-path", "time", stopwatt.New, stopwatt.Estimate{})
	fresh.Steps = nil
	return run, stopwatt.Judgement{
		Procedure: stopwatt.Adaptive(12, 32), Family: 12, Look: 1,
		Notes: []string{"go: base and head differ in 1 installed package: libc6:amd64 2.36-9 → 2.36-10"},
		Comparisons: []stopwatt.Comparison{
			compared("rust-arena", "csv-svg-path", "time", stopwatt.Regressed, estimate(12, 6.76, 1.083, 1.074, 1.092)),
			compared("rust-arena", "csv-svg-path", "energy_board_gross", stopwatt.Regressed, estimate(12, 96.0, 1.093, 1.079, 1.106)),
			compared("go", "varying-allocations", "time", stopwatt.Improved, estimate(12, 9.29, 0.954, 0.945, 0.963)),
			compared("go", "varying-allocations", "energy_board_gross", stopwatt.Regressed, estimate(12, 135.5, 1.038, 1.025, 1.050)),
			undecided,
			compared("go", "send-static-file", "energy_board_gross", stopwatt.Unchanged, estimate(12, 65.4, 0.997, 0.983, 1.012)),
			compared("go", "csv-svg-path", "time", stopwatt.Unchanged, estimate(12, 7.08, 1.001, 0.996, 1.006)),
			thin, gone, same, fresh,
		},
	}
}

func TestJudgement(t *testing.T) {
	t.Parallel()
	run, judgement := changedServers()
	calm := judgement
	calm.Comparisons, calm.Notes = judgement.Comparisons[6:7], nil
	stopped := judgement
	stopped.Comparisons, stopped.Notes = judgement.Comparisons[4:5], nil
	stopped.Stopped = "the budget of 45m0s: 40m0s are spent, and the next look would take about 12m0s more"
	for file, write := range map[string]func(io.Writer) error{
		"judgement.txt":         func(w io.Writer) error { return Judgement(w, run, judgement, JudgementOptions{}) },
		"judgement-all.txt":     func(w io.Writer) error { return Judgement(w, run, judgement, JudgementOptions{All: true, Width: 120}) },
		"judgement-calm.txt":    func(w io.Writer) error { return Judgement(w, run, calm, JudgementOptions{}) },
		"judgement-stopped.txt": func(w io.Writer) error { return Judgement(w, run, stopped, JudgementOptions{}) },
		"judgement-explain.txt": func(w io.Writer) error { return Explain(w, run, judgement, JudgementOptions{}) },
		"judgement.md":          func(w io.Writer) error { return JudgementMarkdown(w, run, judgement, JudgementOptions{}) },
		"judgement.csv":         func(w io.Writer) error { return JudgementCSV(w, run, judgement) },
		"judgement.json":        func(w io.Writer) error { return JudgementJSON(w, run, judgement) },
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}

func TestAReportOfARunWithABaseOpensWithItsJudgement(t *testing.T) {
	t.Parallel()
	results, trials := servers(12)
	run, judgement := changedServers()
	results.Run, results.Judgement = run, &judgement
	files, err := Folder(results, contrastOf(results, DefaultMetrics(results)), trials)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "judged-index.html", files[Page])
	page := string(files[Page])
	if at := strings.Index(page, Answer(judgement)); at < 0 || at > strings.Index(page, `id="answer"`) {
		t.Error("the page does not open with the answer")
	}
	for _, name := range []string{"judgement.md", "judgement.json", "judgement.csv"} {
		if len(files[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestAnswerSaysTheWorstFirst(t *testing.T) {
	t.Parallel()
	_, judgement := changedServers()
	if got, want := Answer(judgement), "2 regressed, 1 faster but hungrier, 1 undecided, 1 missing, 1 new, 1 not judged, 2 unchanged, 1 identical"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, row := range []struct {
		of   []stopwatt.Comparison
		want string
	}{
		{nil, "nothing was judged"},
		{judgement.Comparisons[6:7], "nothing worse: 1 unchanged"},
		{judgement.Comparisons[4:5], "1 undecided"},
		{judgement.Comparisons[6:8], "1 not judged, 1 unchanged"},
		{judgement.Comparisons[10:], "1 new"},
		{judgement.Comparisons[9:], "nothing worse: 1 new, 1 identical"},
	} {
		if got := Answer(stopwatt.Judgement{Comparisons: row.of}); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

func TestAJudgementSaysWhatItRestsOn(t *testing.T) {
	t.Parallel()
	run, judgement := changedServers()
	for _, row := range []struct {
		what string
		of   stopwatt.Judgement
		want string
	}{
		{"two runs at two times", stopwatt.Judgement{Family: 2, Comparisons: judgement.Comparisons[7:8]}, "Two runs at two times: "},
		{"nothing with two sides", stopwatt.Judgement{Procedure: judgement.Procedure, Look: 3, Comparisons: judgement.Comparisons[9:]},
			"No case was measured at both base and head."},
		{"before the first look", stopwatt.Judgement{Procedure: judgement.Procedure, Family: 2, Wanted: []stopwatt.Wanted{{First: 1, Last: 12}}},
			"Not judged yet: the first look comes after 12 rounds."},
		{"a harness that measures more than the plan can tell apart", stopwatt.Judgement{Procedure: stopwatt.Adaptive(10, 10), Family: 82, Look: 1},
			"10 rounds can tell nothing of 82 comparisons judged together: it takes --rounds 12."},
	} {
		var out bytes.Buffer
		if err := Judgement(&out, run, row.of, JudgementOptions{Width: 120}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), row.want) {
			t.Errorf("%s: no %q in\n%s", row.what, row.want, out.String())
		}
	}
}

func TestEveryDoubtHasWords(t *testing.T) {
	t.Parallel()
	for _, kind := range []stopwatt.DoubtKind{stopwatt.TooFewPairs, stopwatt.IncompletePairs, stopwatt.NegativeValues, stopwatt.FromNothing,
		stopwatt.ToNothing, stopwatt.NoSpread, stopwatt.UnequalFailures, stopwatt.ThinPercentile, stopwatt.NoDirection, stopwatt.ThresholdRaised,
		stopwatt.NotConfirmed, stopwatt.NotYetConfirmed, stopwatt.NotPaired, stopwatt.ByControl, stopwatt.SmallerThanFound} {
		if text := DoubtText(stopwatt.Doubt{Kind: kind, Have: 1, Need: 2}); text == string(kind) {
			t.Errorf("%q is told by its name alone", kind)
		}
	}
}

func TestAJudgementIsNeverWiderThanAskedAndHoldsNoControlSequence(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	name := hostileNames(random)
	for range 40 {
		run, judgement := changedServers()
		for i := range judgement.Comparisons {
			judgement.Comparisons[i].Case = stopwatt.Case{Implementation: name(), Workload: name()}
		}
		judgement.Notes, run.Suite, run.Checkout.Branch = []string{name()}, name(), name()
		columns := 60 + random.IntN(80)
		var out bytes.Buffer
		if err := Judgement(&out, run, judgement, JudgementOptions{Width: columns, All: true}); err != nil {
			t.Fatal(err)
		}
		if err := Explain(&out, run, judgement, JudgementOptions{Width: columns}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if width(line) > columns || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("%d columns for %d: %q", width(line), columns, line)
			}
		}
	}
}

func TestACalibrationOfTooFewPairsHasNoSpread(t *testing.T) {
	t.Parallel()
	run, _ := changedServers()
	time, _ := stopwatt.MetricNamed("time")
	of := stopwatt.Case{Implementation: "go", Workload: "static"}
	var out bytes.Buffer
	calibration := stopwatt.Calibration{Cases: []stopwatt.CaseCalibration{{Case: of, Metric: time, N: 4}}}
	if err := Calibration(&out, run, calibration, JudgementOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "0 %") || !strings.Contains(text, "Too few rounds to count false alarms") {
		t.Errorf("a spread that nobody knows:\n%s", text)
	}
}
