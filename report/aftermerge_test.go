package report

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// seenAfter is the draft's change point: of an energy, seen on main.
func seenAfter(state stopwatt.ChangeState) AfterMergeOf {
	energy, _ := stopwatt.MetricNamed("energy_board_gross")
	return AfterMergeOf{
		Suite: "web-servers", Branch: "main", Project: "https://gitlab.example.org/team/servers", Commit: head90,
		Seen: []SeenChange{{
			Case: stopwatt.Case{Implementation: "go", Workload: "csv-svg-path"}, Metric: energy, Machine: "odroid-h3", Chart: "https://bench.example.org/c",
			Change: stopwatt.ChangePoint{
				State: state, Past: stopwatt.CommitPlace{Position: 40, SHA: "c3d18f0a00000000000000000000000000000001"},
				First: stopwatt.CommitPlace{Position: 41, SHA: head90}, Reached: stopwatt.CommitPlace{Position: 42, SHA: "e94b771000000000000000000000000000000001"},
				Before: stopwatt.Level{N: 31, Mean: 95.4}, After: stopwatt.Level{N: 9, Mean: 97.4}, Shift: 2,
				Ratio: stopwatt.Interval{Value: 1.021, Known: true, Low: 1.014, High: 1.028, Bounded: true},
			},
		}},
	}
}

func TestAfterMerge(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			text := AfterMerge(seenAfter(state))
			wellFormed(t, text)
			golden(t, "aftermerge-"+string(state)+".md", []byte(text))
		})
	}
}

func TestAfterMergeSaysWhichCommitsMayHaveDoneIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what string
		edit func(*AfterMergeOf)
		want string
	}{
		{"it alone", func(of *AfterMergeOf) {
			of.Seen[0].Change.Reached = stopwatt.CommitPlace{Position: 41, SHA: head90}
		}, "since this merge request: [`90d47bb1`]"},
		{"it or another", func(of *AfterMergeOf) {}, "since this merge request or another of 2 commits: after [`c3d18f0a`]"},
		{"from the beginning", func(of *AfterMergeOf) { of.Seen[0].Change.Past = stopwatt.CommitPlace{} }, "another of the first 42 commits, up to [`e94b7710`]"},
		{"a level of nothing before", func(of *AfterMergeOf) { of.Seen[0].Change.Ratio = stopwatt.Interval{} }, "board energy **hungrier** (95.4 → 97.4 J)"},
		{"a relation", func(of *AfterMergeOf) { of.Seen[0].Against = "rust" }, "board energy ÷ that of `rust` **+2.1 % more** (+1.4 … +2.8 %)"},
		{"nothing", func(of *AfterMergeOf) { of.Seen = nil }, "no change is seen on `main` after the merge"},
	} {
		of := seenAfter(stopwatt.Confirmed)
		row.edit(&of)
		if text := AfterMerge(of); !strings.Contains(text, row.want) {
			t.Errorf("%s: no %q in\n%s", row.what, row.want, text)
		}
	}
}

func TestAfterMergeKeepsForeignTextAndItsBudget(t *testing.T) {
	t.Parallel()
	of := seenAfter(stopwatt.Suspected)
	for i, text := range evil {
		s := of.Seen[0]
		s.Case = stopwatt.Case{Implementation: text, Workload: evil[(i+1)%len(evil)]}
		s.Metric.Name, s.Metric.Unit, s.Machine, s.Against, s.Chart = text, text, text, map[bool]string{true: text}[i%2 == 0], "https://x/"+text
		s.Change.Reached.SHA, s.Change.Past.SHA = text, text
		of.Seen = append(of.Seen, s)
	}
	of.Suite, of.Branch, of.Project = evil[3], evil[4], "https://x/"+evil[5]
	for _, bytes := range []int{2000, 5000, 0} {
		of.Bytes = bytes
		text := AfterMerge(of)
		wellFormed(t, text)
		if bytes > 0 && len(text) > bytes || !strings.Contains(text, "Left out here: ") {
			t.Errorf("%d bytes for %d:\n%s", len(text), bytes, text)
		}
	}
}
