package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A program is the container in which the timer runs the programs of a command or
// harness workload, and the conversation with the timer.
type program struct {
	conversation
}

// measureProgram reads top to bottom as a trial of a program is defined.
func (b Bench) measureProgram(ctx context.Context, order Order, trial *stopwatt.Trial) error {
	companions, err := b.companions(ctx, order)
	defer companions.remove(ctx)
	if err != nil {
		return err
	}
	program, err := b.createProgram(ctx, order, companions.network)
	if err != nil {
		return err
	}
	defer program.remove(ctx)
	if err := program.begin(ctx, timeOrder(order)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go program.watch(ctx, cancel)
	if err := b.time(ctx, order, program, companions, trial); err != nil {
		return companions.explain(ctx, program.explain(ctx, err))
	}
	return companions.lasted(ctx)
}

// begin starts the container and hands the timer its order, the program's standard
// input in pieces.
func (p *program) begin(ctx context.Context, order stopwatt.TimeOrder) error {
	order, pieces := order.Apart()
	if err := p.conversation.begin(ctx, order); err != nil {
		return err
	}
	for _, piece := range pieces {
		if err := p.tell(ctx, piece); err != nil {
			return err
		}
	}
	return nil
}

// createProgram makes a container of the implementation's image that runs the
// timer, which is brought in.
func (b Bench) createProgram(ctx context.Context, order Order, network string) (*program, error) {
	timer, err := b.AgentVolume(ctx)
	if err != nil {
		return nil, fmt.Errorf("bring in the timer: %w", err)
	}
	i := order.Implementation
	p := &program{conversation{container: container{bench: b, role: stopwatt.RoleProgram, memory: i.Memory, ended: make(chan struct{})}}}
	err = p.open(ctx, stopwatt.ContainerOrder{
		Image:       order.Image.ID,
		Entrypoint:  []string{stopwatt.AgentPath},
		Command:     []string{"time"},
		VolumesFrom: timer,
		Env:         i.Env,
		CPUs:        i.CPUs,
		Memory:      i.Memory,
		Writable:    i.Writable,
		Network:     network,
	})
	return p, err
}

// timeOrder is the trial's order in the timer's words.
func timeOrder(order Order) stopwatt.TimeOrder {
	timed := stopwatt.TimeOrder{
		Program: order.Implementation.Program(order.Workload),
		Repeat:  stopwatt.Repeat{Least: 1, Most: 1},
	}
	if command := order.Workload.Command; command != nil {
		timed.Warmup, timed.Repeat, timed.Output = command.Warmup, command.Repeat, command.Output
	} else {
		timed.Keep, timed.ResultsFile = true, order.Implementation.Results(order.Workload)
	}
	return timed
}

// time has the timer do its work and reads the meters at the edges.
func (b Bench) time(ctx context.Context, order Order, p *program, companions *companions, trial *stopwatt.Trial) error {
	report, err := p.ask(ctx, stopwatt.CommandReady)
	if err != nil {
		return err
	}
	if report.Ready == nil {
		return errors.New("ready: the timer reported nothing")
	}
	if _, err := p.ask(ctx, stopwatt.CommandWarm); err != nil {
		return err
	}
	accounts := b.open(append([]*container{&p.container}, companions.all()...)...)
	defer accounts.close()
	watch := b.watch(accounts)
	defer watch.Close()
	before := accounts.read()
	before.Machine = watch.Edge()
	var after stopwatt.Reading
	asked := b.now()
	result, err := p.askResult(ctx, func() {
		machine := watch.Edge()
		after = accounts.read()
		after.Machine = machine
	})
	record := record{trial}
	record.role(stopwatt.RoleProgram, before.Program, after.Program) // of one that died as well
	record.held("memory_peak_program", "MemoryPeak", after.Program)
	record.companions(companions, before, after)
	if err == nil {
		err = b.happened(asked, result.Window)
	}
	if err != nil {
		return err
	}

	used, _ := after.Program.Since(before.Program, "CPU") // 0 where it is not known
	record.untold(used, result)
	work, err := b.timed(order, record, report.Ready, result, used)
	record.witnessed(watch.Tell(result.Window, before, after), order.Idle, result.Window, work)
	record.measured("image_size", float64(order.Image.Bytes))
	return err
}

// timed records what the timer measured, or what the harness told.
func (b Bench) timed(order Order, r record, ready *stopwatt.TimerReady, result *stopwatt.TimeResult, used int64) (stopwatt.Work, error) {
	r.Window = result.Window
	if command := order.Workload.Command; command != nil {
		return stopwatt.Work{Per: stopwatt.OneRun, Count: int64(len(result.Repetitions))}, r.repeated(*command, ready, result)
	}
	r.measured("time_run", seconds(result.Repetitions[0].Wall))
	benchmarks, err := b.Harness(order.Workload, result.Results)
	if err != nil {
		return stopwatt.Work{}, fmt.Errorf("results: %w", err)
	}
	r.beyond(benchmarks, known{result.Repetitions[0].Duration(), time.Duration(used), true})
	return stopwatt.Work{}, r.told(benchmarks)
}

// ask gives one command and waits for its report.
func (p *program) ask(ctx context.Context, command string) (stopwatt.TimeReport, error) {
	line, err := p.line(ctx, command)
	if err != nil {
		return stopwatt.TimeReport{}, err
	}
	return timerUnderstood(command, line)
}

// timerUnderstood is the report that a line holds.
func timerUnderstood(command string, line []byte) (stopwatt.TimeReport, error) {
	var report stopwatt.TimeReport
	if err := json.Unmarshal(line, &report); err != nil {
		return report, fmt.Errorf("%s: the timer's report: %w", command, err)
	}
	if report.Failure != "" {
		return report, errors.New(report.Failure)
	}
	return report, nil
}

// askResult has the timer time. Ended is called as soon as it has, before the
// result is encoded and sent; or when there will be none.
func (p *program) askResult(ctx context.Context, ended func()) (*stopwatt.TimeResult, error) {
	report, err := p.ask(ctx, stopwatt.CommandTime)
	ended()
	if err == nil && !report.Ended {
		err = errors.New("time: the timer did not say that it has ended")
	}
	if err != nil {
		return nil, err
	}
	line, err := p.next(ctx)
	if err != nil {
		return nil, err
	}
	report, err = timerUnderstood(stopwatt.CommandTime, line)
	if err == nil && (report.Result == nil || len(report.Result.Repetitions) == 0) {
		err = errors.New("time: the timer reported nothing")
	}
	return report.Result, err
}

// killedBySystem is how the timer tells of a program that was killed by nobody of
// us.
const killedBySystem = "was ended by signal 9"

// explain says in an error what became of the container, when that is the reason
// behind err, or that memory most likely ran out.
func (p *program) explain(ctx context.Context, err error) error {
	if stopwatt.EngineFailed(err) {
		return err
	}
	fate, fateErr := p.bench.Containers.Fate(context.WithoutCancel(ctx), p.ID)
	switch {
	case fateErr != nil:
		return errors.Join(err, fateErr)
	case !fate.Running:
		return errors.New(p.ending(fate)) // its log holds the conversation
	case p.memory > 0 && strings.Contains(err.Error(), killedBySystem):
		return fmt.Errorf("%w (most likely out of memory: its limit is %d MiB)", err, p.memory>>20)
	}
	return err
}
