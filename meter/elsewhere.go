package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// An Elsewhere is the Station of a machine that cannot be read from here, asked
// over the streams of a program that serves it there: see Serve.
type Elsewhere struct {
	greeting greeting

	mu      sync.Mutex // one question at a time
	streams io.ReadWriteCloser
	answers *stopwatt.LineReader
	broken  error // why nothing more can be asked
}

// answersWithin bounds an answer, beyond what a question asks to wait for: a
// reading of everything takes milliseconds, and a machine under load its time.
const answersWithin = 20 * time.Second

// OpenElsewhere opens the station at the other end of the streams, and closes
// them in the end.
func OpenElsewhere(ctx context.Context, streams io.ReadWriteCloser, order StationOrder) (*Elsewhere, error) {
	e := &Elsewhere{streams: streams, answers: stopwatt.NewLineReader(streams, longestLine)}
	a, err := e.ask(ctx, question{Ask: askOpen, Order: &order})
	if err == nil && a.Greeting == nil {
		err = errors.New("the meters elsewhere: they did not greet")
	}
	if err != nil {
		return nil, errors.Join(err, streams.Close())
	}
	e.greeting = *a.Greeting
	return e, nil
}

// ask asks one question. When it is not answered, nothing more can be asked.
func (e *Elsewhere) ask(ctx context.Context, q question) (answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return answer{}, e.broken
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin+q.Lasting)
	defer cancel()
	letGo := context.AfterFunc(ctx, func() { _ = e.streams.Close() }) // which lets the reader go: its error counts
	defer letGo()
	a, err := e.exchange(q)
	switch {
	case err == nil && a.Failure != "":
		return answer{}, errors.New(a.Failure)
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	e.broken = fmt.Errorf("the meters elsewhere: %s: %w", q.Ask, err)
	return answer{}, e.broken
}

// Broken says why nothing more can be asked; nil: it can, as far as is known.
func (e *Elsewhere) Broken() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// exchange sends a line and reads the one that answers it.
func (e *Elsewhere) exchange(q question) (a answer, err error) {
	line, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	if _, err := e.streams.Write(append(line, '\n')); err != nil {
		return a, err
	}
	line, err = e.answers.Next()
	if err == io.EOF {
		return a, errors.New("the program that reads them has ended")
	}
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(line, &a)
}

// SameKernel tells whether that machine runs under the kernel that this process
// runs under: its CLOCK_MONOTONIC is read here, too.
func (e *Elsewhere) SameKernel() bool {
	boot := Host{}.boot()
	return boot != "" && boot == e.greeting.Boot
}

// Machine names that machine.
func (e *Elsewhere) Machine() stopwatt.Machine { return e.greeting.Machine }

// Meters lists its energy meters, those that cannot be read among them.
func (e *Elsewhere) Meters() []stopwatt.Meter { return e.greeting.Meters }

// readingFields are the names of a MachineReading's fields that may be absent.
var readingFields = []string{"CPU", "Load", "Frequency", "FrequencyLeast", "Overheated", "Temperature", "BoardAlarms", "PressureCPU", "PressureMemory", "PressureIO"}

// Reading reads what that machine says of itself.
func (e *Elsewhere) Reading() stopwatt.MachineReading {
	return e.reading(question{Ask: askReading})
}

// reading asks what a reading answers. Without an answer all of it is absent.
func (e *Elsewhere) reading(q question) stopwatt.MachineReading {
	a, err := e.ask(context.Background(), q)
	if err == nil && a.Reading != nil {
		return *a.Reading
	}
	return stopwatt.MachineReading{Absent: absentAll(readingFields, unanswered(err))}
}

// absentAll says of every field that it is absent, for one reason.
func absentAll(fields []string, reason string) map[string]string {
	absent := map[string]string{}
	for _, field := range fields {
		absent[field] = reason
	}
	return absent
}

// unanswered says why there is no answer.
func unanswered(err error) string {
	if err == nil {
		return "the meters elsewhere said nothing"
	}
	return err.Error()
}

// Account opens the accounting of the container whose first process has this
// PID on that machine.
func (e *Elsewhere) Account(pid int) (Accounting, error) {
	a, err := e.ask(context.Background(), question{Ask: askAccount, PID: pid})
	if err != nil {
		return nil, err
	}
	return &distantAccount{e, a.Handle}, nil
}

// Watch begins to watch over a window there. Counters are those of Account.
func (e *Elsewhere) Watch(containers map[string]Counter) Watching {
	roles := map[string]int{}
	for role, counter := range containers {
		if account, ok := counter.(*distantAccount); ok {
			roles[role] = account.handle
		}
	}
	a, _ := e.ask(context.Background(), question{Ask: askWatch, Roles: roles}) // what follows tells that it failed
	return &distantWatch{e, a.Handle}
}

// Idle measures that machine while nothing runs on it.
func (e *Elsewhere) Idle(ctx context.Context, place stopwatt.IdlePlace, lasting time.Duration) (stopwatt.IdleWindow, error) {
	a, err := e.ask(ctx, question{Ask: askIdle, Place: place, Lasting: lasting})
	if err != nil || a.Idle == nil {
		return stopwatt.IdleWindow{Place: place}, err
	}
	return *a.Idle, nil
}

// Settle waits until that machine is as quiet and cool as it was.
func (e *Elsewhere) Settle(ctx context.Context, earlier stopwatt.MachineReading, atMost time.Duration) (time.Duration, stopwatt.MachineReading, error) {
	a, err := e.ask(ctx, question{Ask: askSettle, Before: stopwatt.Reading{Machine: earlier}, Lasting: atMost})
	if err != nil || a.Reading == nil {
		return 0, earlier, err
	}
	return a.Waited, *a.Reading, nil
}

// Findings says how fit that machine is, and what its energy meters read now.
func (e *Elsewhere) Findings(ctx context.Context, lasting time.Duration) ([]stopwatt.Finding, error) {
	a, err := e.ask(ctx, question{Ask: askFindings, Lasting: lasting})
	return a.Findings, err
}

// Close ends the conversation, and with it the program at its other end.
func (e *Elsewhere) Close() { _ = e.streams.Close() } // nothing more is asked

// A distantAccount is an Account elsewhere.
type distantAccount struct {
	elsewhere *Elsewhere
	handle    int
}

func (d *distantAccount) Read() stopwatt.Usage {
	a, err := d.elsewhere.ask(context.Background(), question{Ask: askUsage, Handle: d.handle})
	if err == nil && a.Usage != nil {
		return *a.Usage
	}
	return stopwatt.Usage{Absent: absentAll(stopwatt.UsageFields, unanswered(err))}
}

func (d *distantAccount) Number(field string) (int64, error) {
	a, err := d.elsewhere.ask(context.Background(), question{Ask: askNumber, Handle: d.handle, Field: field})
	return a.Number, err
}

func (d *distantAccount) Close() error {
	_, err := d.elsewhere.ask(context.Background(), question{Ask: askClose, Handle: d.handle})
	return err
}

// A distantWatch is a Watch elsewhere.
type distantWatch struct {
	elsewhere *Elsewhere
	handle    int
}

func (d *distantWatch) Edge() stopwatt.MachineReading {
	return d.elsewhere.reading(question{Ask: askEdge, Handle: d.handle})
}

// Tell says what was seen; without an answer all of it is absent.
func (d *distantWatch) Tell(window stopwatt.Window, before, after stopwatt.Reading) stopwatt.Testimony {
	a, err := d.elsewhere.ask(context.Background(), question{Ask: askTell, Handle: d.handle, Window: window, Before: before, After: after})
	if err == nil && a.Testimony != nil {
		return *a.Testimony
	}
	var testimony stopwatt.Testimony
	for _, metric := range stopwatt.MachineMetrics {
		testimony.Absent = append(testimony.Absent, stopwatt.Absence{Metric: metric, Reason: unanswered(err)})
	}
	for _, meter := range d.elsewhere.Meters() {
		testimony.Energies = append(testimony.Energies, stopwatt.Energy{Meter: meter.Name, Absent: unanswered(err)})
	}
	return testimony
}

func (d *distantWatch) Close() {
	_, _ = d.elsewhere.ask(context.Background(), question{Ask: askClose, Handle: d.handle}) // it ends with the conversation at the latest
}
