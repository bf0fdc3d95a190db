package main

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
	"gitlab.com/stopwatt/stopwatt/report"
)

func TestWhatIsSeenAfterAMergeStandsOnTopOfTheNoteOfItsMergeRequest(t *testing.T) {
	t.Parallel()
	folder, commits := t.TempDir(), []string{}
	for i := range 4 {
		for _, arguments := range [][]string{{"init", "-q", "-b", "main"}, {"commit", "-q", "--allow-empty", "-m", strconv.Itoa(i)}} {
			command := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, arguments...)...)
			command.Dir = folder
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		sha, err := exec.Command("git", "-C", folder, "rev-parse", "HEAD").Output()
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, strings.TrimSpace(string(sha)))
	}
	forge := gitlabtest.Start(t)
	forge.MergeRequest(7, func(m *gitlabtest.MergeRequest) {
		m.State, m.Merge, m.Commits = "merged", commits[2], []string{commits[2]}
	})

	var log bytes.Buffer
	environment := map[string]string{"STOPWATT_GITLAB_TOKEN": forge.Token}
	d := &desk{getenv: func(name string) string { return environment[name] }, stderr: &log}
	pipeline := stopwatt.Pipeline{
		Kind: stopwatt.SourceBranch, ID: 1, API: forge.URL, ProjectID: forge.Project, ProjectURL: forge.ProjectURL, DefaultBranch: "main",
		MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: forge.Project},
	}
	if _, err := d.posted(t.Context(), pipeline, stopwatt.Note{Suite: "servers", Body: "### stopwatt `servers`: nothing worse", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	main := pipeline
	main.Kind, main.MergeRequest, main.Commit = stopwatt.DefaultBranch, stopwatt.MergeRequest{}, commits[3]
	tell := func(id int64, state stopwatt.ChangeState, past string) string {
		main.ID = id
		o := risen(state, past, commits[2])
		ciJob{desk: d, pipeline: main}.tellBringers(t.Context(), plannedRun{checkout: checkout{repo: repo}}, o)
		notes := forge.Notes(7)
		if len(notes) != 1 {
			t.Fatalf("%d notes, want the one that was there\n%s", len(notes), log.String())
		}
		return notes[0].Body
	}
	first := tell(2, stopwatt.Suspected, commits[0]) // or by the commit before, which had no merge request
	second := tell(3, stopwatt.Confirmed, commits[1])
	for note, wanted := range map[string]string{first: "uspected", second: "onfirmed"} {
		if !strings.Contains(note, wanted) || !strings.Contains(note, "nothing worse") {
			t.Errorf("the note does not say %s on top of what it said:\n%s", wanted, note)
		}
	}
	if strings.Contains(second, "uspected") {
		t.Errorf("what was said before stands there still:\n%s", second)
	}
}

// risen is an outcome that has a change for the worse between two commits.
func risen(state stopwatt.ChangeState, past, reached string) outcome {
	change := stopwatt.ChangePoint{
		State: state, First: stopwatt.CommitPlace{SHA: reached, Position: 3}, Past: stopwatt.CommitPlace{SHA: past, Position: 2},
		Reached: stopwatt.CommitPlace{SHA: reached, Position: 3}, Before: stopwatt.Level{N: 9, Mean: 1}, After: stopwatt.Level{N: 9, Mean: 1.1},
		Ratio: stopwatt.Interval{Value: 1.1, Known: true, Low: 1.05, High: 1.15, Bounded: true, Confidence: .95},
	}
	time, _ := stopwatt.MetricNamed("time")
	history := report.History{Suite: "servers", Metric: time, Traced: []report.Traced{{
		Series:   stopwatt.Series{Case: stopwatt.Case{Implementation: "go", Workload: "hello"}, Metric: "time"},
		Searches: []stopwatt.ChangeSearch{{ChangePoints: []stopwatt.ChangePoint{change}}},
	}}}
	o := outcome{news: []report.History{history}, history: []report.History{history}}
	o.results.Run.Suite = "servers"
	return o
}
