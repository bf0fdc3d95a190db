package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter"
)

// verdictText says what a run with a base could tell of a change.
func (d *desk) verdictText(ctx context.Context, planned plannedRun) string {
	suite := planned.file.suite
	procedure := stopwatt.Adaptive(suite.Plan.MinRounds, suite.Plan.Rounds)
	family := comparisonsOf(suite, judgedCases(suite, planned.cases))
	if !procedure.Reachable(family) {
		return fmt.Sprintf("none with --against: %s judged together take %d rounds", plural(family, "comparison"), procedure.Reach(family))
	}
	return fmt.Sprintf("with --against: looks after %s, %s together; %s", roundsOf(procedure), plural(family, "comparison"), d.calibratedText(ctx, planned))
}

// comparisonsOf is how many comparisons so many cases are judged by.
func comparisonsOf(suite stopwatt.Suite, cases int) int {
	metrics := len(suite.Judge.Metrics)
	if metrics == 0 {
		metrics = len(stopwatt.DefaultThresholds(stopwatt.Workload{}, nil))
	}
	return cases * metrics
}

// calibratedText says how small a change this machine is known to see.
func (d *desk) calibratedText(ctx context.Context, planned plannedRun) string {
	const never = "this machine was not calibrated for it (stopwatt calibrate)"
	if !d.remembers() {
		return never
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return never
	}
	defer release()
	run := stopwatt.Run{Project: planned.checkout.project, Suite: planned.file.suite.Name, Machine: meter.Host{}.Machine()}
	calibration, err := knownCalibration(ctx, store, run)
	least := leastSeen(calibration)
	if err != nil || least == 0 {
		return never
	}
	return fmt.Sprintf("it can tell from %.1f %% up (calibrated %s ago)", 100*least, duration(time.Since(calibration.Taken).Round(time.Minute)))
}

// leastSeen is the smallest change that some case could show; 0 when none is known.
func leastSeen(calibration stopwatt.Calibration) float64 {
	least := math.Inf(1)
	for _, one := range calibration.Cases {
		if one.Smallest > 0 {
			least = min(least, one.Smallest)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}
