package meter

import (
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// An Observer watches the machine while something is measured on it.
type Observer struct {
	Host    Host
	Sampler *Sampler      // of the energy meters; nil: there are none
	Every   time.Duration // from one sample of machine and containers to the next
	// MostForeign is the share of the CPU that others may use unremarked.
	MostForeign float64
}

// A Counter tells how much of something was used so far, by its name in
// stopwatt.UsageFields.
type Counter interface {
	Number(field string) (int64, error)
}

// A Watch watches over one window. It is asked for two edges, then tells.
type Watch struct {
	observer Observer
	edges    []Edge
	machine  *Vmstat // nil when it cannot be read
	rows     rows
	cpus     []cpuTrack
	leave    func() // the sampler
	stopping sync.Once
}

// Watch begins to sample the machine and the CPU time of these containers, by
// their roles. Tell or Close must be called in the end.
func (o Observer) Watch(containers map[string]Counter) *Watch {
	w := &Watch{observer: o}
	w.machine, _ = o.Host.Vmstat() // without it, its columns are not there
	for _, role := range stopwatt.Roles {
		if counter := containers[role]; counter != nil {
			w.cpus = append(w.cpus, cpuTrack{role: role, counter: counter})
		}
	}
	w.sample()
	if o.Sampler != nil {
		w.leave = o.Sampler.ride(o.Every, w.sample)
		return w
	}
	without := (&Meters{host: o.Host}).Sample(o.Every)
	without.ride(o.Every, w.sample)
	w.leave = without.Stop
	return w
}

// sample reads the machine and the containers once.
func (w *Watch) sample() {
	if w.machine != nil {
		if at, row, err := w.machine.Read(); err == nil {
			w.rows.add(at, row)
		}
	}
	for i := range w.cpus {
		w.cpus[i].read(w.observer.Host.Monotonic())
	}
}

// Edge reads the machine and the energy meters at an edge of the window: in
// front of it the energy meters last, behind it first, so that they are read
// as near to it as can be.
func (w *Watch) Edge() stopwatt.MachineReading {
	if len(w.edges) == 0 {
		reading := w.observer.Host.Reading()
		w.edges = append(w.edges, w.observer.Sampler.Edge())
		return reading
	}
	w.edges = append(w.edges, w.observer.Sampler.Edge())
	return w.observer.Host.Reading()
}

// Tell stops watching and says what was seen between the two edges. Before and
// after are all that was read at them.
func (w *Watch) Tell(window stopwatt.Window, before, after stopwatt.Reading) stopwatt.Testimony {
	w.Close()
	front, back := w.edges[0], w.edges[len(w.edges)-1]
	figures, absent := machineFigures(before, after)
	testimony := stopwatt.Testimony{
		Figures:  figures,
		Absent:   absent,
		Energies: w.observer.Sampler.Window(front, back, window),
		Samples:  w.observer.Sampler.Samples(front, back),
		Doubts:   Doubts(before, after, w.observer.MostForeign),
	}
	for _, track := range w.cpus {
		testimony.Samples = append(testimony.Samples, track.samples())
	}
	testimony.Samples = append(testimony.Samples, w.rows.samples()...)
	return testimony
}

// Close stops watching. It may be called twice.
func (w *Watch) Close() {
	w.stopping.Do(func() {
		w.leave()
		w.sample()
		if w.machine != nil {
			_ = w.machine.Close() // files that were only read
		}
	})
}

// A cpuTrack is a container's CPU time over time.
type cpuTrack struct {
	role    string
	counter Counter
	times   []int64
	values  []int64
}

// read reads the counter once; a reading that fails leaves a gap.
func (t *cpuTrack) read(at int64) {
	if value, err := t.counter.Number("CPU"); err == nil {
		t.times, t.values = append(t.times, at), append(t.values, value)
	}
}

func (t *cpuTrack) samples() stopwatt.Samples {
	return stopwatt.Samples{Meter: t.role, Quantity: stopwatt.CPUUsed, Times: t.times, Values: t.values}
}

// rows are the columns of vmstat over time.
type rows struct {
	times   []int64
	columns [len(VmstatColumns)][]int64
}

// add keeps a row, in thousandths.
func (r *rows) add(at int64, row VmstatRow) {
	r.times = append(r.times, at)
	for i, value := range row {
		r.columns[i] = append(r.columns[i], int64(value*1000+0.5))
	}
}

func (r *rows) samples() []stopwatt.Samples {
	if len(r.times) == 0 {
		return nil
	}
	var all []stopwatt.Samples
	for i, column := range VmstatColumns {
		all = append(all, stopwatt.Samples{Meter: "vmstat", Quantity: stopwatt.Quantity(column), Times: r.times, Values: r.columns[i]})
	}
	return all
}

// IdleWindow watches the machine for a while in which nothing is measured, and
// says what its energy meters drew meanwhile.
func (o Observer) IdleWindow(place stopwatt.IdlePlace, idle func() ([]stopwatt.IdlePower, error)) (stopwatt.IdleWindow, error) {
	window := stopwatt.IdleWindow{Place: place, Started: time.Now()}
	w := o.Watch(nil)
	defer w.Close()
	window.Window.Start = o.Host.Monotonic()
	powers, err := idle()
	window.Window.End = o.Host.Monotonic()
	w.Close()
	window.Powers, window.Samples = powers, w.rows.samples()
	return window, err
}
