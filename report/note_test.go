package report

import (
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// mergeRequest is the draft's pipeline.
func mergeRequest() *stopwatt.Pipeline {
	return &stopwatt.Pipeline{
		Kind: stopwatt.SourceBranch, ID: 48213, ProjectURL: "https://gitlab.example.org/team/servers", Commit: head90, SourceHead: head90, DefaultBranch: "main",
		MergeRequest: stopwatt.MergeRequest{IID: 7, TargetBranch: "main", SourceBranch: "validate"}, Ref: "validate",
	}
}

const (
	head90 = "90d47bb1c0ffee00000000000000000000000001"
	base1f = "1f3c9a2e00000000000000000000000000000002"
)

var serverLinks = Links{
	Report: "https://gitlab.example.org/r", Job: "https://gitlab.example.org/j", History: "https://bench.example.org/s/web-servers",
}

// noteOf is the note of the draft's web servers with these comparisons.
func noteOf(comparisons ...stopwatt.Comparison) NoteOf {
	results, _ := servers(12)
	_, j := changedServers()
	j.Notes, j.Comparisons = nil, comparisons
	results.Judgement = &j
	run := &results.Run
	run.Checkout = stopwatt.Checkout{Commit: stopwatt.Commit{SHA: head90}}
	run.Against = stopwatt.Checkout{Commit: stopwatt.Commit{SHA: base1f}}
	run.Choice = stopwatt.BaseChoice{Rule: "merge base"}
	run.Pipeline = mergeRequest()
	return NoteOf{
		Suite: "web-servers", SuiteFile: "stopwatt.yml", Links: serverLinks,
		Machines: []Measured{{Results: results, Contrast: contrastOf(results, DefaultMetrics(results))}},
	}
}

// draftComparisons are those of the draft: a case that regressed, one that became
// faster but hungrier, one that is undecided, three unchanged and one identical.
func draftComparisons() []stopwatt.Comparison {
	undecided := compared("go", "send-static-file", "time", stopwatt.Undecided, estimate(12, 4.97, 1.010, 0.994, 1.026))
	undecided.More = 24
	return []stopwatt.Comparison{
		compared("rust-arena", "csv-svg-path", "time", stopwatt.Regressed, estimate(12, 6.76, 1.083, 1.074, 1.092)),
		compared("rust-arena", "csv-svg-path", "energy_board_gross", stopwatt.Regressed, estimate(12, 96.0, 1.093, 1.079, 1.106)),
		compared("go", "varying-allocations", "time", stopwatt.Improved, estimate(12, 9.29, 0.954, 0.945, 0.963)),
		compared("go", "varying-allocations", "energy_board_gross", stopwatt.Regressed, estimate(12, 135.5, 1.038, 1.025, 1.050)),
		undecided,
		compared("go", "send-static-file", "energy_board_gross", stopwatt.Undecided, estimate(12, 65.4, 0.997, 0.983, 1.012)),
		compared("go", "csv-svg-path", "time", stopwatt.Unchanged, estimate(12, 7.08, 1.001, 0.996, 1.006)),
		compared("go", "csv-svg-path", "energy_board_gross", stopwatt.Unchanged, estimate(12, 95.4, 1.002, 0.993, 1.011)),
		compared("rust-tokio", "csv-svg-path", "time", stopwatt.Identical, stopwatt.Estimate{}),
		compared("rust-tokio", "csv-svg-path", "energy_board_gross", stopwatt.Identical, stopwatt.Estimate{}),
	}
}

// storedServer is what an earlier run says of the identical case.
func storedServer() []Stored {
	return []Stored{{Case: stopwatt.Case{Implementation: "rust-tokio", Workload: "csv-svg-path"}, Run: 411,
		Summaries: []stopwatt.Summary{{Metric: "time", Median: 6.98}, {Metric: "energy_board_gross", Median: 94.1}}}}
}

// calm are comparisons in which nothing got worse.
func calm() []stopwatt.Comparison { return draftComparisons()[6:] }

func TestNote(t *testing.T) {
	t.Parallel()
	for file, of := range notes() {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			golden(t, file, []byte(Note(of)))
		})
	}
}

// notes are one of each kind, by the name of its golden file.
func notes() map[string]NoteOf {
	regressed := noteOf(draftComparisons()...)
	regressed.Machines[0].Stored = storedServer()

	accepted := noteOf(draftComparisons()[:2]...)
	meant := &stopwatt.Acceptance{Case: "rust-arena/csv-svg-path", Reason: "validates every line now", By: "Ada Example", Commit: head90, At: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	for i := range accepted.Machines[0].Results.Judgement.Comparisons {
		accepted.Machines[0].Results.Judgement.Comparisons[i].Accepted = meant
	}

	earlier := Earlier{Run: 410, Job: 9911, JobURL: "https://gitlab.example.org/team/servers/-/jobs/9911", Comparison: draftComparisons()[0]}
	retry := noteOf(draftComparisons()[:2]...)
	retry.Machines[0].Earlier, retry.Machines[0].Attempt = []Earlier{earlier}, 2
	gone := noteOf(append([]stopwatt.Comparison{compared("rust-arena", "csv-svg-path", "time", stopwatt.Undecided, estimate(12, 6.76, 1.013, 0.994, 1.032))}, calm()...)...)
	gone.Machines[0].Earlier, gone.Machines[0].Attempt = []Earlier{earlier}, 2

	noBase := noteOf()
	noBase.Machines[0].Results.Judgement, noBase.Machines[0].Results.Run.Against = nil, stopwatt.Checkout{}
	noBase.Machines[0].NoBase = "no commit of main among the last 50 could be built with this suite"
	noBase.Machines[0].Stored = storedServer()
	noBase.NotKept = "no database is named; set STOPWATT_DATABASE"

	merged := noteOf(calm()...)
	merged.Machines[0].Results.Run.Pipeline.Kind, merged.Machines[0].Results.Run.Pipeline.Commit = stopwatt.MergedResult, base1f
	merged.Machines[0].Results.Run.Checkout.Commit.SHA = base1f
	merged.Machines[0].Results.Run.Choice.Behind = 3

	return map[string]NoteOf{
		"note-regressed.md": regressed, "note-nothing-worse.md": noteOf(calm()...), "note-merged-result.md": merged,
		"note-energy-not-judged.md": energyNotJudged(), "note-retry-same.md": retry, "note-retry-gone.md": gone,
		"note-no-baseline.md": noBase, "note-accepted.md": accepted, "note-machines.md": severalMachines(),
		"note-hostile.md": hostileNote(), "note-everything-missing.md": everythingMissing(),
	}
}

// energyNotJudged is a run in which the meter went away.
func energyNotJudged() NoteOf {
	comparisons := calm()[:2]
	comparisons[1].Verdict, comparisons[1].Estimate = stopwatt.Missing, stopwatt.Estimate{}
	of := noteOf(comparisons...)
	cases := of.Machines[0].Results.Cases
	for i := range cases {
		cases[i].Absent = []stopwatt.AbsenceCount{{Metric: "energy_board_gross", Reason: "ina226 gave no reading: EAGAIN", Count: 3}}
	}
	return of
}

// severalMachines is what a closing job tells.
func severalMachines() NoteOf {
	of := noteOf(draftComparisons()...)
	quiet := noteOf(calm()...).Machines[0]
	quiet.Results.Run.Machine.Name = "rpi5"
	quiet.Links = Links{Report: "https://gitlab.example.org/r2", Job: "https://gitlab.example.org/j2"}
	of.Machines = append(of.Machines, quiet)
	of.Missing = []MissingMachine{{Name: "visionfive", Why: "its job was cancelled"}}
	return of
}

// everythingMissing is a head that does not run.
func everythingMissing() NoteOf {
	var comparisons []stopwatt.Comparison
	for _, c := range draftComparisons()[:8] {
		c.Verdict, c.Estimate, c.Found, c.More = stopwatt.Missing, stopwatt.Estimate{}, nil, 0
		c.Doubts = []stopwatt.Doubt{{Kind: stopwatt.UnequalFailures, Have: 1, Need: 0}}
		comparisons = append(comparisons, c)
	}
	of := noteOf(comparisons...)
	m := &of.Machines[0]
	m.Results.Run.Status = stopwatt.Aborted
	m.Results.Judgement.Family, m.Results.Judgement.Look = 0, 0
	for i := range m.Results.Cases {
		result := &m.Results.Cases[i]
		result.Valid, result.Invalid, result.Summaries = 0, 3, nil
		result.Reasons = []stopwatt.ReasonCount{{Reason: "container exited (137, out of memory); its last lines:\nallocating\nkilled", Count: 3}}
	}
	m.Contrast = stopwatt.Contrast{}
	m.Unmeasured = []Unmeasured{{Case: stopwatt.Case{Implementation: "zig"}, Revision: stopwatt.Base, Why: "build: unknown instruction: FORM"}}
	m.Removed = []stopwatt.Case{{Implementation: "old", Workload: "csv-svg-path"}}
	m.Changes = []string{"judge: time 3 % at the base, 10 % at the head"}
	return of
}

func TestTheHeadingSaysTheVerdict(t *testing.T) {
	t.Parallel()
	draft := draftComparisons()
	fresh := compared("zig", "csv-svg-path", "time", stopwatt.New, stopwatt.Estimate{})
	nowhere := compared("go", "csv-svg-path", "time", stopwatt.Missing, stopwatt.Estimate{})
	accepted := draft[3]
	accepted.Accepted = &stopwatt.Acceptance{Reason: "meant"}
	for _, row := range []struct {
		what string
		of   []stopwatt.Comparison
		want string
	}{
		{"a case counts once, however many of its metrics got worse", draft[:2], "1 regressed"},
		{"what is faster but hungrier is told as both", draft[2:4], "1 faster but hungrier"},
		{"and accepted as one", []stopwatt.Comparison{draft[2], accepted}, "1 faster but hungrier, accepted"},
		{"undecided is not unchanged", append(draft[4:6:6], draft[6:]...), "1 undecided"},
		{"an improvement alone", append(draft[2:3:3], draft[6:]...), "nothing worse, 1 improved"},
		{"an improvement beside what could not be judged", []stopwatt.Comparison{draft[2], draft[4]}, "1 improved, 1 undecided"},
		{"a case in which nothing could be measured", []stopwatt.Comparison{nowhere, draft[8]}, "1 missing"},
		{"new cases alone", []stopwatt.Comparison{fresh}, "nothing to compare with"},
		{"new cases beside unchanged ones", []stopwatt.Comparison{fresh, draft[6]}, "nothing worse"},
		{"identical cases alone", draft[8:], "nothing worse"},
		{"no case at all", nil, "nothing to compare with"},
	} {
		heading, _, _ := strings.Cut(Note(noteOf(row.of...)), "\n")
		if want := "### stopwatt `web-servers`: " + row.want; heading != want {
			t.Errorf("%s: %s, want %s", row.what, heading, want)
		}
	}
}

func TestANoteAboutNoMachineSaysThatNothingWasMeasured(t *testing.T) {
	t.Parallel()
	links := Links{Job: "https://gitlab.example.org/j"}
	for _, row := range []struct {
		what string
		of   NoteOf
		want string
	}{
		{"no job at all", NoteOf{Suite: "s"}, "### stopwatt `s`: nothing was measured\n"},
		{"two jobs that stored nothing, and the closing one", NoteOf{Suite: "s", Missing: []MissingMachine{{Name: "a"}, {Name: "b"}}, Links: links},
			"### stopwatt `s`: nothing from 2 machines\n\n- Nothing from `a`: its job stored no result.\n- Nothing from `b`: its job stored no result.\n\n[Job]("},
		{"a job that stored nothing", NoteOf{Suite: "s", Missing: []MissingMachine{{Name: "rpi5"}}},
			"### stopwatt `s`: nothing from `rpi5`\n\n- Nothing from `rpi5`: its job stored no result.\n"},
	} {
		if text := Note(row.of); !strings.HasPrefix(text, row.want) {
			t.Errorf("%s: %q", row.what, text)
		}
	}
}

func TestASuiteThatCouldNotBeMeasuredIsNotSaidToLackABaseline(t *testing.T) {
	t.Parallel()
	of := noteOf(calm()...)
	m := &of.Machines[0]
	m.Results, m.Contrast = stopwatt.Results{Run: m.Results.Run}, stopwatt.Contrast{}
	m.Unmeasured = []Unmeasured{{Revision: stopwatt.Head, Why: "go: build: unknown instruction: FORM"}}
	text := Note(of)
	for _, want := range []string{"`: could not be measured\n", "\n- Nothing can be said of this change: `go: build: unknown instruction: FORM`.\n", "\nBase ["} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "aseline") {
		t.Errorf("it has a base:\n%s", text)
	}
	if status := of.Status(); status != "missing" {
		t.Errorf("status %s", status)
	}
	var env strings.Builder
	m.Results.Run.ID = 0
	if err := Dotenv(&env, of); err != nil || !strings.HasSuffix(env.String(), "STOPWATT_RUN_ID=\n") {
		t.Errorf("%s, %v", env.String(), err)
	}
	m.NoBase = "no baseline"
	if text := Note(of); !strings.Contains(text, "There is no baseline: no baseline.") {
		t.Errorf("it has no base either:\n%s", text)
	}
}

func TestAJobWhoseTimeWasUpBeforeTheFirstLookHasNoVerdict(t *testing.T) {
	t.Parallel()
	c := draftComparisons()[0]
	c.Verdict, c.Estimate.N = stopwatt.NotJudged, 2
	of := noteOf(c)
	j := of.Machines[0].Results.Judgement
	j.Look, j.Stopped = 0, "round 3 would take about 24s, and the job has 0s left"
	text := Note(of)
	for _, want := range []string{"`: no verdict; time not judged\n", " · 2 rounds", "Stopped before everything was decided: round 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestOfIdenticalCasesNoRoundWasMeasured(t *testing.T) {
	t.Parallel()
	if text := Note(noteOf(draftComparisons()[8:]...)); strings.Contains(text, "round") {
		t.Error(text)
	}
}

func TestAVerdictWithoutARatioIsToldByItsWord(t *testing.T) {
	t.Parallel()
	c := draftComparisons()[0]
	c.Estimate.Ratio, c.Estimate.Base = stopwatt.Interval{}, 0
	if text := Note(noteOf(c)); !strings.Contains(text, "| **regressed**<br>") {
		t.Error(text)
	}
}
