package main

import (
	"bytes"
	"context"
	"fmt"
	"github.com/google/go-cmp/cmp"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// remembered fills a database with a run for each of these commits: go takes a
// tenth more from the 31st on, rust stays.
func remembered(t *testing.T, database string, commits []string) {
	t.Helper()
	rememberedAs(t, database, "", commits)
}

// rememberedAs does so with runs of a profile.
func rememberedAs(t *testing.T, database, profile string, commits []string) {
	t.Helper()
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	noise := rand.New(rand.NewPCG(1, 1))
	for i, sha := range commits {
		run := storagetest.Run()
		run.Key, run.PlanKey, run.Profile = fmt.Sprint(profile, "k", i), fmt.Sprint(profile, "p", i), profile
		run.Checkout.Dirty, run.Checkout.Commit = false, stopwatt.Commit{SHA: sha, Time: time.Unix(int64(1e9+i), 0).UTC()}
		stored, _, err := store.Begin(t.Context(), run, true)
		if err != nil {
			t.Fatal(err)
		}
		var summaries []stopwatt.Summary
		for _, name := range []string{"go", "rust"} {
			mean := 1 + 0.01*noise.NormFloat64()
			if name == "go" && i >= 30 {
				mean *= 1.1
			}
			summaries = append(summaries, stopwatt.Summary{Case: stopwatt.Case{Implementation: name, Workload: "static"}, Revision: stopwatt.Head,
				Metric: "time", N: 3, Mean: mean, Median: mean, Min: mean, Max: mean})
		}
		if err := store.SaveSummaries(t.Context(), stored.ID, summaries); err != nil {
			t.Fatal(err)
		}
		if err := store.Finish(t.Context(), stored.ID, stopwatt.Finished, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// grownRepository is a repository with so many commits on its main branch.
func grownRepository(t *testing.T, n int) (folder string, commits []string) {
	t.Helper()
	return sayingRepository(t, n, nil)
}

// sayingRepository is one whose commits of some numbers say more in their messages.
func sayingRepository(t *testing.T, n int, says map[int]string) (folder string, commits []string) {
	t.Helper()
	folder = t.TempDir()
	git := func(args ...string) string {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	for i := range n {
		git("commit", "-q", "--allow-empty", "-m", fmt.Sprint("change ", i, says[i]))
		commits = append(commits, git("rev-parse", "HEAD"))
	}
	return folder, commits
}

func TestHistoryNamesTheCommitThatChangedAMetric(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 50)
	stray := strings.Repeat("f", 40)
	remembered(t, database, append(append([]string{}, commits[:45]...), stray))
	t.Chdir(folder)
	ask := func(args ...string) string {
		t.Helper()
		var out, problems bytes.Buffer
		getenv := func(name string) string {
			return map[string]string{"STOPWATT_DATABASE": database, "HOME": folder}[name]
		}
		if status := run(context.Background(), append([]string{"history"}, args...), getenv, &out, &problems); status != exitOK {
			t.Fatalf("history %v: status %d\n%s", args, status, problems.String())
		}
		return out.String()
	}
	for _, row := range []struct {
		args []string
		has  []string
		not  string
	}{
		{nil, []string{"go/static", "rust/static", " % " + commits[30][:8], "1 measured commit that the default branch does not hold"}, ""},
		{[]string{"--changes"}, []string{"confirmed  go/static time  +", "since " + commits[30][:8], "board-1"}, "rust/static"},
		{[]string{"--changes", "--case", "rust/*"}, []string{"no change found in 1 series"}, "go/static"},
		{[]string{"--changes", "--metric", "time", "--against", "go"}, []string{"rust/static time ÷ go"}, "seriess"},
		{[]string{"--against", "rust", "--changes"}, []string{"go/static time ÷ rust"}, ""},
		{[]string{"--changes", commits[20] + ".." + commits[35]}, []string{"since " + commits[30][:8], commits[30][:8] + "  ", "a: change 30", "searched: all."}, ""},
		{[]string{"--changes", commits[35] + "..HEAD"}, []string{"no change found in 2 series"}, "since"},
		{[]string{commits[40] + ".."}, []string{"1.08 s        4  "}, ""},
		{[]string{"--since", "2001-01-01", "--until", "2001-12-31", "--changes"}, []string{"since " + commits[30][:8]}, ""},
		{[]string{"--since", "30d"}, []string{"nothing was measured of the default branch there"}, ""},
		{[]string{"--implementations", commits[28] + ".." + commits[32]}, []string{"static · time · board-1", commits[32][:8] + "  ", "go    rust"}, commits[28][:8] + "  "},
		{[]string{"--implementations", "--format", "svg"}, []string{"<svg ", "</svg>", "confirmed go"}, ""},
		{[]string{"--at", commits[48]}, []string{"as of " + commits[48], "commit " + commits[44][:8], "measured 4 commits before it"}, ""},
		{[]string{"--at", commits[10], "--metric", "time"}, []string{"commit " + commits[10][:8]}, "before it"},
		{[]string{"--at", "1d"}, []string{"as of 1d: commit " + commits[44][:8]}, ""},
		{[]string{"--machine", "board-*", "--implementation", "g?", "--workload", "static"}, []string{"go/static"}, "rust/static"},
		{[]string{"--changes", "--format", "csv"}, []string{"confirmed,," + commits[30], ",a,a,change 30,"}, "rust"},
		{[]string{"--format", "json"}, []string{`"author": "a"`}, ""},
		{[]string{"--format", "json"}, []string{`"first": "` + commits[30] + `"`, `"state": "confirmed"`}, stray},
		{[]string{"--format", "csv"}, []string{"go,static,time,s,,board-1,"}, stray},
	} {
		got := ask(row.args...)
		for _, want := range row.has {
			if !strings.Contains(strings.ReplaceAll(got, "\n  ", " "), want) {
				t.Errorf("history %v lacks %q:\n%s", row.args, want, got)
			}
		}
		if row.not != "" && strings.Contains(got, row.not) {
			t.Errorf("history %v holds %q:\n%s", row.args, row.not, got)
		}
	}
}

func TestARunOfTheDefaultBranchTellsAChangeOnce(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 45)
	remembered(t, database, commits)
	t.Chdir(folder)
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
	d := desk{getenv: func(string) string { return "" }}
	for _, want := range []int{1, 0} {
		news, _, err := d.enterHistory(t.Context(), store, results.Run)
		if err != nil {
			t.Fatal(err)
		}
		if len(news) != want {
			t.Fatalf("%d metrics have news, want %d: %+v", len(news), want, news)
		}
		if want == 1 && (len(news[0].Traced) != 1 || news[0].Traced[0].Series.Case.Implementation != "go") {
			t.Errorf("news of %+v", news[0].Traced)
		}
	}
	answer, err := store.Query(t.Context(), "select implementation, metric, state from changes", 0)
	if err != nil || len(answer.Rows) != 1 {
		t.Errorf("%v, %v", answer.Rows, err)
	}
	results.Run.Checkout.Dirty = true
	if news, _, err := d.enterHistory(t.Context(), store, results.Run); len(news) != 0 || err != nil {
		t.Errorf("a dirty run entered history: %v, %v", news, err)
	}
}

func TestHistoryRefusesNamesThatOccurNowhere(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 2)
	remembered(t, database, commits)
	t.Chdir(folder)
	for _, row := range []struct{ args, says string }{
		{"--against java", `--against "java": there is no such implementation; there are go, rust`},
		{"--profile none", `with the profile "none"`},
		{"--metric none", `there is no metric "none"`},
		{"--case java/*", "no case of the stored history matches"},
		{"--format xml", "write text, csv, json or svg"},
		{"--machine desk", `--machine "desk": nothing was measured there; machines are board-1`},
		{"--again twice", `--again "twice": write pool or latest`},
		{"--since yesterday", `--since "yesterday": write a date`},
		{"--at nowhere", `--at "nowhere": no commit`},
		{"--at 2000-01-01", "nothing was measured of the default branch until then"},
		{"HEAD", `"HEAD" is no range of commits`},
		{"HEAD..HEAD~1", "holds no commit"},
		{"--case [", "is malformed"},
		{"--changes --implementations", "ask for one of them"},
		{"--changes --format svg", "the chart marks the change points"},
		{"--at HEAD --changes", "it goes without --changes"},
	} {
		var out, problems bytes.Buffer
		getenv := func(name string) string {
			return map[string]string{"STOPWATT_DATABASE": database, "HOME": folder}[name]
		}
		status := run(context.Background(), append([]string{"history"}, strings.Fields(row.args)...), getenv, &out, &problems)
		if status != exitAskedWrongly || !strings.Contains(problems.String(), row.says) {
			t.Errorf("history %s: status %d, %q", row.args, status, problems.String())
		}
	}
}

func TestHistoryNamesWhoMergedTheCommitThatChangedAMetric(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, _ := grownRepository(t, 30)
	git := func(args ...string) {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("checkout", "-q", "-b", "arena")
	git("commit", "-q", "--allow-empty", "--author", "Bob <bob@example.org>", "-m", "validate every line")
	git("checkout", "-q", "main")
	git("merge", "-q", "--no-ff", "arena", "-m", "Merge branch 'arena' into 'main'\n\nSee merge request team/servers!212")
	for i := range 15 {
		git("commit", "-q", "--allow-empty", "-m", fmt.Sprint("later ", i))
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", folder, "rev-list", "--first-parent", "--reverse", "main").Output()
	if err != nil {
		t.Fatal(err)
	}
	commits := strings.Fields(string(out))
	remembered(t, database, commits)
	t.Chdir(folder)
	for _, row := range []struct{ where, says string }{
		{folder, commits[30][:8] + "  "}, {folder, "merged by Ada: Merge branch 'arena' into 'main' (!212); of Bob: validate every line"},
		{t.TempDir(), "since " + commits[30][:8]}, // no checkout of it
	} {
		t.Chdir(row.where)
		var out, problems bytes.Buffer
		getenv := func(name string) string {
			return map[string]string{"STOPWATT_DATABASE": database, "HOME": folder}[name]
		}
		if status := run(context.Background(), []string{"history", "--changes"}, getenv, &out, &problems); status != exitOK {
			t.Fatalf("status %d\n%s", status, problems.String())
		}
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(row.says), " ")) {
			t.Errorf("history --changes lacks %q:\n%s", row.says, out.String())
		}
	}
}

func TestAMomentIsADateOrSoLongAgo(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	for _, row := range []struct {
		text string
		want time.Time
	}{
		{"2026-11-01", time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local)},
		{"2026-11-01T14:30", time.Date(2026, 11, 1, 14, 30, 0, 0, time.Local)},
		{"2026-11-01T14:30:00Z", time.Date(2026, 11, 1, 14, 30, 0, 0, time.UTC)},
		{"12h", now.Add(-12 * time.Hour)},
		{"30d", now.AddDate(0, 0, -30)},
		{"2w", now.AddDate(0, 0, -14)},
	} {
		if got, err := momentOf(row.text, now); err != nil || !got.Equal(row.want) {
			t.Errorf("%s is %v, want %v (%v)", row.text, got, row.want, err)
		}
	}
	for _, text := range []string{"", "d", "30", "-3d", "2026-13-01", "last week", "9999999d"} {
		if got, err := momentOf(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestCommitsThatAShallowCloneDoesNotShowStandInFrontOfItsOwn(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }
	all := []stopwatt.Series{{Points: []stopwatt.SeriesPoint{
		{SHA: "c", Time: at(3)}, {SHA: "a", Time: at(1)}, {SHA: "b", Time: at(2)}, {SHA: "d", Time: at(4)}, {SHA: "elsewhere", Time: at(5)},
	}}}
	places := map[string]int{"c": 1, "unmeasured": 2, "d": 3} // of the clone, which begins with c
	beforeTheEdge(places, all)
	want := map[string]int{"a": 1, "b": 2, "c": 3, "unmeasured": 4, "d": 5}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}
