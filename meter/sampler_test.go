package meter

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter/simulated"
)

// sampled begins to sample one instrument.
func sampled(t *testing.T, from instrument, every time.Duration) *Sampler {
	t.Helper()
	meters := &Meters{meters: []openMeter{{name: "x", instrument: from}, {name: "y", refused: errors.New("it is not there")}}}
	s := meters.Sample(every)
	t.Cleanup(s.Stop)
	return s
}

func TestAnEdgeReadsEveryMeterThatThereIs(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	from := rapl(1)
	from.read = func(into []int64) error { into[0] = reads.Add(1); return nil }
	s := sampled(t, from, time.Hour)
	before := s.Edge()
	after := s.Edge()
	if n := reads.Load(); n < 2 || n > 3 { // the sampler's own first reading may be among them
		t.Errorf("%d readings", n)
	}
	window := stopwatt.Window{Start: before.At, End: after.At}
	energies := s.Window(before, after, window)
	if energies[1].Meter != "y" || energies[1].Absent != "it is not there" {
		t.Errorf("%+v", energies[1])
	}
	if got := s.Samples(before, after); len(got) != 1 || got[0].Meter != "x" || len(got[0].Times) < 2 {
		t.Errorf("%+v", got)
	}
}

func TestADriverThatIsAlwaysBusyIsNotAskedMoreOften(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	asked := make(chan struct{}, 100)
	busy := ina
	busy.read = func([]int64) error { reads.Add(1); asked <- struct{}{}; return syscall.EAGAIN }
	s := sampled(t, busy, 10*time.Millisecond)
	began := Host{}.Monotonic()
	for range 4 {
		<-asked
	}
	// Four readings, 140 ms from each other although 10 were asked for.
	if elapsed := (Host{}).Monotonic() - began; elapsed < 3*139*ms {
		t.Errorf("four readings in %d ms", elapsed/ms)
	}
	edge := s.Edge()
	if got := edge.marks[0].reason; got != "resource temporarily unavailable" {
		t.Errorf("the edge says %q", got)
	}
	energy := s.Window(edge, edge, stopwatt.Window{Start: began, End: edge.At})[0]
	if !strings.Contains(energy.Absent, "it gave no reading; the last failure: resource temporarily unavailable") {
		t.Errorf("%+v", energy)
	}
}

func TestAMeterThatHangsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	entered := make(chan struct{}, 1000)
	slow := plug
	slow.read = func([]int64) error { entered <- struct{}{}; <-hold; return errors.New("it did not answer") }
	fast := make(chan struct{}, 100_000)
	quick := rapl(1)
	quick.read = func(into []int64) error { into[0]++; fast <- struct{}{}; return nil }
	meters := &Meters{meters: []openMeter{{name: "slow", instrument: slow}, {name: "quick", instrument: quick}}}
	s := meters.Sample(time.Millisecond)
	defer s.Stop()
	<-entered
	for range 5 {
		<-fast
	}
	close(hold)
	edge := s.Edge()
	if edge.marks[0].reason != "it did not answer" || edge.marks[1].reason != "" || edge.marks[1].last == 0 {
		t.Errorf("marks %+v", edge.marks)
	}
}

func TestAMeterThatKeepsSilentIsNotWaitedForAtEdges(t *testing.T) {
	t.Parallel()
	reads := 0
	silent := plug
	silent.read = func([]int64) error { reads++; return errors.New("it did not answer") }
	track := newTrack(silent, time.Hour, func() {})
	for range 5 {
		var m mark
		track.mark(Host{}, &m)
		if m.reason != "it did not answer" || m.last != 0 {
			t.Errorf("mark %+v", m)
		}
	}
	if reads != 3 {
		t.Errorf("it was asked %d times", reads)
	}
}

func TestAReadingThatTookTooLongIsTakenAgain(t *testing.T) {
	t.Parallel()
	reads := 0
	from := rapl(1)
	from.read = func(into []int64) error {
		reads++
		if into[0] = int64(reads); reads == 1 {
			time.Sleep(2 * slowest) // the process is held up
		}
		return nil
	}
	track := newTrack(from, time.Second, func() {})
	if _, err := track.take(Host{}); err != nil || reads < 2 || len(track.times) != 1 {
		t.Errorf("%d readings, %d samples, %v", reads, len(track.times), err)
	}
}

func TestASuspendedMachineHasNoEnergy(t *testing.T) {
	t.Parallel()
	from := rapl(1)
	from.read = func(into []int64) error { into[0] += 1000; return nil }
	s := sampled(t, from, time.Millisecond)
	before, after := s.Edge(), s.Edge()
	after.slept += 3 * int64(time.Second)
	energy := s.Window(before, after, stopwatt.Window{Start: before.At, End: after.At})[0]
	if energy.Absent != "the machine was suspended for 3.0 s meanwhile" {
		t.Errorf("%+v", energy)
	}
}

func TestIdlePowerIsGivenUpWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	meters := &Meters{meters: []openMeter{{name: "x", instrument: rapl(1)}}}
	if _, err := meters.Idle(ctx, time.Hour, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := meters.Look(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestLookSaysWhatMetersReadNow(t *testing.T) {
	t.Parallel()
	machine := simulated.Start(t, "board", 7)
	meters := metersOf(t, machine)
	meters.meters = append(meters.meters, openMeter{name: "gone", refused: errors.New("it is not there")},
		openMeter{name: "mute", instrument: instrument{source: "ina219", read: func([]int64) error { return syscall.ENODATA }, close: func() error { return nil }}})
	findings, err := meters.Look(context.Background(), 1200*time.Millisecond)
	if err != nil || len(findings) != 4 {
		t.Fatalf("%+v, %v", findings, err)
	}
	for i, want := range []string{"rapl package-0: ", "ina226: ", "http 127.0.0.1:", "ina219 is here, but gave no reading: no data available"} {
		fit := i < 3
		if f := findings[i]; !strings.HasPrefix(f.Says, want) || (f.Verdict == stopwatt.Fit) != fit || fit != strings.Contains(f.Says, " W now") {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

// BenchmarkSampler samples a simulated server ten times a second, and reports
// how much of one CPU that costs: this process alone, the machine is another.
// What costs is to wake up, and to find caches cold. How much so on this
// computer a bare timer shows; a virtual machine's host may take its share of
// the time unseen. What the readings cost by themselves BenchmarkEdge shows.
func BenchmarkSampler(b *testing.B) {
	machine := simulated.Start(b, "server", 1)
	all := metersOf(b, machine)
	b.Run("bare timer", func(b *testing.B) {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		done := make(chan struct{})
		defer close(done)
		go func() {
			for {
				select {
				case <-ticker.C:
				case <-done:
					return
				}
			}
		}()
		share(b, machine)
	})
	b.Run("rapl and ina226", func(b *testing.B) {
		s := (&Meters{host: all.host, meters: all.meters[:2]}).Sample(100 * time.Millisecond)
		defer s.Stop()
		share(b, machine)
	})
	lab := stopwatt.HTTPMeter{URL: machine.URL, Field: "electricity_consumed_total", Unit: stopwatt.Joules, Renewal: 125 * time.Millisecond}
	known, err := openHTTP(lab)
	if err != nil {
		b.Fatal(err)
	}
	defer known.close()
	b.Run("rapl and ina226 and http", func(b *testing.B) {
		s := (&Meters{host: all.host, meters: append(all.meters[:2:2], openMeter{name: "lab", instrument: known})}).Sample(100 * time.Millisecond)
		defer s.Stop()
		share(b, machine)
	})
	b.Run("rapl and ina226 and http that is watched", func(b *testing.B) {
		s := all.Sample(100 * time.Millisecond)
		defer s.Stop()
		share(b, machine)
	})
}

// share waits for three seconds and reports what was used meanwhile.
func share(b *testing.B, machine *simulated.Machine) {
	for b.Loop() {
		began, used := Host{}.Monotonic(), usedCPU(b)
		machine.Wait(began + 3000*ms)
		b.ReportMetric(100*float64(usedCPU(b)-used)/float64(Host{}.Monotonic()-began), "%-of-a-CPU")
	}
}

// BenchmarkEdge reads all counters and sensors of a simulated server once, as at
// an edge of a window: what a wake-up of the sampler does when it is awake.
func BenchmarkEdge(b *testing.B) {
	all := metersOf(b, simulated.Start(b, "server", 1))
	s := (&Meters{host: all.host, meters: all.meters[:2]}).Sample(time.Hour)
	defer s.Stop()
	b.ReportAllocs()
	for b.Loop() {
		s.Edge()
	}
}

// usedCPU is the CPU time of this process, in nanoseconds.
func usedCPU(b *testing.B) int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
