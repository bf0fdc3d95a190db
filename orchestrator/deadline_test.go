package orchestrator_test

import (
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestARunEndsWithTheLastRoundThatItsJobHasTimeFor(t *testing.T) {
	h := newHouse()
	o := order(suite(4, "go", "rust"))
	o.Deadline = time.Now().Add(-time.Hour) // every round is one too many, but for the first
	run, err := h.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if run.Status != stopwatt.Finished || h.audience.ended != 2 || h.audience.stopped != 1 {
		t.Errorf("the run is %s after %d trials, and was said to stop %d times; want finished after the 2 of round 1, once", run.Status, h.audience.ended, h.audience.stopped)
	}
}

func TestAComparisonThatItsJobHasNoTimeForIsUndecidedAndSaysWhy(t *testing.T) {
	j := newJudging(map[string]float64{"go": .5})
	o := against("go")
	o.Deadline = time.Now().Add(-time.Hour)
	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(j.bench.orders); n != 2 {
		t.Errorf("%d trials, want those of round 1", n)
	}
	if !judgement.Over() || judgement.Count(stopwatt.Regressed) > 0 || !strings.Contains(judgement.Stopped, "and the job has 0s left") {
		t.Errorf("the judgement is %+v", judgement)
	}
}

func TestARunWithTimeToSpareIsCarriedOutWhole(t *testing.T) {
	j := newJudging(map[string]float64{"go": .5})
	o := against("go")
	o.Deadline = time.Now().Add(time.Hour)
	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if judgement.Stopped != "" || judgement.Count(stopwatt.Regressed) != 1 {
		t.Errorf("stopped %q with %d regressed", judgement.Stopped, judgement.Count(stopwatt.Regressed))
	}
}
