package meter

import (
	"context"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A StationOrder says what a Station reads, and how often.
type StationOrder struct {
	// MetersRoot is where the energy meters' files are found, like Host.Root.
	MetersRoot string
	NoCounters bool                 // as in Host
	Every      time.Duration        // from one reading of a meter to the next
	File       stopwatt.MachineFile // names the meters
	// Fetch is that of Host. It does not travel: a station elsewhere asks nobody.
	Fetch func(ctx context.Context, address string) (Answer, error) `json:"-"`
}

// A Station is a machine whose counters and energy meters are open for a run,
// and sampled. An Elsewhere is the same, of a machine that cannot be read from
// here.
type Station struct {
	order   StationOrder
	host    Host
	meters  *Meters
	refused []stopwatt.Finding // of meters that could not be opened
	sampler *Sampler
}

// Accounting is what an Account can be asked.
type Accounting interface {
	Read() stopwatt.Usage
	Counter
	Close() error
}

// Watching is what a Watch can be asked.
type Watching interface {
	Edge() stopwatt.MachineReading
	Tell(window stopwatt.Window, before, after stopwatt.Reading) stopwatt.Testimony
	Close()
}

// Open opens this machine. It never fails: a meter that cannot be read is
// absent, and Findings says why.
func Open(order StationOrder) *Station {
	host := Host{Root: order.MetersRoot, Fetch: order.Fetch}
	meters, refused := OpenMeters(host, order.File)
	return newStation(order, meters, refused)
}

// newStation begins to sample what was opened.
func newStation(order StationOrder, meters *Meters, refused []stopwatt.Finding) *Station {
	s := &Station{order: order, host: Host{NoCounters: order.NoCounters}, meters: meters, refused: refused}
	s.sampler = meters.Sample(order.Every)
	return s
}

// Machine names this machine.
func (s *Station) Machine() stopwatt.Machine { return s.host.Machine() }

// Reading reads what the machine says of itself.
func (s *Station) Reading() stopwatt.MachineReading { return s.host.Reading() }

// Meters lists the energy meters, those that cannot be read among them.
func (s *Station) Meters() []stopwatt.Meter { return s.meters.List() }

// Denied names the energy meters that are here, but may not be read by this
// user.
func (s *Station) Denied() []string { return s.meters.denied() }

// Account opens the accounting of a container, as Host.Account does.
func (s *Station) Account(pid int) (Accounting, error) {
	account, err := s.host.Account(pid)
	if err != nil {
		return nil, err
	}
	return account, nil
}

// Watch begins to watch over a window, as Observer.Watch does.
func (s *Station) Watch(containers map[string]Counter) Watching {
	return s.observer().Watch(containers)
}

// observer watches with the sampler that runs now.
func (s *Station) observer() Observer {
	return Observer{Host: s.host, Sampler: s.sampler, Every: s.order.Every, MostForeign: MostForeign}
}

// idleWithout is how long an idle window is where no energy meter can be read:
// enough for the machine's own columns.
const idleWithout = time.Second

// Idle measures the machine while nothing runs on it.
func (s *Station) Idle(ctx context.Context, place stopwatt.IdlePlace, lasting time.Duration) (stopwatt.IdleWindow, error) {
	readable := func(m stopwatt.Meter) bool { return m.Absent == "" }
	if !slices.ContainsFunc(s.Meters(), readable) {
		lasting = min(lasting, idleWithout)
	}
	return s.observer().IdleWindow(place, func() ([]stopwatt.IdlePower, error) {
		return s.sampler.Idle(ctx, lasting)
	})
}

// Settle waits until the machine is as quiet and cool as it was, as Host.Settle
// does.
func (s *Station) Settle(ctx context.Context, earlier stopwatt.MachineReading, atMost time.Duration) (time.Duration, stopwatt.MachineReading, error) {
	return s.host.Settle(ctx, earlier, atMost)
}

// Findings says how fit the machine is, and after a while, a second or more,
// what its energy meters read now. The error is that of ctx.
func (s *Station) Findings(ctx context.Context, lasting time.Duration) ([]stopwatt.Finding, error) {
	findings := s.host.Findings()
	s.sampler.Stop()
	readable, err := s.meters.Look(ctx, lasting)
	s.sampler = s.meters.Sample(s.order.Every)
	return slices.Concat(findings, readable, s.refused), err
}

// Close ends the sampling and closes the meters.
func (s *Station) Close() {
	s.sampler.Stop()
	_ = s.meters.Close() // what was only read
}
