package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// failing has the engine fail the trials of these numbers, counted from 1, and counts how
// often it was waited for.
func (h *house) failing(why error, numbers ...int) (recovered *int) {
	recovered = new(int)
	n := 0
	h.bench.before = func(trial.Order) error {
		if n++; slices.Contains(numbers, n) {
			return fmt.Errorf("start the server: %w", why)
		}
		return nil
	}
	h.recover = func(context.Context, stopwatt.Run) error { *recovered++; return nil }
	return recovered
}

// states are the trials of a run: + valid, - invalid, in their order.
func (h *house) states(t *testing.T, run stopwatt.Run) string {
	t.Helper()
	trials, err := h.store.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(trials, func(a, b stopwatt.Trial) int { return a.Position - b.Position })
	said := ""
	for _, one := range trials {
		switch {
		case one.Status == stopwatt.Valid:
			said += "+"
		case strings.Contains(one.Reason, "start the server: ") && !one.Started.IsZero():
			said += "-"
		default:
			t.Errorf("trial %d: %+v", one.Position, one)
		}
	}
	return said
}

func TestAnEngineThatComesBackCostsTheTrialInWhichItFailed(t *testing.T) {
	for name, test := range map[string]struct {
		why     error
		numbers []int
		want    string
	}{
		"it was restarted":                {stopwatt.ErrUnreachable, []int{3}, "++-+++++"},
		"it did not answer":               {stopwatt.ErrStuck, []int{8}, "+++++++-"},
		"twice in a row":                  {stopwatt.ErrUnreachable, []int{1, 2}, "--++++++"},
		"twice in a row, again and again": {stopwatt.ErrStuck, []int{1, 2, 4, 5, 7, 8}, "--+--+--"},
		"every other trial":               {stopwatt.ErrUnreachable, []int{2, 4}, "+-+-++++"},
	} {
		h := newHouse()
		recovered := h.failing(test.why, test.numbers...)
		run, err := h.run(t.Context(), order(suite(4, "go", "rust")))
		if err != nil || run.Status != stopwatt.Finished {
			t.Errorf("%s: error %v, status %s", name, err, run.Status)
		}
		if got := h.states(t, run); got != test.want {
			t.Errorf("%s: the trials are %s, want %s", name, got, test.want)
		}
		if *recovered != len(test.numbers) {
			t.Errorf("%s: the engine was waited for %d times", name, *recovered)
		}
	}
}

func TestAnEngineThatFailsThreeTrialsInARowEndsTheRunWhichGoesOnLater(t *testing.T) {
	h := newHouse()
	h.failing(stopwatt.ErrStuck, 3, 4, 5)
	run, err := h.run(t.Context(), order(suite(4, "go", "rust")))
	if !errors.Is(err, stopwatt.ErrStuck) || !strings.Contains(err.Error(), "the engine failed 3 trials in a row: start the server: ") || run.Status != stopwatt.Aborted {
		t.Errorf("error %v, status %s", err, run.Status)
	}
	if got := h.states(t, run); got != "++--" {
		t.Errorf("the trials are %s", got)
	}
	h.failing(nil)
	again, err := h.run(t.Context(), order(suite(4, "go", "rust")))
	if err != nil || again.ID != run.ID {
		t.Errorf("run %d, error %v; want that run %d goes on", again.ID, err, run.ID)
	}
	if got := h.states(t, again); got != "++--++++" {
		t.Errorf("the trials are %s", got)
	}
}

func TestAnEngineThatDoesNotComeBackEndsTheRunAndItsTrialIsMeasuredLater(t *testing.T) {
	h := newHouse()
	h.failing(stopwatt.ErrUnreachable, 3)
	away := errors.New("not back within a minute")
	h.recover = func(context.Context, stopwatt.Run) error { return away }
	run, err := h.run(t.Context(), order(suite(4, "go", "rust")))
	if !errors.Is(err, stopwatt.ErrUnreachable) || !errors.Is(err, away) || run.Status != stopwatt.Aborted {
		t.Errorf("error %v, status %s", err, run.Status)
	}
	h.failing(nil)
	if again, err := h.run(t.Context(), order(suite(4, "go", "rust"))); err != nil || h.states(t, again) != "++++++++" {
		t.Errorf("the trials are %s, error %v", h.states(t, again), err)
	}
}

func TestAPairInWhichTheEngineFailedIsMeasuredAgain(t *testing.T) {
	whole := newJudging(map[string]float64{"go": .5})
	if _, _, err := whole.run(t.Context(), against("go")); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(whole.bench.orders); n++ {
		j := newJudging(map[string]float64{"go": .5})
		before, asked := j.bench.before, 0
		j.bench.before = func(p stopwatt.PlannedTrial) error {
			if asked++; asked == n {
				return fmt.Errorf("start the server: %w", stopwatt.ErrUnreachable)
			}
			if before != nil {
				return before(p)
			}
			return nil
		}
		j.recover = func(context.Context, stopwatt.Run) error { return nil }
		_, judgement, err := j.run(t.Context(), against("go"))
		if err != nil || judgement.Count(stopwatt.Regressed) != 1 || !judgement.Over() {
			t.Errorf("the engine fails in trial %d: error %v, judgement %+v", n, err, judgement)
		}
	}
}
