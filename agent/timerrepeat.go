//go:build linux

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// repeat runs the program of the order so often. What names one repetition in
// errors.
func (t *timer) repeat(ctx context.Context, times stopwatt.Repeat, what string) (stopwatt.TimeResult, error) {
	// The thread waits for the program in the kernel, and nothing may wait for
	// this thread meanwhile: a collection of garbage would.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	guard := newGuard(t.order.Timeout)
	go guard.watch(ctx)
	defer guard.end()
	lowerPeak()

	own := cpuTime()
	var result stopwatt.TimeResult
	for total := int64(0); goesOn(times, len(result.Repetitions), total); {
		number := len(result.Repetitions) + 1
		once, started, err := t.once(ctx, guard, &result)
		if err != nil {
			return result, fmt.Errorf("%s %d %w", what, number, err)
		}
		if number == 1 {
			result.Window.Start = started
		}
		result.Window.End = started + once.Wall
		result.Repetitions = append(result.Repetitions, once)
		total += once.Wall
		if number%collectEvery == 0 {
			runtime.GC()
		}
	}
	result.Aside += int64(cpuTime() - own)
	return result, nil
}

// collectEvery is after how many repetitions garbage is collected: each leaves
// some ten kilobytes, and what the timer holds is the least that can be said of
// a program's memory.
const collectEvery = 64

// goesOn says whether there is one more repetition after so many.
func goesOn(times stopwatt.Repeat, done int, total int64) bool {
	return done < times.Most && (done < times.Least || total < int64(times.For))
}

// once prepares, runs and times the program, and cleans up.
func (t *timer) once(ctx context.Context, guard *guard, result *stopwatt.TimeResult) (stopwatt.Repetition, int64, error) {
	if err := t.aside(ctx, guard, t.prepare, "prepare", result); err != nil {
		return stopwatt.Repetition{}, 0, err
	}
	if t.order.Keep && t.order.ResultsFile != "" {
		_ = os.Remove(t.order.ResultsFile) // of the image; one that stays is written over, or told as too old by its reader
	}
	sink := t.sink()
	run, err := t.run.start(ctx, sink, guard)
	if err != nil {
		return stopwatt.Repetition{}, 0, err
	}
	err = errors.Join(run.wrong(t.order.OKExit), sink.wrong(t.order.Output.SHA256))
	if err == nil && t.order.Keep {
		result.Results, err = t.results(sink)
	}
	if err != nil {
		return stopwatt.Repetition{}, 0, err
	}
	return run.repetition(), run.started, t.aside(ctx, guard, t.cleanup, "cleanup", result)
}

// aside runs a program that is not timed.
func (t *timer) aside(ctx context.Context, guard *guard, p program, what string, result *stopwatt.TimeResult) error {
	if p.path == "" {
		return nil
	}
	run, err := p.start(ctx, &output{}, guard)
	result.Aside += run.used.Utime.Nano() + run.used.Stime.Nano()
	if err == nil {
		err = run.wrong([]int{0})
	}
	if err != nil {
		return fmt.Errorf("could not begin or end: its %s %w", what, err)
	}
	return nil
}

// sink is what becomes of the program's standard output.
func (t *timer) sink() *output {
	switch {
	case t.order.Keep && t.order.ResultsFile == "":
		return &output{piped: true, keeps: stopwatt.MostOutput}
	case t.order.Output.SHA256 != "":
		return &output{piped: true, sum: sha256.New(), keeps: shownOutput}
	}
	return &output{piped: t.order.Output.Pipe}
}

// results are what a harness has told.
func (t *timer) results(sink *output) ([]byte, error) {
	if t.order.ResultsFile == "" {
		if sink.bytes > stopwatt.MostOutput {
			return nil, fmt.Errorf("printed %d bytes of results, and at most %d are read", sink.bytes, stopwatt.MostOutput)
		}
		return sink.kept, nil
	}
	file, err := openRegular(t.order.ResultsFile)
	if err != nil {
		return nil, fmt.Errorf("left no results: %w", err)
	}
	defer file.Close() // which was only read from
	text, err := io.ReadAll(io.LimitReader(file, stopwatt.MostOutput+1))
	if err == nil && len(text) > stopwatt.MostOutput {
		err = fmt.Errorf("more than %d bytes", stopwatt.MostOutput)
	}
	if err != nil {
		return nil, fmt.Errorf("left results that cannot be read: %w", err)
	}
	return text, nil
}

// repetition is what was measured of a run.
func (r run) repetition() stopwatt.Repetition {
	const kernelKiB = 1024 // ru_maxrss counts in it
	return stopwatt.Repetition{
		Wall: r.ended - r.started, User: r.used.Utime.Nano(), System: r.used.Stime.Nano(), Memory: int64(r.used.Maxrss) * kernelKiB,
		SwitchesVoluntary: int64(r.used.Nvcsw), SwitchesInvoluntary: int64(r.used.Nivcsw),
		FaultsMinor: int64(r.used.Minflt), FaultsMajor: int64(r.used.Majflt),
	}
}

// wrong says why a run does not count: how it ended, with its last lines.
func (r run) wrong(ok []int) error {
	var text string
	switch {
	case r.timedOut:
		text = fmt.Sprintf("did not end within %v and was killed", r.bound)
	case r.status.Signaled():
		text = fmt.Sprintf("was ended by signal %d (%v)", r.status.Signal(), r.status.Signal())
	case !slices.Contains(ok, r.status.ExitStatus()):
		text = fmt.Sprintf("exited with %d", r.status.ExitStatus())
	default:
		return nil
	}
	if last := strings.TrimSpace(string(r.complaint)); last != "" {
		text += "; its last lines:\n" + last
	}
	return errors.New(text)
}

// shownOutput is how much of a wrong output is shown.
const shownOutput = 200

// wrong says why an output is not the expected one; an empty hash expects nothing.
func (o *output) wrong(sha256 string) error {
	switch {
	case o.open:
		return errors.New("left a process behind that holds its output open")
	case sha256 == "":
		return nil
	}
	found := hex.EncodeToString(o.sum.Sum(nil))
	if found == sha256 {
		return nil
	}
	return fmt.Errorf("printed %d bytes of SHA-256 %s, expected %s; they begin %q", o.bytes, found, sha256, o.kept)
}

// isFirst says whether this process adopts the orphans of its container.
var isFirst = os.Getpid() == 1

// reap takes leave of orphans that have ended.
func reap() {
	for isFirst {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}
