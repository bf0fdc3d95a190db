package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// A workplace is all that a run needs from outside: the machine for itself, the
// database, the engine, the meters, and the engine that the driver runs on.
type workplace struct {
	*desk
	store       *storage.Store
	docker      *containers.Docker
	agent       string // ID of the image that the driver runs from
	instruments *instruments
	elsewhere   *driverHost
	opened      []func()
}

// openWorkplace opens it, waiting until no other stopwatt measures on this machine.
func (d *desk) openWorkplace(ctx context.Context, planned plannedRun, flags runFlags) (*workplace, error) {
	if flags.out != "" { // better now than when all has been measured
		if err := makeReportFolder(flags.out); err != nil {
			return nil, err
		}
	}
	w := &workplace{desk: d}
	if err := w.open(ctx, planned, flags); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *workplace) open(ctx context.Context, planned plannedRun, flags runFlags) error {
	unlock, err := w.lockMachine(ctx)
	if err != nil {
		return err
	}
	w.opened = append(w.opened, unlock)
	var release func()
	if w.store, release, err = w.openStore(ctx); err != nil {
		return err
	}
	w.opened = append(w.opened, release)
	if w.docker, w.agent, err = w.openEngine(ctx, flags.network); err != nil {
		return err
	}
	w.opened = append(w.opened, w.docker.Close)
	if w.instruments, err = w.openInstruments(ctx, w.docker, planned.file.suite.Meters); err != nil {
		return err
	}
	w.opened = append(w.opened, func() { w.instruments.close() })
	if err := w.leaseMachine(ctx, planned); err != nil {
		return err
	}
	if flags.calibrating {
		if err := samePath(planned.file.suite, w.instruments.file); err != nil {
			return err
		}
	}
	if w.elsewhere, err = w.openDriverHost(ctx, w.instruments.file.Driver, planned.file.suite); err != nil {
		return err
	}
	w.opened = append(w.opened, w.elsewhere.close)
	if w.instruments.why != "" {
		fmt.Fprintf(w.stderr, "meters  %s\n", w.instruments.way.Says)
	}
	return nil
}

// close gives everything back, what was opened last first.
func (w *workplace) close() {
	for i := len(w.opened) - 1; i >= 0; i-- {
		w.opened[i]()
	}
}

// logEvery is how often a job's log tells of a trial: its readers see that it goes on,
// and find what was invalid.
const logEvery = 10 * time.Second

// A measuredRun is a run that has been carried out.
type measuredRun struct {
	run       stopwatt.Run
	comparing *orchestrator.Comparing // nil when it has no base
}

// measure builds, carries the run out, and leaves nothing behind in the engine.
func (w *workplace) measure(ctx context.Context, planned plannedRun, flags runFlags) (measuredRun, error) {
	var err error
	if planned.file.suite, err = w.mirror(ctx, &planned.checkout, planned.file.suite); err != nil {
		return measuredRun{}, w.interrupted(ctx, err)
	}
	screen := newScreen(w.stderr, terminalWidth(w.stderr))
	if planned.pipeline != nil {
		screen.every = logEvery
	}
	order, err := w.order(ctx, planned, w.docker, w.instruments, screen)
	if err != nil {
		return measuredRun{}, w.interrupted(ctx, err)
	}
	order.SeedGiven, order.Fresh, order.Deadline = flags.seedGiven, flags.fresh, planned.ends
	if order.Comparing != nil {
		if order.Comparing.Calibration, err = knownCalibration(ctx, w.store, order.Run); err != nil {
			return measuredRun{}, err
		}
	}
	store := &spooled{archive: w.store, spool: w.spool(), tell: screen.line}
	conductor := orchestrator.Orchestrator{
		Store:    store,
		Bench:    func(run stopwatt.Run) orchestrator.Trials { return w.bench(ctx, run) },
		Audience: screen,
		Idle:     w.instruments.idle,
		Cool:     w.instruments.cooling(),
		Recover:  func(ctx context.Context, run stopwatt.Run) error { return w.recover(ctx, run, screen.line) },
	}
	run, err := conductor.Run(ctx, order)
	waits := store.close(ctx)
	screen.close()
	if leftErr := w.clear(context.WithoutCancel(ctx), run); err == nil {
		err = leftErr
	}
	if waits != nil && ctx.Err() != nil {
		fmt.Fprintln(w.stderr, waits) // what else went wrong is told already then
	}
	if waits != nil && err == nil {
		return measuredRun{run: run}, waits
	}
	if err != nil {
		return measuredRun{run: run}, errors.Join(w.interrupted(ctx, err), waits)
	}
	return measuredRun{run, order.Comparing}, nil
}

// bench is where the trials of a run are carried out, once nothing of it is left.
func (w *workplace) bench(ctx context.Context, run stopwatt.Run) orchestrator.Trials {
	w.reapRun(ctx, w.docker, run)
	w.elsewhere.reap(ctx, w.desk, run)
	return bench(w.docker, w.agent, w.elsewhere, w.instruments, run)
}

// clear removes what lives as long as the run, and what a killed stopwatt had asked
// for last and the engine may have made after the first look.
func (w *workplace) clear(ctx context.Context, run stopwatt.Run) error {
	w.reapRun(ctx, w.docker, run)
	w.elsewhere.reap(ctx, w.desk, run)
	return w.reapDead(ctx, w.docker)
}
