package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// entered has the latest run of a database enter history, in the checkout that the
// test is in, and returns what was said of it.
func entered(t *testing.T, database string) (said string) {
	t.Helper()
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	id, err := store.FindRun(t.Context(), storage.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := store.Results(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var problems bytes.Buffer
	d := desk{getenv: func(string) string { return "" }, stderr: &problems}
	if _, _, err := d.enterHistory(t.Context(), store, results.Run); err != nil {
		t.Fatal(err)
	}
	return problems.String()
}

// alertsOf asks `stopwatt alerts` and expects an exit status.
func alertsOf(t *testing.T, database string, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	getenv := func(name string) string { return map[string]string{"STOPWATT_DATABASE": database}[name] }
	if status := run(context.Background(), append([]string{"alerts"}, args...), getenv, &out, &out); status != want {
		t.Fatalf("alerts %v: status %d\n%s", args, status, out.String())
	}
	return out.String()
}

func TestAnAlertIsOpenUntilSomebodyAcknowledgesIt(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 45)
	remembered(t, database, commits)
	t.Chdir(folder)
	if got := alertsOf(t, database, exitOK); !strings.Contains(got, "no alert is open") {
		t.Errorf("before any search: %s", got)
	}
	if said := entered(t, database); said != "" {
		t.Errorf("said: %s", said)
	}
	open := alertsOf(t, database, exitOK)
	id, rest, _ := strings.Cut(open, "  ")
	if len(id) != 8 || !strings.HasPrefix(rest, "open  web-servers  go/static time  +") || !strings.Contains(rest, "since "+commits[30][:8]) {
		t.Fatalf("alerts: %s", open)
	}
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"ack", id}, "say why it is meant: --why REASON"},
		{[]string{"ack", "ffffffff0", "--why", "x"}, `there is no alert "ffffffff0"`},
		{[]string{"ack", "--why", "x"}, "ack needs one alert"},
		{[]string{"ack", id, "--why", "x", "--until", "yesterday"}, "write a date in the future"},
		{[]string{"--format", "xml"}, "write text, csv or json"},
	} {
		if got := alertsOf(t, database, exitAskedWrongly, row.args...); !strings.Contains(got, row.says) {
			t.Errorf("alerts %v: %s", row.args, got)
		}
	}
	if got := alertsOf(t, database, exitOK, "ack", id[:6], "--why", "validates\nnow", "--until", "30d"); !strings.Contains(got, "acknowledged  ") || !strings.Contains(got, ": validates now") {
		t.Errorf("ack: %s", got)
	}
	if said := entered(t, database); said != "" { // another search finds the same
		t.Errorf("said: %s", said)
	}
	if got := alertsOf(t, database, exitOK); !strings.Contains(got, "no alert is open") {
		t.Errorf("then: %s", got)
	}
	if got := alertsOf(t, database, exitOK, "--all", "--format", "csv"); strings.Count(got, "\n") != 2 || !strings.Contains(got, id+",acknowledged,") {
		t.Errorf("all: %s", got)
	}
	if got := alertsOf(t, database, exitOK, "--all", "--suite", "other", "--format", "json"); strings.TrimSpace(got) != "[]" {
		t.Errorf("of another suite: %s", got)
	}
}

func TestAShortRunWithdrawsNoAlertOfWholeRuns(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 45)
	remembered(t, database, commits)
	t.Chdir(folder)
	entered(t, database)
	open := alertsOf(t, database, exitOK)
	rememberedAs(t, database, "short", commits[44:])
	entered(t, database)
	if got := alertsOf(t, database, exitOK); got != open || strings.Contains(got, "no alert") {
		t.Errorf("before:\n%s\nbehind a short run:\n%s", open, got)
	}
	rememberedAs(t, database, "short", commits[:44])
	entered(t, database)
	if got := alertsOf(t, database, exitOK); strings.Count(got, "go/static time") != 2 || strings.Count(got, "web-servers, profile short  go/static") != 1 {
		t.Errorf("of both:\n%s", got)
	}
}

func TestACommitThatAcceptsItsChangeAcknowledgesTheAlert(t *testing.T) {
	for name, row := range map[string]struct {
		says    map[int]string
		accepts bool
	}{
		"the commit that brought it":  {map[int]string{30: "\n\nStopwatt-Accept: go/* time \"validates now\""}, true},
		"a commit long before":        {map[int]string{3: "\n\nStopwatt-Accept: go/* time \"validates now\""}, false},
		"one that means another case": {map[int]string{30: "\n\nStopwatt-Accept: rust/* time \"validates now\""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			database := embeddedtest.ForTest(t)
			folder, commits := sayingRepository(t, 45, row.says)
			remembered(t, database, commits)
			t.Chdir(folder)
			said := entered(t, database)
			all := alertsOf(t, database, exitOK, "--all")
			if accepted := strings.Contains(all, "acknowledged by a in "+commits[30][:8]+": validates now"); accepted != row.accepts {
				t.Errorf("alerts: %s", all)
			}
			if told := strings.Contains(said, "accepted in "+commits[30][:8]+": validates now"); told != row.accepts {
				t.Errorf("said: %s", said)
			}
		})
	}
}
