package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// judgedSuite is judged by the default thresholds, after one look.
const judgedSuite = `suite: judged
implementations: {same: {build: same}, quicker: {build: quicker}}
workloads:
  hello: {http: {port: 8080, request: {path: /}}, load: {users: 1, requests: 20}}
plan: {rounds: 12, warmup: 0s, settle: 0s, null-server: false}
`

// TestWhatIsTheSameIsNotWorse measures a server against itself, and beside it one
// that no longer spins for 3 ms before each answer.
//
// The first may be called regressed by chance: at one look as often as a suspicion,
// 5 % of runs at most, is confirmed, at 5 %. So it is measured once more if it is, and
// only twice in a row, once in 160,000 runs, is a fault. The other becomes quicker some
// ten times over, which no disturbance of twelve pairs hides.
func TestWhatIsTheSameIsNotWorse(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	folder, programs := openFolder(t), buildPrograms(t)
	commitJudged(t, folder, programs)

	judgement := judgedLive(t, folder, programs)
	for _, c := range judgement.Comparisons {
		if c.Case.Implementation == "quicker" && c.Verdict != stopwatt.Improved {
			t.Errorf("%s, %s is %s, want improved: %+v", c.Case, c.Metric.Name, c.Verdict, c.Estimate.Ratio)
		}
	}
	if sameIsWorse(t, judgement) && sameIsWorse(t, judgedLive(t, folder, programs, "--case", "same/*")) {
		t.Error("what is the same is called worse, twice in a row")
	}
}

// commitJudged makes a checkout with a base, in which a server spins, and a head.
func commitJudged(t *testing.T, folder, programs string) {
	t.Helper()
	for _, name := range []string{"same", "quicker"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := installServer(filepath.Join(folder, name), programs); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "stopwatt.yml"), []byte(judgedSuite), 0o644); err != nil {
		t.Fatal(err)
	}
	dockerfile := filepath.Join(folder, "quicker", "Dockerfile")
	quick, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	commitAll(t, folder, dockerfile, append(quick, "ENV MODE=spins\n"...))
	commitAll(t, folder, dockerfile, quick)
}

// commitAll writes a file, and commits it with all that the checkout is made of.
func commitAll(t *testing.T, folder, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "same", "quicker", "stopwatt.yml"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "what is judged"},
	} {
		git := exec.Command("git", args...)
		git.Dir = folder
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
}

// judgedLive measures the head against the base, identical cases too, and returns what
// was said.
func judgedLive(t *testing.T, folder, programs string, args ...string) stopwatt.Judgement {
	t.Helper()
	database := embeddedtest.ForTest(t)
	command := installed(t, folder, programs, database, append([]string{"run", "--against", "HEAD~1", "--all"}, args...)...)
	out, err := command.CombinedOutput()
	if status := command.ProcessState.ExitCode(); status != 0 && status != exitRegressed {
		t.Fatalf("%v\n%s", err, out)
	}
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	judgement, err := store.Judgement(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return judgement
}

// sameIsWorse tells whether the server that is the same is called regressed by any
// metric. It must have been measured.
func sameIsWorse(t *testing.T, judgement stopwatt.Judgement) (worse bool) {
	t.Helper()
	metrics := 0
	for _, c := range judgement.Comparisons {
		if c.Case.Implementation != "same" {
			continue
		}
		if metrics++; len(c.Steps) == 0 || c.Estimate.N < 10 {
			t.Errorf("%s, %s has only %d pairs: %s, %v", c.Case, c.Metric.Name, c.Estimate.N, c.Verdict, c.Doubts)
		}
		if c.Verdict == stopwatt.Regressed {
			t.Logf("%s, %s is called regressed: %+v", c.Case, c.Metric.Name, c.Steps)
			worse = true
		}
	}
	if metrics != 2 {
		t.Errorf("what is the same is judged by %d metrics, want 2", metrics)
	}
	return worse
}
