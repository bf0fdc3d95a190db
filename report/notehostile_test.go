package report

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// evil are texts that GitLab would make something of, each in its own way.
var evil = []string{
	"/close", "@all", "a|b", "`", "```\n/merge\n```", "</summary></details><script>alert(1)</script>", "![x](https://evil.example/x.png)",
	"[x](javascript:alert(1))", "#1 !2 %3 &4 ~bug ^a :+1:", "https://evil.example", "\u202etxt.exe\x1b[31m", "a\\|b\\", "<!-- stopwatt:v1 -->", "`` x", "$`1`$", "\r\n/label ~x", "90d47bb1", "%{dangerous}", "[[_TOC_]]", "{+ x +}", "PROJ-12", strings.Repeat("`", 300), strings.Repeat("x|", 400), "e" + strings.Repeat("\u0301", 500),
}

// hostileNote is a note all of whose foreign text is hostile.
func hostileNote() NoteOf { return hostileNoteOf(evil) }

// hostileNoteOf puts these texts wherever foreign text can come from.
func hostileNoteOf(texts []string) NoteOf {
	at := -1
	next := func() string { at++; return texts[at%len(texts)] }
	comparisons := draftComparisons()
	comparisons = append(comparisons, comparisons...)
	for i := range comparisons {
		c := &comparisons[i]
		c.Case = stopwatt.Case{Implementation: next(), Workload: next()}
		if i > 4 {
			c.Metric = stopwatt.Metric{Name: next(), Unit: next(), Better: stopwatt.Less}
		}
		if i%3 == 0 {
			c.Accepted = &stopwatt.Acceptance{Case: next(), Reason: next(), By: next(), Commit: next()}
		}
	}
	of := noteOf(comparisons...)
	of.Suite, of.SuiteFile, of.NotKept = next(), next(), next()
	of.Links = Links{Report: "https://gitlab.example.org/" + next(), Job: next(), History: "http://" + next(), Project: "https://x/" + next()}
	of.Missing = []MissingMachine{{Name: next(), Why: next()}}
	m := &of.Machines[0]
	m.Attempt, m.NoBase, m.Changes = 2, next(), []string{next(), next()}
	m.Earlier = []Earlier{{Run: 1, Job: 2, JobURL: next(), Comparison: comparisons[7]}, {Run: 3, Comparison: comparisons[0]}}
	m.Removed = []stopwatt.Case{{Implementation: next(), Workload: next()}}
	m.Unmeasured = []Unmeasured{{Case: stopwatt.Case{Implementation: next()}, Revision: stopwatt.Base, Why: next()}}
	m.Stored = []Stored{{Case: comparisons[8].Case, Run: 4, Summaries: []stopwatt.Summary{{Metric: comparisons[8].Metric.Name, Median: 2}}}}
	run := &m.Results.Run
	run.Machine.Name, run.Suite, run.Checkout.Branch, run.Checkout.Commit.SHA, run.Against.Commit.SHA = next(), next(), next(), next(), next()
	run.Choice = stopwatt.BaseChoice{Rule: next(), Behind: 3, Notes: []string{next()}}
	run.Pipeline.MergeRequest.TargetBranch, run.Pipeline.SourceHead, run.Pipeline.ProjectURL = next(), next(), next()
	run.Meters = []stopwatt.Meter{{Name: "board", Source: next(), Absent: next()}}
	m.Results.Judgement.Notes, m.Results.Judgement.Stopped = []string{next()}, next()
	for i := range m.Results.Cases {
		result := &m.Results.Cases[i]
		result.Case = stopwatt.Case{Implementation: next(), Workload: next()}
		result.Invalid, result.Reasons = 1, []stopwatt.ReasonCount{{Reason: next() + "; its last lines:\n" + next(), Count: 1}}
		result.Absent = []stopwatt.AbsenceCount{{Metric: "energy_board_gross", Reason: next(), Count: 1}}
	}
	c := &m.Contrast
	c.Baseline = next()
	for i := range c.Means {
		c.Means[i].Implementation = next()
	}
	other := *m
	other.Results.Run.Machine.Name, other.Results.Judgement = next(), nil
	of.Machines = append(of.Machines, other)
	return of
}
