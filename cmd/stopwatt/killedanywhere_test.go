package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
)

// smallOrder is a run of two cases in two rounds, or one case and its base in as few as
// can be judged.
func smallOrder(withBase bool) orchestrator.Order {
	suite := stopwatt.Suite{
		Name: "servers", Baseline: "one",
		Implementations: []stopwatt.Implementation{{Name: "one", Image: "one"}, {Name: "two", Image: "two"}},
		Workloads:       []stopwatt.Workload{{Name: "hello", HTTP: &stopwatt.HTTP{Port: 80}}},
		Plan:            stopwatt.PlanSettings{Rounds: 2, MinRounds: 2, WithoutNullServer: true},
		Judge:           stopwatt.Judge{Metrics: []stopwatt.Threshold{{Metric: "time", Relative: 0.03}}},
	}
	images := map[string]stopwatt.Image{"one": {ID: "sha256:1"}, "two": {ID: "sha256:2"}}
	order := orchestrator.Order{
		Cases: suite.Cases(),
		Run: stopwatt.Run{
			Suite: suite.Name, Project: "team/servers", Baseline: "one", Seed: 7, Rounds: suite.Plan.Rounds, Settings: suite, Images: images,
			Machine: stopwatt.Machine{Name: "bench", Identity: stopwatt.MachineIdentity{ID: "1"}},
		},
	}
	if withBase {
		order.Run.Against.Commit.SHA, order.Run.BaseImages = "1f3c9a2e", map[string]stopwatt.Image{"one": {ID: "sha256:3"}, "two": {ID: "sha256:4"}}
		order.Comparing = &orchestrator.Comparing{Pairs: order.Cases[:1], Alone: order.Cases[1:]}
	}
	return order
}

// newOutside is one on which nothing has happened.
func newOutside(t *testing.T) *outside {
	return &outside{
		engine: map[string]bool{"strange": true}, strange: "strange", folder: filepath.Join(t.TempDir(), "spool"),
		drives: map[stopwatt.PlannedTrial]int{}, buried: make(chan struct{}),
	}
}

// until carries a command out until it ends or dies.
func (o *outside) until(order orchestrator.Order) (finished bool, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		finished, err = o.command(order)
	}()
	select {
	case <-ended:
		return finished, err
	case <-o.dead:
		return false, nil
	}
}

// newDisk is the spool as the dead left it, where their lock went with them: it stays
// with this process, which lives.
func (o *outside) newDisk(t *testing.T) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "spool")
	if _, err := os.Stat(o.folder); err != nil {
		return
	}
	if err := os.CopyFS(copied, os.DirFS(o.folder)); err != nil {
		t.Fatal(err)
	}
	o.folder = copied
}

func TestARunSurvivesTroubleAtEachCallThatItMakesOutside(t *testing.T) {
	t.Parallel()
	for _, withBase := range []bool{false, true} {
		kind := map[bool]string{false: "plain", true: "with a base"}[withBase]
		for _, meets := range []trouble{fails, hangs, comesToNone, isNotHeard, lostAnswer} {
			t.Run(kind+", "+string(meets), func(t *testing.T) {
				t.Parallel()
				whole := newOutside(t)
				whole.reborn(0, none)
				if finished, err := whole.until(smallOrder(withBase)); !finished {
					t.Fatalf("without trouble it ends with %v", err)
				}
				for n := 1; n <= len(whole.calls); n++ {
					synctest.Test(t, func(t *testing.T) { survives(t, smallOrder(withBase), n, meets, len(whole.drives)) })
				}
			})
		}
	}
}

// survives lets a run meet with trouble at its n-th call, and gives the same command again until
// the run is finished.
func survives(t *testing.T, order orchestrator.Order, n int, meets trouble, planned int) {
	o := newOutside(t)
	defer close(o.buried)
	o.reborn(n, meets)
	finished, _ := o.until(order)
	at := fmt.Sprintf("call %d, %s, %s", n, o.calls[min(n, len(o.calls))-1], meets)
	o.mu.Lock()
	killed := slices.Contains([]trouble{comesToNone, isNotHeard}, meets)
	o.mu.Unlock()
	if killed {
		o.newDisk(t)
	}
	for again := 1; !finished; again++ {
		if again > 2 {
			t.Fatalf("%s: the same command does not complete the run", at)
		}
		o.reborn(0, none)
		finished, _ = o.until(order)
	}
	lost := 0 // trials that were driven twice: one that was being kept while it was killed
	for _, times := range o.drives {
		lost += times - 1
	}
	if lost > 0 && !(killed && lost == 1) {
		t.Errorf("%s: finished trials were lost: %d were measured again", at, lost)
	}
	o.reborn(0, none)
	if finished, err := o.until(order); !finished { // the next command that opens the database
		t.Errorf("%s: then %v", at, err)
	}
	o.whole(t, at, planned)
}

// whole checks that all was stored once, and nothing was left.
func (o *outside) whole(t *testing.T, at string, planned int) {
	t.Helper()
	trials, err := o.memory.Trials(t.Context(), 1)
	if err != nil || len(trials) != planned {
		t.Errorf("%s: %d trials of %d are stored, error %v", at, len(trials), planned, err)
	}
	if _, err := o.memory.Trials(t.Context(), 2); err == nil {
		t.Errorf("%s: a second run was begun", at)
	}
	results, err := o.memory.Results(t.Context(), 1)
	if err != nil || results.Run.Status != stopwatt.Finished || len(results.Cases) == 0 || len(results.Cases[0].Summaries) == 0 {
		t.Errorf("%s: status %s, results %v, error %v", at, results.Run.Status, results.Cases, err)
	}
	if len(o.engine) != 1 || !o.engine["strange"] {
		t.Errorf("%s: containers %v are there", at, o.engine)
	}
	left, err := filepath.Glob(filepath.Join(o.folder, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%s: %v are left in the spool, error %v", at, left, err)
	}
}
