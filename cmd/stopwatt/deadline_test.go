package main

import (
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAJobsDeadlineHangsOnTheClockOnlyWhereItBegins(t *testing.T) {
	t.Parallel()
	now := time.Now()
	job := stopwatt.Job{Started: now.Add(-10 * time.Minute).Round(0), Timeout: time.Hour}
	got := deadline(job, now)
	if left := got.Sub(now).Round(time.Second); left != 50*time.Minute-afterMeasuring {
		t.Errorf("%v are left; want 50 minutes but for what comes after measuring", left)
	}
	if got == got.Round(0) {
		t.Error("it has no monotonic reading: a clock that is set would move it")
	}
	for name, job := range map[string]stopwatt.Job{"no limit": {Started: now}, "nobody knows since when": {Timeout: time.Hour}} {
		if got := deadline(job, now); !got.IsZero() {
			t.Errorf("%s: %v", name, got)
		}
	}
}
