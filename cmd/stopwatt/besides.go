package main

import (
	"context"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter"
)

// besides are energy meters that this process asks while the machine's other
// meters are read elsewhere, under the same kernel and by the same clock. A nil
// one has no meters.
type besides struct {
	meters  *meter.Meters
	sampler *meter.Sampler
	every   time.Duration
}

// shared divides the meters of a machine file into those that are read from its
// files, and those that are asked over the network or by a program.
func shared(settings []stopwatt.MeterSetting) (files, asked []stopwatt.MeterSetting) {
	if settings == nil {
		return nil, nil // those that are found: all of them files
	}
	files = []stopwatt.MeterSetting{} // not nil: none are looked for beside those that are named
	for _, setting := range settings {
		if setting.HTTP != nil || setting.Command != nil {
			asked = append(asked, setting)
			continue
		}
		files = append(files, setting)
	}
	return files, asked
}

// openBesides opens these meters and begins to sample them.
func openBesides(settings []stopwatt.MeterSetting, every time.Duration) *besides {
	meters, _ := meter.OpenMeters(meter.Host{Fetch: fetch}, stopwatt.MachineFile{Meters: settings}) // what cannot be read is told as absent
	return &besides{meters: meters, sampler: meters.Sample(every), every: every}
}

// list lists the meters.
func (b *besides) list() []stopwatt.Meter {
	if b == nil {
		return nil
	}
	return b.meters.List()
}

// look says what the meters read now.
func (b *besides) look(ctx context.Context, lasting time.Duration) ([]stopwatt.Finding, error) {
	if b == nil {
		return nil, nil
	}
	b.sampler.Stop()
	findings, err := b.meters.Look(ctx, lasting)
	b.sampler = b.meters.Sample(b.every)
	return findings, err
}

// idle begins to measure idle power. What it returns waits for the end.
func (b *besides) idle(ctx context.Context, lasting time.Duration) (powers func() []stopwatt.IdlePower) {
	if b == nil {
		return func() []stopwatt.IdlePower { return nil }
	}
	measured := make(chan []stopwatt.IdlePower, 1)
	go func() {
		powers, _ := b.sampler.Idle(ctx, lasting) // whose error is that of ctx, which ends the other meters' idle window too
		measured <- powers
	}()
	return func() []stopwatt.IdlePower { return <-measured }
}

// watch has a watch tell of these meters, too.
func (b *besides) watch(watch meter.Watching) meter.Watching {
	if b == nil {
		return watch
	}
	return &widerWatch{Watching: watch, sampler: b.sampler}
}

// close ends the sampling.
func (b *besides) close() {
	if b == nil {
		return
	}
	b.sampler.Stop()
	_ = b.meters.Close() // what was only read
}

// A widerWatch is a watch that knows more energy meters.
type widerWatch struct {
	meter.Watching
	sampler *meter.Sampler
	edges   []meter.Edge
}

// Edge reads both, ours on the far side of the window: the others' time is
// known better.
func (w *widerWatch) Edge() stopwatt.MachineReading {
	if len(w.edges) == 0 {
		w.edges = append(w.edges, w.sampler.Edge())
		return w.Watching.Edge()
	}
	reading := w.Watching.Edge()
	w.edges = append(w.edges, w.sampler.Edge())
	return reading
}

// Tell says what both have seen.
func (w *widerWatch) Tell(window stopwatt.Window, before, after stopwatt.Reading) stopwatt.Testimony {
	testimony := w.Watching.Tell(window, before, after)
	front, back := w.edges[0], w.edges[len(w.edges)-1]
	testimony.Energies = append(testimony.Energies, w.sampler.Window(front, back, window)...)
	testimony.Samples = append(testimony.Samples, w.sampler.Samples(front, back)...)
	return testimony
}
