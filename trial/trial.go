// Package trial carries out one trial, from create to remove: a fresh server
// without any network, a driver that joins it, the answer verified before and
// after, the meters read at both edges of the window.
//
// It imports no adapter. What it needs of Docker and of the meters it declares
// here, and somebody else hands it in.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Containers is what a trial asks of the Docker Engine.
type Containers interface {
	// Create makes a container that does not run yet.
	Create(ctx context.Context, order stopwatt.ContainerOrder) (id string, err error)
	// Start starts it.
	Start(ctx context.Context, id string) (stopwatt.Container, error)
	// Attach opens the standard streams of a container that was not started yet.
	Attach(ctx context.Context, id string) (io.ReadWriteCloser, error)
	// Wait returns when the container has ended.
	Wait(ctx context.Context, id string) error
	// Fate tells what became of it.
	Fate(ctx context.Context, id string) (stopwatt.Fate, error)
	// Remove ends and removes it, within a bound of its own, even when ctx is cancelled.
	Remove(ctx context.Context, id, stopSignal string) error
}

// Account is what the meters know of one container while it exists.
type Account interface {
	Read() stopwatt.Usage
	// Number reads one field of a Usage alone, cheaply.
	Number(field string) (int64, error)
	Close() error
}

// Watch watches the machine while a window lasts.
type Watch interface {
	// Edge reads the machine and its energy meters: once in front of the window
	// and once behind it.
	Edge() stopwatt.MachineReading
	// Tell says what was seen between the edges, at which this was read.
	Tell(window stopwatt.Window, before, after stopwatt.Reading) stopwatt.Testimony
	// Close ends the watching.
	Close()
}

// Bench is where trials are carried out. All fields are needed, where nothing
// else is said.
type Bench struct {
	Containers Containers
	// Account opens the accounting of the container whose first process this is.
	Account func(pid int) (Account, error)
	// Watch begins to watch the machine and these containers, by their roles; any
	// may be nil. Where Watch is nil, nobody watches.
	Watch func(containers map[string]Account) Watch
	// Monotonic reads CLOCK_MONOTONIC of the engine's host in nanoseconds; nil
	// when that is another machine.
	Monotonic func() int64
	// Agent is the ID of the image that the driver runs from.
	Agent string
	// AgentVolume is the ID of a container whose volume holds the agent, for those
	// of other images; it is asked for with each program.
	AgentVolume func(ctx context.Context) (id string, err error)
	// Networks is asked where a trial has companions, or its driver is Elsewhere.
	Networks Networks
	// Kept are the companions that live as long as the run.
	Kept *Kept
	// Harness reads what the harness of a workload has told.
	Harness func(workload stopwatt.Workload, results []byte) ([]stopwatt.Benchmark, error)
	// DriverCPUs are the cores that the driver may use, as in cpuset; empty: all.
	DriverCPUs string
	// ServerCPUs are those of servers whose implementation names none; empty: all.
	ServerCPUs string
	// Elsewhere is where the driver runs; nil: beside the server.
	Elsewhere *Elsewhere
	// Labels are put on every container.
	Labels map[string]string
	// Parents are the cgroups above the containers; nil where ours cannot be made.
	Parents Parents

	parents *parents // of the trial that is carried out
	stays   *stays   // of the same
}

// Order says which trial is wanted.
type Order struct {
	Planned        stopwatt.PlannedTrial
	Position       int
	Implementation stopwatt.Implementation
	Workload       stopwatt.Workload
	Image          stopwatt.Image
	Tool           stopwatt.Image // that drives, where the workload names one
	Warmup         time.Duration
	Seed           uint64               // of what the driver draws; alike for all cases of a round
	Idle           []stopwatt.IdlePower // that is taken off gross energy
}

// Run carries out one trial. What goes wrong with the code under test makes
// the trial invalid and stands in its Reason. An error means that no trial
// came about: ctx was cancelled, or the engine failed, as stopwatt.EngineFailed
// tells, also in removing a container: what stays would disturb the next trial.
func (b Bench) Run(ctx context.Context, order Order) (stopwatt.Trial, error) {
	trial := stopwatt.Trial{
		PlannedTrial: order.Planned,
		Position:     order.Position,
		Status:       stopwatt.Valid,
		Started:      time.Now(),
	}
	b.parents, b.stays = &parents{of: b.Parents, position: order.Position}, &stays{}
	defer b.parents.remove(ctx)
	measure := b.measure
	switch {
	case order.Workload.HTTP == nil:
		measure = b.measureProgram
	case order.Workload.Load.Tool != nil:
		measure = b.measureByTool
	}
	err := b.stays.join(measure(ctx, order, &trial))
	switch {
	case ctx.Err() != nil:
		return stopwatt.Trial{}, ctx.Err()
	case stopwatt.EngineFailed(err):
		return stopwatt.Trial{}, err
	case err != nil:
		trial.Status, trial.Reason = stopwatt.Invalid, err.Error()
	}
	return trial, nil
}

// measure reads top to bottom as a trial is defined.
func (b Bench) measure(ctx context.Context, order Order, trial *stopwatt.Trial) error {
	// Both are created before either starts: the sooner the driver asks, the
	// finer the time to the first right answer is known.
	companions, err := b.companions(ctx, order)
	defer companions.remove(ctx)
	if err != nil {
		return err
	}
	server, err := b.createServer(ctx, order, companions.network)
	if err != nil {
		return err
	}
	defer server.remove(ctx)
	driver, err := b.createDriver(ctx, order, server)
	if err != nil {
		return err
	}
	defer driver.remove(ctx)

	if err := server.start(ctx); err != nil {
		return err
	}
	// Whatever waits for an answer waits no longer than the server lives.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go server.watch(ctx, cancel)
	if err := b.converse(ctx, order, server, driver, companions, trial); err != nil {
		err = server.explain(ctx, err) // which waits until it has ended
		record{trial}.unloaded(b.parents, server)
		return companions.explain(ctx, err)
	}
	return companions.lasted(ctx)
}

// converse has the driver do its work and reads the meters at the edges.
func (b Bench) converse(ctx context.Context, order Order, server *container, driver *driver, companions *companions, trial *stopwatt.Trial) error {
	if err := driver.begin(ctx, b.driveOrder(order, server)); err != nil {
		return err
	}
	record := record{trial}
	ready, err := driver.askReady(ctx, stopwatt.CommandReady)
	if err != nil {
		return err
	}
	accounts := b.open(append([]*container{server, &driver.container}, companions.all()...)...)
	defer accounts.close()
	atRest := accounts.of(stopwatt.RoleServer)

	found, err := b.find(ctx, driver, order)
	if err != nil {
		return err
	}
	if _, err := driver.ask(ctx, stopwatt.CommandWarm); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	watch := b.watch(accounts)
	defer watch.Close()
	before := accounts.read()
	before.Machine = watch.Edge()
	var after stopwatt.Reading
	asked := b.now()
	result, err := driver.askResult(ctx, func() {
		machine := watch.Edge()
		after = accounts.read()
		after.Machine = machine
	})
	record.usage(atRest, before, after) // of a server that died as well
	record.companions(companions, before, after)
	if err == nil {
		err = b.happened(asked, result.Window)
	}
	if err != nil {
		return err
	}

	result.Window = b.here(result.Window, after.Machine.At)
	record.driven(result)
	record.noted(steady(result, order.Warmup))
	record.paced(order.Workload.Load, found, result)
	b.readyTime(record, server, ready)
	record.witnessed(watch.Tell(result.Window, before, after), order.Idle, result.Window, stopwatt.Work{Per: stopwatt.RightAnswer, Count: result.Requests})
	record.imageSize(order)
	if err := wrongAnswers(result); err != nil {
		return err
	}
	if _, err := driver.askReady(ctx, stopwatt.CommandVerify); err != nil {
		return fmt.Errorf("after the load: %w", err)
	}
	return nil
}

// find has the highest rate searched, where the load asks for it.
func (b Bench) find(ctx context.Context, driver *driver, order Order) (*stopwatt.Found, error) {
	if order.Workload.Load.Find == nil {
		return nil, nil
	}
	found, err := driver.askFound(ctx)
	if err != nil {
		return nil, fmt.Errorf("search the highest rate: %w", err)
	}
	return found, nil
}

// now is CLOCK_MONOTONIC of the engine's host, 0 when it cannot be read here.
func (b Bench) now() int64 {
	if b.Monotonic == nil {
		return 0
	}
	return b.Monotonic()
}

// failedRequests says that some requests got no right answer.
type failedRequests struct {
	text   string
	broken bool // connections were refused or closed: the server may have died
}

func (f *failedRequests) Error() string { return f.text }

// wrongAnswers says why a result cannot be used, nil when every request got a
// right answer.
func wrongAnswers(result *stopwatt.DriveResult) error {
	failed, kinds := int64(0), []string{}
	for _, kind := range stopwatt.ErrorKinds {
		if n := result.Errors[kind]; n > 0 {
			failed += n
			kinds = append(kinds, fmt.Sprintf("%d %s (first: %s)", n, kind, result.FirstErrors[kind]))
		}
	}
	if failed == 0 && result.Requests > 0 {
		return nil
	}
	if failed == 0 {
		return errors.New("no request was answered")
	}
	unsent := ""
	if result.Unsent > 0 {
		unsent = fmt.Sprintf("; %d more came due and were never sent, for no connection was free", result.Unsent)
	}
	return &failedRequests{
		text:   fmt.Sprintf("%d of %d requests failed: %s%s", failed, failed+result.Requests, strings.Join(kinds, ", "), unsent),
		broken: result.Errors[stopwatt.ErrorConnect]+result.Errors[stopwatt.ErrorClosed] > 0,
	}
}
