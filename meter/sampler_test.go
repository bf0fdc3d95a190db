package meter

import (
	"context"
	"errors"
	"slices"
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
	s := meters.Sample(time.Hour)
	defer s.Stop()
	if _, err := s.Idle(ctx, time.Hour); !errors.Is(err, context.Canceled) {
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
	var findings []stopwatt.Finding
	for range 10 { // again where the machine's writer had to wait for a CPU
		var err error
		if findings, err = meters.Look(context.Background(), 1200*time.Millisecond); err != nil || len(findings) != 4 {
			t.Fatalf("%+v, %v", findings, err)
		}
		if !slices.ContainsFunc(findings[:3], func(f stopwatt.Finding) bool { return f.Verdict != stopwatt.Fit }) {
			break
		}
	}
	for i, want := range []string{"rapl package-0: ", "ina226: ", "http 127.0.0.1:", "ina219 is here, but gave no reading: no data available"} {
		fit := i < 3
		if f := findings[i]; !strings.HasPrefix(f.Says, want) || (f.Verdict == stopwatt.Fit) != fit || fit != strings.Contains(f.Says, " W now") {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

func TestATotalThatStandsStillIsNotToldAsZeroWatts(t *testing.T) {
	t.Parallel()
	still := func(renewal time.Duration) openMeter {
		from := rapl(1)
		from.source, from.renewal, from.close = "rapl package-0", renewal, func() error { return nil }
		from.read = func(into []int64) error { into[0] = 17; return nil }
		return openMeter{name: "cpu", instrument: from}
	}
	meters := &Meters{meters: []openMeter{still(raplRenewal), still(0)}}
	findings, err := meters.Look(t.Context(), 300*time.Millisecond)
	if err != nil || len(findings) != 2 {
		t.Fatalf("%+v, %v", findings, err)
	}
	for i, want := range []stopwatt.Fitness{stopwatt.Unfit, stopwatt.Doubtful} {
		if f := findings[i]; f.Verdict != want || f.Says != "rapl package-0 is here, but its counter stood still for 300ms" {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

func TestWhatIsDueSoonSharesAWakeUp(t *testing.T) {
	t.Parallel()
	const hour = int64(time.Hour)
	for name, test := range map[string]struct {
		of    instrument
		in    int64 // from now until it is due
		reads bool
	}{
		"a counter that is due":                {rapl(1), 0, true},
		"a counter that is due soon":           {rapl(1), hour / 3, true},
		"a counter that was read not long ago": {rapl(1), hour * 2 / 3, false},
		"a sensor that is due soon":            {ina, hour / 3, false},
	} {
		var read, rode int
		from := test.of
		from.read = func([]int64) error { read++; return nil }
		s := &Sampler{grew: make(chan struct{}, 1)}
		s.tracks = []*track{newTrack(from, time.Hour, s.note)}
		s.tracks[0].due.Store(Host{}.Monotonic() + test.in)
		leave := s.ride(time.Hour, func() { rode++ })
		s.riders[0].due = Host{}.Monotonic() + test.in
		next := s.round(time.Hour)
		if (read == 1) != test.reads || (rode == 1) != (test.in < hour/2) {
			t.Errorf("%s: %d readings, %d of the rider", name, read, rode)
		}
		if want := hour; rode == 0 && int64(next) > test.in || rode == 1 && test.reads && (int64(next) > want || int64(next) < want/2) {
			t.Errorf("%s: the next wake-up is in %s", name, next)
		}
		leave()
		s.riders = append(s.riders, &rider{period: hour, due: hour + Host{}.Monotonic()*2, read: func() {}})
		if s.round(time.Hour); rode > 1 {
			t.Errorf("%s: a rider that has left was read", name)
		}
	}
}

// BenchmarkSampler samples a simulated server ten times a second, and reports
// how much of one CPU that costs: this process alone, the machine is another.
// What costs is to wake up, and to find caches cold: how much on this computer a
// bare timer shows, beside a process that does nothing. All take turns, so that
// what else the computer does falls on each. A virtual machine's host may take
// its share of the time unseen. What the readings cost by themselves
// BenchmarkEdge and BenchmarkVmstat show.
func BenchmarkSampler(b *testing.B) {
	machine := simulated.Start(b, "server", 1)
	all := metersOf(b, machine)
	lab := stopwatt.HTTPMeter{URL: machine.URL, Field: "electricity_consumed_total", Unit: stopwatt.Joules, Renewal: 125 * time.Millisecond}
	known, err := asking.openHTTP(lab)
	if err != nil {
		b.Fatal(err)
	}
	defer known.close()
	files := &Meters{host: all.host, meters: all.meters[:2]}
	asked := &Meters{host: all.host, meters: append(all.meters[:2:2], openMeter{name: "lab", instrument: known})}
	sampling := func(m *Meters) func() func() {
		return func() func() { return m.Sample(100 * time.Millisecond).Stop }
	}
	kinds := []struct {
		unit  string
		begin func() (end func())
	}{
		{"%-nothing", func() func() { return func() {} }},
		{"%-bare-timer", bareTimer},
		{"%-rapl+ina226", sampling(files)},
		{"%-rapl+ina226+machine", func() func() {
			s := files.Sample(100 * time.Millisecond)
			w := Observer{Sampler: s, Every: 100 * time.Millisecond}.Watch(nil)
			return func() { w.Close(); s.Stop() }
		}},
		{"%-with-http", sampling(asked)},
		{"%-with-http-watched", sampling(all)},
	}
	const turns, turn = 5, 4 * time.Second
	for b.Loop() {
		shares := make([][]float64, len(kinds))
		for range turns {
			for i, kind := range kinds {
				end := kind.begin()
				shares[i] = append(shares[i], share(b, machine, turn))
				end()
			}
		}
		for i, kind := range kinds {
			slices.Sort(shares[i])
			b.ReportMetric(shares[i][turns/2], kind.unit)
		}
	}
}

// bareTimer wakes up ten times a second and does nothing.
func bareTimer() (end func()) {
	ticker := time.NewTicker(100 * time.Millisecond)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

// share waits and returns what per cent of a CPU was used meanwhile.
func share(b *testing.B, machine *simulated.Machine, lasting time.Duration) float64 {
	began, used := Host{}.Monotonic(), usedCPU(b)
	machine.Wait(began + int64(lasting))
	return 100 * float64(usedCPU(b)-used) / float64(Host{}.Monotonic()-began)
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
