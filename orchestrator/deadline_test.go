package orchestrator_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unsafe"

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

// as is a time as it would have been read of a clock that was wrong by this much: the moment
// that it stands for, by the monotonic clock, is the same. Nothing in package time does that.
func as(t time.Time, wrong time.Duration) time.Time {
	const monotonic, ofSeconds = 1 << 63, 30 // of time.Time's first word: see its source
	first := (*uint64)(unsafe.Pointer(&t))
	if *first&monotonic == 0 {
		panic("it has no monotonic reading")
	}
	*first += uint64(int64(wrong/time.Second)) << ofSeconds
	return t
}

func TestAClockThatIsSetMovesNoDeadline(t *testing.T) {
	now := time.Now()
	if set := as(now, -time.Hour); set.Sub(now) != 0 || set.Equal(now.Add(time.Hour)) || now.Round(0).Sub(set.Round(0)) != time.Hour {
		t.Fatalf("%v is not %v by a clock that was an hour behind", set, now)
	}
	for name, wrong := range map[string]time.Duration{"back by a year": 365 * 24 * time.Hour, "forward by a year": -365 * 24 * time.Hour} {
		h := newHouse()
		o := order(suite(4, "go", "rust"))
		o.Deadline = as(time.Now().Add(time.Hour), wrong) // from before the clock was set
		run, err := h.run(t.Context(), o)
		if err != nil || run.Status != stopwatt.Finished || h.audience.ended != 8 || h.audience.stopped != 0 {
			t.Errorf("%s: %d trials, stopped %d times, error %v; want all 8 before the deadline", name, h.audience.ended, h.audience.stopped, err)
		}
		j := newJudging(map[string]float64{"go": .5})
		p := against("go")
		p.Deadline = as(time.Now().Add(time.Hour), wrong)
		if _, judgement, err := j.run(context.WithoutCancel(t.Context()), p); err != nil || judgement.Stopped != "" {
			t.Errorf("%s: stopped for %q, error %v", name, judgement.Stopped, err)
		}
		late := newHouse()
		o = order(suite(4, "go", "rust"))
		o.Deadline = as(time.Now().Add(-time.Hour), wrong)
		if _, err := late.run(t.Context(), o); err != nil || late.audience.stopped != 1 {
			t.Errorf("%s: with no time left it was stopped %d times, error %v", name, late.audience.stopped, err)
		}
	}
}
