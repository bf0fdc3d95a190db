package report

import (
	"bytes"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// bisected is a bisection of seven commits in which two are left.
func bisected() (stopwatt.Bisection, []stopwatt.Landing) {
	metric, _ := stopwatt.MetricNamed("time")
	commit := func(sha, author, subject string) stopwatt.Commit {
		return stopwatt.Commit{SHA: sha + "00000000", Author: author, Subject: subject, Time: time.Date(2026, 11, 6, 8, 0, 0, 0, time.UTC)}
	}
	run := func(id int64, verdict stopwatt.Verdict, ratio float64) stopwatt.BisectionRun {
		return stopwatt.BisectionRun{Run: id, Comparison: stopwatt.Comparison{Verdict: verdict, Threshold: 0.03, Estimate: stopwatt.Estimate{
			Ratio: stopwatt.Interval{Value: ratio, Known: ratio > 0, Low: ratio - 0.004, High: ratio + 0.004, Bounded: ratio > 0}}}}
	}
	broken, culprit := commit("72eb963f", "Bob", "read whole lines"), commit("c3d18f0a", "Ada", "Merge branch 'arena' into 'main'")
	culprit.Parents = []string{broken.SHA, "77"}
	b := stopwatt.Bisection{
		Case: stopwatt.Case{Implementation: "rust-arena", Workload: "csv-svg-path"}, Metric: metric, Good: commit("1f3c9a2e", "Ada", "the good end"),
		Ending: stopwatt.BisectionRange, Suspects: []stopwatt.Commit{broken, culprit}, Side: stopwatt.Regressed, Threshold: 0.0407, Error: 0.035,
		Ends: stopwatt.BisectionStep{Commit: commit("90d47bb1", "Ada", "the bad end"), Bad: true, Left: 7, Runs: []stopwatt.BisectionRun{run(411, stopwatt.Regressed, 1.083)}},
	}
	reused := run(412, stopwatt.Undecided, 1.02)
	reused.Reused = true
	b.Steps = []stopwatt.BisectionStep{
		{Commit: culprit, Bad: true, Left: 4, Runs: []stopwatt.BisectionRun{reused, run(413, stopwatt.Regressed, 1.081)}},
		{Commit: commit("aaaaaaaa", "Eve", "docs"), Left: 3, Runs: []stopwatt.BisectionRun{run(414, stopwatt.Identical, 0)}},
		{Commit: commit("bbbbbbbb", "Eve", "more"), Left: 2, Runs: []stopwatt.BisectionRun{run(415, stopwatt.Unchanged, 1.001)}},
		{Commit: broken, Left: 2, Skipped: "rust-arena: build: step 4 of 11 exited with 101\nerror"},
	}
	return b, []stopwatt.Landing{{Commit: culprit, Merger: "Ada", MergeRequest: "!212", Brought: []stopwatt.Commit{commit("77777777", "Bob", "use an arena")}}}
}

func TestBisection(t *testing.T) {
	t.Parallel()
	b, landings := bisected()
	for file, change := range map[string]func(*stopwatt.Bisection){
		"bisection-range.txt":     func(*stopwatt.Bisection) {},
		"bisection-named.txt":     func(b *stopwatt.Bisection) { b.Ending, b.Suspects = stopwatt.BisectionNamed, b.Suspects[1:] },
		"bisection-stopped.txt":   func(b *stopwatt.Bisection) { b.Ending, b.Steps = stopwatt.BisectionStopped, b.Steps[:1] },
		"bisection-no-change.txt": func(b *stopwatt.Bisection) { b.Ending, b.Steps, b.Threshold = stopwatt.BisectionNoChange, nil, 0 },
		"bisection-untold.txt": func(b *stopwatt.Bisection) {
			b.Ending, b.Steps, b.Ends.Skipped, b.Ends.Runs = stopwatt.BisectionUntold, nil, "it does not build", nil
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			one := b
			change(&one)
			var out bytes.Buffer
			for _, step := range append([]stopwatt.BisectionStep{one.Ends}, one.Steps...) {
				if err := BisectionStep(&out, one.Metric, step, 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := Bisection(&out, one, landings, 0); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}
