package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// planned lists which trials were carried out, in their order.
func planned(orders []trial.Order) []stopwatt.PlannedTrial {
	var all []stopwatt.PlannedTrial
	for _, order := range orders {
		all = append(all, order.Planned)
	}
	return all
}

func TestARunMeasuresEveryCaseInEveryRoundAndSumsUp(t *testing.T) {
	h := newHouse()
	run, err := h.run(t.Context(), order(suite(4, "go", "rust")))
	if err != nil {
		t.Fatal(err)
	}
	counted := map[stopwatt.PlannedTrial]int{}
	for i, o := range h.bench.orders {
		counted[o.Planned]++
		if o.Position != i+1 || o.Warmup == 0 || o.Image.ID == "" || o.Workload.HTTP == nil {
			t.Errorf("order %d is %+v", i, o)
		}
	}
	for round := 1; round <= 4; round++ {
		for _, c := range suite(4, "go", "rust").Cases() {
			if counted[stopwatt.PlannedTrial{Round: round, Case: c, Revision: stopwatt.Head}] != 1 {
				t.Errorf("%s was not measured once in round %d", c, round)
			}
		}
	}
	results, err := h.store.Results(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if results.Run.Status != stopwatt.Finished || run.Status != stopwatt.Finished || results.Run.Planned != 8 {
		t.Errorf("the run is %s, planned %d", results.Run.Status, results.Run.Planned)
	}
	summary, ok := results.Cases[0].Summary("time")
	if !ok || summary.N != 4 || summary.Mean != 2.5 {
		t.Errorf("summary %+v", summary)
	}
	if h.audience.begun != 8 || h.audience.ended != 8 || h.audience.done != 0 {
		t.Errorf("the audience was told %+v", *h.audience)
	}
}

func TestAnInterruptedRunIsContinuedWithItsOwnOrder(t *testing.T) {
	whole := newHouse()
	if _, err := whole.run(t.Context(), order(suite(3, "go", "rust", "java"))); err != nil {
		t.Fatal(err)
	}
	for stopAt := 1; stopAt <= 9; stopAt++ {
		h := newHouse()
		ctx, interrupt := context.WithCancel(t.Context())
		h.bench.before = func(trial.Order) error {
			if len(h.bench.orders) == stopAt-1 {
				interrupt()
			}
			return nil
		}
		run, err := h.run(ctx, order(suite(3, "go", "rust", "java")))
		if !errors.Is(err, context.Canceled) || run.Status != stopwatt.Aborted {
			t.Fatalf("stopped at %d: error %v, status %s", stopAt, err, run.Status)
		}
		h.bench.before = nil
		again := order(suite(3, "go", "rust", "java"))
		again.Run.Seed = 8 // drawn anew by the command, not chosen by a person
		continued, err := h.run(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		if continued.ID != run.ID || continued.Seed != 7 || h.audience.done != stopAt-1 {
			t.Errorf("stopped at %d: continued run %d with seed %d after %d trials", stopAt, continued.ID, continued.Seed, h.audience.done)
		}
		if diff := cmp.Diff(planned(whole.bench.orders), planned(h.bench.orders)); diff != "" {
			t.Errorf("stopped at %d: the trials are not those of a whole run:\n%s", stopAt, diff)
		}
	}
}

func TestWhatDecidesThePlanBeginsAnotherRun(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(o *orchestrator.Order)
	}{
		{"another image", func(o *orchestrator.Order) { o.Run.Images["go"] = stopwatt.Image{ID: "sha256:2"} }},
		{"another commit", func(o *orchestrator.Order) { o.Run.Checkout.Commit.SHA = "beef" }},
		{"another setting", func(o *orchestrator.Order) { o.Run.Settings.Workloads[0].HTTP = &stopwatt.HTTP{Port: 81} }},
		{"a seed of the person's", func(o *orchestrator.Order) { o.SeedGiven = true }},
		{"--fresh", func(o *orchestrator.Order) { o.Fresh = true }},
	} {
		h := newHouse()
		h.bench.before = func(trial.Order) error {
			if len(h.bench.orders) == 1 {
				return errors.New("the power is gone")
			}
			return nil
		}
		first, _ := h.run(t.Context(), order(suite(2, "go", "rust")))
		h.bench.before = nil
		next := order(suite(2, "go", "rust"))
		row.change(&next)
		second, err := h.run(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		if second.ID == first.ID {
			t.Errorf("%s: the unfinished run was continued", row.what)
		}
	}
}

func TestACaseThatFailsThreeTimesIsNotTriedAgain(t *testing.T) {
	h := newHouse()
	run, err := h.run(t.Context(), order(suite(6, "go", "broken")))
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]int{}
	for _, o := range h.bench.orders {
		tried[o.Implementation.Name]++
	}
	if tried["go"] != 6 || tried["broken"] != 3 {
		t.Errorf("tried %v, want go 6 times and broken 3 times", tried)
	}
	results, err := h.store.Results(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results.Cases {
		if result.Case.Implementation != "broken" {
			continue
		}
		if result.Invalid != 6 || result.Valid != 0 || !strings.Contains(result.Reasons[0].Reason, "exited with 1") {
			t.Errorf("broken: %+v", result)
		}
	}
}

func TestEveryCallOfTheDatabaseMayFailAndFinishedTrialsAreKept(t *testing.T) {
	failing := errors.New("the database says no")
	for _, method := range []string{"Begin", "SaveTrial", "Trials", "SaveSummaries", "Finish"} {
		h := newHouse()
		calls := 0
		h.store.Fail = func(name string) error {
			if name != method {
				return nil
			}
			if calls++; method == "SaveTrial" && calls < 3 {
				return nil
			}
			return failing
		}
		run, err := h.run(t.Context(), order(suite(2, "go", "rust")))
		if !errors.Is(err, failing) {
			t.Errorf("%s fails: error %v", method, err)
		}
		h.store.Fail = nil
		if method == "Begin" {
			continue
		}
		trials, err := h.store.Trials(t.Context(), run.ID)
		want := map[string]int{"SaveTrial": 2}[method]
		if want == 0 {
			want = 4
		}
		if err != nil || len(trials) != want {
			t.Errorf("%s fails: %d trials are kept, want %d (%v)", method, len(trials), want, err)
		}
	}
}

func TestAnEngineThatIsGoneEndsTheRun(t *testing.T) {
	h := newHouse()
	h.bench.before = func(trial.Order) error { return fmt.Errorf("start: %w", stopwatt.ErrUnreachable) }
	run, err := h.run(t.Context(), order(suite(2, "go")))
	if !errors.Is(err, stopwatt.ErrUnreachable) || run.Status != stopwatt.Aborted {
		t.Errorf("error %v, status %s", err, run.Status)
	}
}
