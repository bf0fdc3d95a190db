//go:build linux

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"gitlab.com/stopwatt/stopwatt"
)

// Time runs and times programs as it is told on in and answers on out, as
// described at stopwatt.TimeOrder. An order that cannot be carried out is the
// Failure of every command after it. Time returns nil when in has ended and the
// commands before that are answered; else it returns why it could not go on.
func Time(ctx context.Context, in io.Reader, out io.Writer) error {
	// One processor is the waiting thread's; whoever reads what programs print
	// needs another.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }() // ends with its input: reading cannot be interrupted
	var t *timer
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case line := <-lines:
			if t == nil {
				t = newTimer(line)
				defer t.close()
				continue
			}
			if t.pieces < t.order.StdinPieces {
				t.take(line)
				continue
			}
			if err := t.answer(ctx, command(line), json.NewEncoder(out)); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
		}
	}
}

// A timer carries out the commands of one order.
type timer struct {
	order stopwatt.TimeOrder
	fault error // the order cannot be carried out
	// The programs of the order, found.
	run, prepare, cleanup program
	stdin                 *os.File // nil: there is none
	pieces                int      // of it that have come
}

func newTimer(line []byte) *timer {
	t := &timer{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields() // what we do not know we cannot carry out
	if err := decoder.Decode(&t.order); err != nil {
		t.fault = fmt.Errorf("the order is not understood: %w", err)
		return t
	}
	if err := CheckTimeOrder(t.order); err != nil {
		t.fault = fmt.Errorf("the order cannot be carried out: %w", err)
	}
	return t
}

// CheckTimeOrder says all that is wrong with an order, or nil.
func CheckTimeOrder(order stopwatt.TimeOrder) error {
	return errors.Join(
		complain(len(order.Run) == 0, "there is no program to run"),
		complain(len(order.OKExit) == 0, "no exit status is a good one"),
		complain(order.Timeout <= 0, "timeout %v; every program needs a bound", order.Timeout),
		complain(len(order.Stdin) > 0, "its standard input stands in it; it comes in pieces"),
		complain(order.Warmup < 0, "%d warm-ups", order.Warmup),
		complain(order.Repeat.Least < 1 || order.Repeat.Most < order.Repeat.Least, "%d to %d repetitions", order.Repeat.Least, order.Repeat.Most),
		complain(order.Repeat.For < 0, "for %v is negative", order.Repeat.For),
	)
}

// answer carries out a command and tells of it.
func (t *timer) answer(ctx context.Context, command string, out *json.Encoder) error {
	report, err := t.report(ctx, command, out)
	if err != nil {
		report = stopwatt.TimeReport{Failure: err.Error()}
	}
	return out.Encode(report)
}

func (t *timer) report(ctx context.Context, command string, out *json.Encoder) (stopwatt.TimeReport, error) {
	if t.fault != nil {
		return stopwatt.TimeReport{}, t.fault
	}
	switch command {
	case stopwatt.CommandReady:
		ready, err := t.ready(ctx)
		return stopwatt.TimeReport{Ready: &ready}, err
	case stopwatt.CommandWarm:
		_, err := t.repeat(ctx, stopwatt.Repeat{Least: t.order.Warmup, Most: t.order.Warmup}, "warm-up")
		return stopwatt.TimeReport{}, err
	case stopwatt.CommandTime:
		result, err := t.time(ctx, func() error { return out.Encode(stopwatt.TimeReport{Ended: true}) })
		return stopwatt.TimeReport{Result: &result}, err
	}
	return stopwatt.TimeReport{}, fmt.Errorf("unknown command %q; the commands are ready, warm and time", command)
}

// ready finds the programs and learns what an empty one costs.
func (t *timer) ready(ctx context.Context) (stopwatt.TimerReady, error) {
	var err error
	for _, p := range []struct {
		what string
		argv []string
		to   *program
	}{{"run", t.order.Run, &t.run}, {"prepare", t.order.Prepare, &t.prepare}, {"cleanup", t.order.Cleanup, &t.cleanup}} {
		if *p.to, err = findProgram(p.argv); err != nil {
			return stopwatt.TimerReady{}, fmt.Errorf("%s: %w", p.what, err)
		}
	}
	if t.stdin != nil {
		t.run.stdin = pathOf(t.stdin)
	}
	var ready stopwatt.TimerReady
	if ready.Empty, err = timeEmpty(ctx); err != nil {
		ready.EmptyAbsent = err.Error()
	}
	return ready, nil
}

// take lays a piece of what the program reads into a file of its own.
func (t *timer) take(line []byte) {
	t.pieces++
	var piece []byte
	err := json.Unmarshal(line, &piece)
	if err == nil && t.stdin == nil {
		t.stdin, err = memoryFile("stdin")
	}
	if err == nil {
		_, err = t.stdin.Write(piece)
	}
	if err != nil && t.fault == nil {
		t.fault = fmt.Errorf("stdin: %w", err)
	}
}

// close lets go of what the timer has opened.
func (t *timer) close() {
	if t.stdin != nil {
		_ = t.stdin.Close() // it lies in memory, and goes with this
	}
}

// time carries out the order. Ended is called when the window has.
func (t *timer) time(ctx context.Context, ended func() error) (stopwatt.TimeResult, error) {
	result, err := t.repeat(ctx, t.order.Repeat, "repetition")
	if tellErr := ended(); tellErr != nil {
		return result, tellErr
	}
	if err != nil {
		return result, err
	}
	result.LeastMemory, err = ownPeak()
	if err != nil {
		return result, fmt.Errorf("read the timer's own memory: %w", err)
	}
	return result, nil
}
