package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// kept fills a database with a run that has all that can be stored of one, an
// aborted one, and one that has not ended.
func kept(t *testing.T, database string) {
	t.Helper()
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	begun := func(key string, run stopwatt.Run) int64 {
		run.Key, run.PlanKey = key, "plan "+key
		stored, _, err := store.Begin(t.Context(), run, false)
		if err != nil {
			t.Fatal(err)
		}
		return stored.ID
	}
	run := storagetest.OfMergeRequest()
	whole, aborted := begun("k-1", run), begun("k-2", storagetest.Run())
	begun("k-3", storagetest.Run())
	base, failed := storagetest.Trial(1, "go", "csv"), storagetest.Trial(2, "go", "csv")
	base.Revision, base.Position = stopwatt.Base, 2
	failed.Status, failed.Reason, failed.Attempt, failed.Latency = stopwatt.Invalid, "the server exited with 1", 1, nil
	parts := storagetest.Trial(3, "rust", "static")
	parts.Defines = []stopwatt.Metric{{Name: "score", Unit: "points", Better: stopwatt.More}}
	parts.Parts = []stopwatt.Part{{Case: stopwatt.Case{Implementation: "rust", Workload: "static/sort"},
		Measurements: []stopwatt.Measurement{{Metric: "score", Value: 7}}, Repetitions: []stopwatt.Repetitions{{Metric: "score", Values: []float64{6, 8}}}}}
	share := stopwatt.DriverShare{Workload: "csv", Started: run.Started, Window: stopwatt.Window{Start: 1, End: 5},
		Measurements: []stopwatt.Measurement{{Metric: "requests", Value: 1000}}, Absent: []stopwatt.Absence{{Metric: "cpu_driver", Reason: "not read"}}}
	later := storagetest.Judgement()
	later.Look, later.Wanted = 2, nil
	if err := errors.Join(
		store.SaveTrial(t.Context(), whole, storagetest.Trial(1, "go", "csv")), store.SaveTrial(t.Context(), whole, base),
		store.SaveTrial(t.Context(), whole, failed), store.SaveTrial(t.Context(), whole, parts), store.SaveTrial(t.Context(), aborted, failed),
		store.SaveIdle(t.Context(), whole, storagetest.Idle(stopwatt.IdleBefore)), store.SaveIdle(t.Context(), whole, storagetest.Idle(stopwatt.IdleAfter)),
		store.SaveDriverShare(t.Context(), whole, share),
		store.SaveSummaries(t.Context(), whole, []stopwatt.Summary{storagetest.Summary("go", "csv", "time", 5), storagetest.Summary("rust", "static/sort", "score", 7)}),
		store.SaveJudgement(t.Context(), whole, storagetest.Judgement()), store.SaveJudgement(t.Context(), whole, later),
		store.SaveCalibration(t.Context(), whole, storagetest.Calibration()),
		store.Finish(t.Context(), whole, stopwatt.Finished, run.Started.Add(time.Hour)),
		store.Finish(t.Context(), aborted, stopwatt.Aborted, run.Started.Add(2*time.Hour)),
	); err != nil {
		t.Fatal(err)
	}
}

// with runs stopwatt with a database and expects an exit status.
func with(t *testing.T, database string, want int, args ...string) (out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	getenv := func(name string) string { return map[string]string{"STOPWATT_DATABASE": database}[name] }
	if status := run(context.Background(), args, getenv, &stdout, &stderr); status != want {
		t.Fatalf("%v: status %d\n%s", args, status, stderr.String())
	}
	if want != exitOK {
		return stderr.String()
	}
	return stdout.String()
}

// rows counts what a database holds.
func rows(t *testing.T, database string) string {
	t.Helper()
	return with(t, database, exitOK, "sql", "--format", "csv",
		"select (select count(*) from runs) runs, (select count(*) from trials) trials, (select count(*) from stopwatt_store.samples) samples")
}

func TestWhatIsExportedAndImportedIsExportedTheSame(t *testing.T) {
	t.Parallel()
	from, into := embeddedtest.ForTest(t), embeddedtest.ForTest(t)
	kept(t, from)
	exported := with(t, from, exitOK, "export")
	if n := strings.Count(exported, `{"end":`); n != 2 {
		t.Fatalf("%d runs were exported", n)
	}
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := strings.Index(exported, `{"run":{"ID":0,"Key":"k-2"`)
	none := rows(t, into)
	for name, bad := range map[string]string{
		"cut":     exported[:second-20],
		"changed": strings.Replace(exported, `"Value":5.000000004`, `"Value":5.1`, 1),
		"hostile": strings.Replace(exported, `"Position":2`, `"Position":"two"`, 1),
	} {
		write(bad)
		if said := with(t, into, exitAskedWrongly, "import", file); !strings.Contains(said, "runs.jsonl:") || !strings.Contains(said, "copy or export the file again") {
			t.Errorf("%s: %s", name, said)
		}
		if got := rows(t, into); got != none {
			t.Errorf("%s: half a run was stored: %s", name, got)
		}
	}
	write(exported)
	if said := with(t, into, exitOK, "import", file); said != "run 4  web-servers on board-1, begun 2026-03-04 05:06:07\nrun 5  web-servers on board-1, begun 2026-03-04 05:06:07\n" &&
		(strings.Count(said, "\n") != 2 || strings.Contains(said, "stored before")) {
		t.Errorf("import: %s", said)
	}
	first := rows(t, into)
	if said := with(t, into, exitOK, "import", file); strings.Count(said, ", stored before\n") != 2 {
		t.Errorf("import again: %s", said)
	}
	if again := with(t, into, exitOK, "export"); again != exported || rows(t, into) != first {
		t.Errorf("exported again, it differs: %d and %d bytes\n%s", len(exported), len(again), firstDifference(exported, again))
	}
	if one := with(t, from, exitOK, "export", "2", "--since", "2026-03-04"); strings.Count(one, `{"end":`) != 1 {
		t.Errorf("of one run: %s", one)
	}
	for args, says := range map[string]string{
		"export 3":               "0 of the 1 runs that are asked for are stored and have ended",
		"export x":               `run "x" is no number`,
		"export --since a":       `--since "a": write a date`,
		"import no-such-file":    "no such file",
		"import main.go " + file: "some of the files are of stopwatt export and some are not",
	} {
		if said := with(t, from, exitAskedWrongly, strings.Fields(args)...); !strings.Contains(said, says) {
			t.Errorf("%s: %s", args, said)
		}
	}
}

// firstDifference is the line in which two texts begin to differ.
func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i][:min(len(as[i]), 3000)] + "\n" + bs[i][:min(len(bs[i]), 3000)]
		}
	}
	return ""
}

func TestPruneDropsSamplesAndHistogramsAlone(t *testing.T) {
	t.Parallel()
	database := embeddedtest.ForTest(t)
	kept(t, database)
	left := func() string {
		return with(t, database, exitOK, "sql", "--format", "csv", `select (select count(*) from stopwatt_store.samples) + (select count(*) from stopwatt_store.idle_samples)
			+ (select count(*) from stopwatt_store.histograms) as large, (select count(*) from measurements) m, (select count(*) from results) r, (select count(*) from repetitions) p`)
	}
	before := left()
	if said := with(t, database, exitOK, "prune", "--older-than", "2020-01-01"); !strings.HasPrefix(said, "would drop 0 rows of samples and 0 histograms of 0 runs, 0 bytes\n") {
		t.Errorf("older than everything: %s", said)
	}
	said := with(t, database, exitOK, "prune", "--older-than", "2026-03-05")
	if !strings.HasPrefix(said, "would drop 19 rows of samples and 3 histograms of 2 runs, ") || !strings.Contains(said, "\n--yes drops them; stopwatt export keeps a copy\n") || left() != before {
		t.Errorf("a dry run says %s, and leaves %s of %s", said, left(), before)
	}
	dropped := with(t, database, exitOK, "prune", "--older-than", "2026-03-05", "--yes")
	would, _, _ := strings.Cut(strings.TrimPrefix(said, "would drop "), "\n")
	if dropped != "dropped "+would+"\n" {
		t.Errorf("would drop %s, %s", would, dropped)
	}
	_, kept, _ := strings.Cut(strings.Split(before, "\n")[1], ",")
	if got := strings.Split(left(), "\n")[1]; got != "0,"+kept {
		t.Errorf("left %s, want 0,%s", got, kept)
	}
	for args, says := range map[string]string{"prune": "say how old: --older-than 180d", "prune --older-than old": `--older-than "old": write a date`} {
		if said := with(t, database, exitAskedWrongly, strings.Fields(args)...); !strings.Contains(said, says) {
			t.Errorf("%s: %s", args, said)
		}
	}
}
