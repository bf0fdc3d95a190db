package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// documented fills a database with what docs/history.md asks about: rust-arena takes
// a tenth more from the 31st commit on.
func documented(t *testing.T, database string, commits []string) {
	t.Helper()
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for i, sha := range commits {
		run := storagetest.Run()
		run.Key, run.PlanKey, run.Profile, run.Baseline = fmt.Sprint("k", i), fmt.Sprint("p", i), "", "rust-tokio"
		run.Checkout.Dirty, run.Checkout.Commit = false, stopwatt.Commit{SHA: sha, Time: time.Unix(int64(1.7e9)+int64(i), 0).UTC()}
		workload := run.Settings.Workloads[0]
		workload.Name = "csv-svg-path"
		run.Settings.Workloads = []stopwatt.Workload{workload}
		run.Settings.Implementations = []stopwatt.Implementation{{Name: "rust-tokio"}, {Name: "rust-arena"}}
		stored, _, err := store.Begin(t.Context(), run, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.SaveTrial(t.Context(), stored.ID, storagetest.Trial(1, "rust-arena", "csv-svg-path")); err != nil {
			t.Fatal(err)
		}
		var summaries []stopwatt.Summary
		for _, name := range []string{"rust-tokio", "rust-arena"} {
			for _, metric := range []string{"time", "energy_board_gross"} {
				mean := 96 + 0.1*float64(i*7%5)
				if name == "rust-arena" && i >= 30 {
					mean *= 1.1
				}
				summaries = append(summaries, stopwatt.Summary{Case: stopwatt.Case{Implementation: name, Workload: "csv-svg-path"}, Revision: stopwatt.Head,
					Metric: metric, N: 3, Mean: mean, Median: mean, Min: mean, Max: mean})
			}
		}
		if err := store.SaveSummaries(t.Context(), stored.ID, summaries); err != nil {
			t.Fatal(err)
		}
		if err := store.Finish(t.Context(), stored.ID, stopwatt.Finished, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheCommandsOfTheHistoryPageAnswer carries out every command of docs/history.md
// that asks, and understands those that measure.
func TestTheCommandsOfTheHistoryPageAnswer(t *testing.T) {
	page, err := os.ReadFile("../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 50)
	documented(t, database, commits)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", folder, "tag", "v1.2", commits[20]).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(folder)
	answers := map[string]string{}
	for _, block := range blocks(string(page), "sh") {
		for line := range strings.Lines(block) {
			var out, problems bytes.Buffer
			getenv := func(name string) string {
				return map[string]string{"STOPWATT_DATABASE": database, "HOME": folder, "XDG_DATA_HOME": filepath.Join(folder, "data")}[name]
			}
			line = strings.TrimSpace(line)
			if status := run(context.Background(), words(line)[1:], getenv, &out, &problems); status != exitOK || out.Len() == 0 && !strings.Contains(line, "alerts") {
				t.Errorf("%s: status %d\n%s%s", line, status, out.String(), problems.String())
			}
			answers[line] = out.String()
		}
	}
	if len(answers) < 16 {
		t.Errorf("only %d questions were found", len(answers))
	}
	answer := strings.Join(strings.Fields(answers["stopwatt history --case rust-arena/csv-svg-path --metric energy_board_gross --changes"]), " ")
	for _, part := range []string{"confirmed rust-arena/csv-svg-path energy_board_gross", "+10.0 %", "since " + commits[30][:8], commits[30][:8] + " ", "a: change 30"} {
		if !strings.Contains(answer, part) {
			t.Errorf("when, by how much, and who: %q is missing in\n%s", part, answer)
		}
	}
	if as := answers["stopwatt history --at v1.2"]; !strings.Contains(as, "commit "+commits[20][:8]) {
		t.Errorf("as of v1.2:\n%s", as)
	}
	measuring := 0
	for _, block := range blocks(string(page), "text") {
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, "stopwatt ") {
				continue
			}
			measuring++
			if err := understand(words(strings.TrimSpace(line))[1:]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if measuring < 4 {
		t.Errorf("only %d commands that measure were found", measuring)
	}
}

func TestATrialIsAskedForByItsPlaceOrItsRound(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 1)
	documented(t, database, commits)
	t.Chdir(folder)
	for _, row := range []struct {
		args   string
		status int
		says   string
	}{
		{"show 1 rust-arena/csv-svg-path 1", exitOK, "latency"},
		{"show 1 --trial 1", exitOK, "rust-arena/csv-svg-path · head · round 1"},
		{"show 1 rust-arena/csv-svg-path 2", exitAskedWrongly, "has no trial of round 2"},
		{"show 1 go/csv 1", exitAskedWrongly, `no case "go/csv"; there are rust-arena/csv-svg-path`},
		{"show 1 go/csv one", exitAskedWrongly, `"one" is no number of a round`},
		{"show 1 go/csv", exitAskedWrongly, "is named by RUN CASE ROUND"},
		{"show 1 --trial 9", exitAskedWrongly, "has no trial 9"},
		{"show 1 --trial 1 --format csv", exitAskedWrongly, "write text or json"},
		{"show --machine board-1 --format json", exitOK, `"machine": "board-1"`},
		{"show --machine board-1 --format csv", exitAskedWrongly, "write text or json"},
		{"show --machine nowhere", exitAskedWrongly, `there is no machine "nowhere"`},
	} {
		var out, problems bytes.Buffer
		getenv := func(name string) string {
			return map[string]string{"STOPWATT_DATABASE": database, "HOME": folder}[name]
		}
		status := run(context.Background(), strings.Fields(row.args), getenv, &out, &problems)
		if status != row.status || !strings.Contains(out.String()+problems.String(), row.says) {
			t.Errorf("%s: status %d\n%s%s", row.args, status, out.String(), problems.String())
		}
	}
}
