package meter

import (
	"context"
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// batches is into how many parts an idle window is divided. Readings that follow
// each other are alike, so that the spread of single ones would promise too
// much; means of long parts are nearly independent (batch means: Schmeiser,
// Batch Size Effects in the Analysis of Simulation Output, 1982, who finds ten
// to thirty enough).
const batches = 15

// Idle lets the machine be for a while, in which nothing should run, and says
// what each meter drew in the mean, with the standard error of that. The sampler
// is the one that runs in every other window, and costs what it does then. The
// error is that of ctx.
func (s *Sampler) Idle(ctx context.Context, lasting time.Duration) ([]stopwatt.IdlePower, error) {
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	before := s.Edge()
	if err := pause(ctx, lasting); err != nil {
		return nil, err
	}
	after := s.Edge()
	return s.idle(before, after), nil
}

// settle waits until power sensors have told of the time that is about to
// begin: twice the time of their renewal.
func (s *Sampler) settle(ctx context.Context) error {
	longest := time.Duration(0)
	for _, t := range s.present() {
		if !t.cumulative() {
			longest = max(longest, 2*t.period)
		}
	}
	return pause(ctx, longest)
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// idle is the power between two edges.
func (s *Sampler) idle(before, after Edge) []stopwatt.IdlePower {
	window := stopwatt.Window{Start: before.At, End: after.At}
	var all []stopwatt.IdlePower
	for i, energy := range s.Window(before, after, window) {
		power := stopwatt.IdlePower{Meter: energy.Meter, Over: window.Duration(), Absent: energy.Absent, Warnings: energy.Warnings}
		if energy.Absent == "" {
			power.Watts = float64(energy.Gross) / 1e6 / window.Duration().Seconds()
			power.Error = s.tracks[i].standardError(window)
		}
		all = append(all, power)
	}
	return all
}

// standardError is that of the mean power of a window, in watts.
func (t *track) standardError(window stopwatt.Window) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := (window.End - window.Start) / batches
	var means []float64
	for i := range int64(batches) {
		batch := stopwatt.Window{Start: window.Start + i*step, End: window.Start + (i+1)*step}
		if microjoules, covered := t.used(batch); covered > 0 {
			means = append(means, microjoules/1e6/(float64(covered)/1e9))
		}
	}
	return errorOf(means)
}

// errorOf is the standard error of the mean of values.
func errorOf(values []float64) float64 {
	n := float64(len(values))
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(squares / (n - 1) / n)
}
