package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/spool"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A trouble is what happens at one of the calls that a command makes outside.
type trouble string

const (
	none        trouble = "none"
	fails       trouble = "fails"
	hangs       trouble = "hangs"                // until its context ends
	comesToNone trouble = "killed before it"     // and never does anything again
	isNotHeard  trouble = "killed behind it"     // what was asked for has been done
	lostAnswer  trouble = "fails behind its end" // done, and nobody knows
)

// An outside is all that a command reaches out to, a fake of each: the database, the
// engine, the disk of the spool. The n-th call that is made since the command began
// meets with trouble.
type outside struct {
	memory  storagetest.Memory
	engine  map[string]bool // containers that are there
	strange string          // a container of somebody else
	folder  string          // of the spool

	mu      sync.Mutex
	calls   []string
	at      int
	meets   trouble
	dead    chan struct{}   // closed where the command has died
	buried  chan struct{}   // closed when the test ends: what was left of it may go
	ctx     context.Context // of the command
	cancel  context.CancelFunc
	drives  map[stopwatt.PlannedTrial]int // how often each trial came to its end
	created int
}

// call counts a call and does what is asked for, or what the trouble is.
func (o *outside) call(ctx context.Context, name string, do func() error) error {
	meets := o.next(name)
	switch meets {
	case fails:
		return fmt.Errorf("%s: %w", name, stopwatt.ErrUnreachable)
	case hangs:
		o.cancel() // somebody loses patience
		<-ctx.Done()
		return ctx.Err()
	case comesToNone:
		o.die()
	}
	err := do()
	switch meets {
	case isNotHeard:
		o.die()
	case lostAnswer:
		return fmt.Errorf("%s: %w", name, stopwatt.ErrUnreachable)
	}
	return err
}

// next counts a call, and says what it meets with.
func (o *outside) next(name string) trouble {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, name)
	if len(o.calls) == o.at {
		return o.meets
	}
	return none
}

// die stops the command where it stands: nothing of it is executed any more.
func (o *outside) die() {
	close(o.dead)
	<-o.buried
	runtime.Goexit()
}

// reborn makes all ready for another command on what the last one left behind.
func (o *outside) reborn(at int, meets trouble) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls, o.at, o.meets, o.dead = nil, at, meets, make(chan struct{})
}

func (o *outside) Begin(ctx context.Context, run stopwatt.Run, fresh bool) (begun stopwatt.Run, done []stopwatt.PlannedTrial, err error) {
	err = o.call(ctx, "begin", func() error { begun, done, err = o.memory.Begin(ctx, run, fresh); return err })
	return begun, done, err
}

func (o *outside) SaveTrial(ctx context.Context, id int64, t stopwatt.Trial) error {
	return o.call(ctx, "save trial", func() error { return o.memory.SaveTrial(ctx, id, t) })
}

func (o *outside) Trials(ctx context.Context, id int64) (trials []stopwatt.Trial, err error) {
	err = o.call(ctx, "read trials", func() error { trials, err = o.memory.Trials(ctx, id); return err })
	return trials, err
}

func (o *outside) SaveIdle(ctx context.Context, id int64, idle stopwatt.IdleWindow) error {
	return o.call(ctx, "save idle", func() error { return o.memory.SaveIdle(ctx, id, idle) })
}

func (o *outside) SaveDriverShare(ctx context.Context, id int64, share stopwatt.DriverShare) error {
	return o.call(ctx, "save driver share", func() error { return o.memory.SaveDriverShare(ctx, id, share) })
}

func (o *outside) SaveNet(ctx context.Context, id int64, planned stopwatt.PlannedTrial, figures []stopwatt.Measurement) error {
	return o.call(ctx, "save net", func() error { return o.memory.SaveNet(ctx, id, planned, figures) })
}

func (o *outside) SaveJudgement(ctx context.Context, id int64, judgement stopwatt.Judgement) error {
	return o.call(ctx, "save judgement", func() error { return o.memory.SaveJudgement(ctx, id, judgement) })
}

func (o *outside) SaveSummaries(ctx context.Context, id int64, summaries []stopwatt.Summary) error {
	return o.call(ctx, "save summaries", func() error { return o.memory.SaveSummaries(ctx, id, summaries) })
}

func (o *outside) Finish(ctx context.Context, id int64, status stopwatt.RunStatus, ended time.Time) error {
	return o.call(ctx, "finish", func() error { return o.memory.Finish(ctx, id, status, ended) })
}

func (o *outside) RunOfKey(ctx context.Context, key string) (run stopwatt.Run, err error) {
	err = o.call(ctx, "find run", func() error { run, err = o.memory.RunOfKey(ctx, key); return err })
	return run, err
}

func (o *outside) Claim(ctx context.Context, id int64) (ours bool, err error) {
	err = o.call(ctx, "claim", func() error { ours, err = o.memory.Claim(ctx, id); return err })
	return ours, err
}

// sync is the disk's.
func (o *outside) sync(file *os.File) error { return o.call(o.ctx, "fsync", file.Sync) }

// Run carries out a trial: a container is created, driven and removed.
func (o *outside) Run(ctx context.Context, order trial.Order) (stopwatt.Trial, error) {
	var name string
	err := o.call(ctx, "create", func() error {
		o.created++
		name = fmt.Sprintf("container-%d", o.created)
		o.engine[name] = true
		return nil
	})
	if name != "" && err == nil {
		defer o.remove(ctx, name)
	}
	for _, step := range []string{"copy", "start", "drive"} {
		if err == nil && ctx.Err() == nil {
			err = o.call(ctx, step, func() error { return nil })
		}
	}
	if err != nil || ctx.Err() != nil {
		return stopwatt.Trial{}, cmpError(ctx.Err(), err)
	}
	o.drives[order.Planned]++
	seconds := 1 + float64(order.Planned.Round%5)/100
	sampled := storagetest.Trial(1, "go", "csv")
	return stopwatt.Trial{
		PlannedTrial: order.Planned, Position: order.Position, Status: stopwatt.Valid, Started: time.Now(),
		Window: sampled.Window, Samples: sampled.Samples,
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}},
	}, nil
}

// cmpError is the first of these errors.
func cmpError(errs ...error) error {
	at := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	return errs[at]
}

// remove removes a container, also when ctx has ended; what fails there, the end of the
// command or the next one does.
func (o *outside) remove(ctx context.Context, name string) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = o.call(bounded, "remove", func() error { delete(o.engine, name); return nil })
}

// reap removes what is ours: only one command is carried out at a time.
func (o *outside) reap() {
	for name := range o.engine {
		if name != o.strange {
			delete(o.engine, name)
		}
	}
}

// silent is an audience that says nothing.
type silent struct{}

func (silent) Planned(stopwatt.Run, int)         {}
func (silent) Idle(stopwatt.IdleWindow)          {}
func (silent) DriverShare(stopwatt.DriverShare)  {}
func (silent) Begins(stopwatt.PlannedTrial, int) {}
func (silent) Ended(stopwatt.Trial)              {}
func (silent) Stopped(string)                    {}
func (silent) Judged(stopwatt.Judgement, int)    {}

// command is what `stopwatt run` does with the rooms: deliver what waits, carry the run
// out, and clear away. It tells whether the run is finished.
func (o *outside) command(order orchestrator.Order) (finished bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.ctx, o.cancel = ctx, cancel
	o.reap()
	disk := spool.Spool{Folder: o.folder, Sync: o.sync}
	if _, err := deliverAll(ctx, disk, o); err != nil {
		return false, err
	}
	if o.memoryFinished() {
		return true, nil
	}
	store := &spooled{archive: o, spool: disk, tell: func(string, ...any) {}}
	conductor := orchestrator.Orchestrator{
		Store:    store,
		Bench:    func(stopwatt.Run) orchestrator.Trials { o.reap(); return o },
		Audience: silent{},
		Idle: func(ctx context.Context, place stopwatt.IdlePlace) (stopwatt.IdleWindow, error) {
			return stopwatt.IdleWindow{Place: place, Started: time.Now()}, ctx.Err()
		},
	}
	run, err := conductor.Run(ctx, order)
	waits := store.close(ctx)
	o.reap()
	return err == nil && waits == nil && run.Status == stopwatt.Finished, err
}

// memoryFinished tells whether the database has a finished run.
func (o *outside) memoryFinished() bool {
	results, err := o.memory.Results(context.Background(), 1)
	return err == nil && results.Run.Status == stopwatt.Finished
}

var _ archive = (*outside)(nil)
var _ archive = (*storage.Store)(nil)
