package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

const (
	// shareWindow is how long the driver is measured by itself at most: at 25
	// renewals a second an energy meter has the 50 that it needs.
	shareWindow = 2 * time.Second
	// shareWarmup is enough for a server that has nothing to warm up.
	shareWarmup = 500 * time.Millisecond
)

// driverShares measures what the driver takes by itself under each of the run's
// loads, those left out that were measured before the run was interrupted.
func (o Orchestrator) driverShares(ctx context.Context, run *stopwatt.Run, order Order) error {
	workloads := shared(order)
	if len(workloads) == 0 {
		return nil
	}
	bench := o.Bench(*run)
	for _, workload := range workloads {
		known := func(s stopwatt.DriverShare) bool { return s.Workload == workload.Name }
		if slices.ContainsFunc(run.DriverShares, known) {
			continue
		}
		share, err := o.driverShare(ctx, bench, *run, workload)
		if err != nil {
			return err
		}
		run.DriverShares = append(run.DriverShares, share)
		o.Audience.DriverShare(share)
	}
	return nil
}

// shared are the workloads of which the driver's share is measured: those that
// our driver drives, over a port and in plain text, for that is what the null
// server speaks. Where the highest rate is searched, there is no load to repeat.
func shared(order Order) []stopwatt.Workload {
	if order.Run.Settings.Plan.WithoutNullServer || order.Comparing != nil && order.Comparing.Calibrating {
		return nil
	}
	var workloads []stopwatt.Workload
	for _, workload := range order.Run.Settings.Workloads {
		chosen := func(c stopwatt.Case) bool { return c.Workload == workload.Name }
		http, load := workload.HTTP, workload.Load
		if http == nil || http.Socket != "" || http.TLS != nil || load.Tool != nil || load.Find != nil || !slices.ContainsFunc(order.Cases, chosen) {
			continue
		}
		workloads = append(workloads, workload)
	}
	return workloads
}

// driverShare measures one, and keeps it.
func (o Orchestrator) driverShare(ctx context.Context, bench Trials, run stopwatt.Run, workload stopwatt.Workload) (stopwatt.DriverShare, error) {
	result, err := o.attempt(ctx, bench, run, shareOrder(run, workload))
	if err != nil {
		return stopwatt.DriverShare{}, fmt.Errorf("measure the driver by itself under %s: %w", workload.Name, err)
	}
	share := stopwatt.DriverShareOf(result)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	if err := o.Store.SaveDriverShare(ctx, run.ID, share); err != nil {
		return stopwatt.DriverShare{}, fmt.Errorf("save what the driver takes by itself under %s: %w", workload.Name, err)
	}
	return share, nil
}

// shareOrder is a trial of the null server under the load of a workload, for a
// short time and without its companions, which the null server does not ask.
func shareOrder(run stopwatt.Run, workload stopwatt.Workload) trial.Order {
	length := workload.Load.For
	if length == 0 || length > shareWindow {
		length = shareWindow
	}
	workload.Load, workload.Services = workload.Load.Lasting(length), nil
	return trial.Order{
		Planned:        stopwatt.PlannedTrial{Case: stopwatt.Case{Workload: workload.Name}, Revision: stopwatt.Head},
		Implementation: stopwatt.Implementation{Null: true},
		Workload:       workload,
		Warmup:         min(run.Settings.Plan.Warmup, shareWarmup),
		Seed:           run.Seed,
		Idle:           idlePowers(run),
	}
}
