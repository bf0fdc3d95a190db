package meter

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter/simulated"
)

func TestMain(m *testing.M) {
	simulated.Main()
	runOrphanage()
	flag.Parse()
	// Tests with a simulated machine mostly wait for its clock: more of them at a
	// time than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// How far from the script's integral a meter may be, as a share of the gross
// energy. The INA226 averages over 140 ms, which the window's edges cut, and
// does not say when they began; the total over HTTP comes in steps of 125 ms.
var tolerances = map[string]float64{"cpu": 0.005, "board": 0.02, "lab": 0.02}

// needQuiet ends a test that plays a machine in real time where others may use
// this one meanwhile: make test runs those last and alone.
func needQuiet(t *testing.T) {
	t.Helper()
	if os.Getenv("STOPWATT_QUIET") == "" {
		t.Skip("it plays a machine in real time, for which this one must be quiet: make test runs it last and alone")
	}
}

// metersOf opens the meters of a simulated machine.
func metersOf(t testing.TB, machine *simulated.Machine) *Meters {
	t.Helper()
	meters, findings := OpenMeters(Host{Root: machine.Root, Fetch: asking.Fetch}, stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{
		{Name: "cpu", RAPL: stopwatt.RAPLPackage},
		{Name: "board", HWMon: &stopwatt.HWMonMeter{Chip: "ina226"}},
		{Name: "lab", HTTP: &stopwatt.HTTPMeter{URL: machine.URL, Field: "electricity_consumed_total", Unit: stopwatt.Joules}},
	}})
	t.Cleanup(func() { meters.Close() })
	if len(findings) > 0 {
		t.Fatalf("%+v", findings)
	}
	return meters
}

// faultOf says what is wrong with an energy: it is absent, or too far from the
// truth.
func faultOf(energy stopwatt.Energy, truth simulated.Reply) string {
	if energy.Absent != "" {
		return "absent: " + energy.Absent
	}
	return farFrom(float64(energy.Gross)/1e6, jouleOf(energy.Meter, truth), jouleOf(energy.Meter, truth)*tolerances[energy.Meter])
}

// jouleOf is what the script says of what a meter sees.
func jouleOf(meter string, reply simulated.Reply) float64 {
	if meter == "cpu" {
		return reply.CPU
	}
	return reply.Board
}

// farFrom says that joules are too far from what is wanted.
func farFrom(joules, want, tolerance float64) string {
	if math.Abs(joules-want) <= tolerance {
		return ""
	}
	return fmt.Sprintf("%.3f J, the script says %.3f ± %.3f", joules, want, tolerance)
}

// A drive is one window under load, and what was read round it.
type drive struct {
	before, after Edge
	window        stopwatt.Window
}

// load puts the machine under load for a while and reads the edges, as a trial
// does: before "go", and after the last answer. In between, things may happen.
func load(machine *simulated.Machine, s *Sampler, lasting time.Duration, happen func(start int64)) drive {
	var d drive
	d.before = s.Edge()
	d.window.Start = machine.Switch()
	happen(d.window.Start)
	machine.Wait(d.window.Start + int64(lasting))
	d.window.End = machine.Switch()
	d.after = s.Edge()
	return d
}

// starved tells that this computer was too busy to play a machine: near an edge
// the writer did not run for so long that its sensor was late, or this process
// for so long that it did not read near the edge. Counters are never late there:
// the writer brings them up to the edge when it switches the load.
func (d drive) starved(machine *simulated.Machine) bool {
	const writer, reader = 40 * ms, 12 * ms
	for _, edge := range []int64{d.window.Start, d.window.End} {
		if machine.Used(edge-140*ms, edge+140*ms).Late > writer {
			return true
		}
	}
	return d.window.Start-d.before.At > reader || d.after.At-d.window.End > reader
}

// covered tells that no meter missed a stretch of the window.
func (d drive) covered(s *Sampler) bool {
	return !slices.ContainsFunc(s.Window(d.before, d.after, d.window), func(e stopwatt.Energy) bool { return e.Coverage < 0.99 })
}

// undisturbed repeats a drive until it was not starved, and is good.
func undisturbed(t *testing.T, machine *simulated.Machine, s *Sampler, lasting time.Duration, good func(drive, *Sampler) bool, happen func(start int64)) drive {
	t.Helper()
	for range 5 {
		if d := load(machine, s, lasting, happen); !d.starved(machine) && good(d, s) {
			return d
		}
		machine.Wait(Host{}.Monotonic() + 500*ms)
	}
	t.Fatal("five windows in a row were disturbed: this computer is too busy to play a machine")
	return drive{}
}

// idleOf measures idle power, again when this process did not run for so long
// that readings are missing.
func idleOf(t *testing.T, meters *Meters) []stopwatt.IdlePower {
	t.Helper()
	s := meters.Sample(100 * time.Millisecond)
	defer s.Stop()
	var idles []stopwatt.IdlePower
	for range 4 {
		var err error
		if idles, err = s.Idle(context.Background(), 7200*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(idles, func(idle stopwatt.IdlePower) bool { return idle.Absent != "" || len(idle.Warnings) > 0 }) {
			break
		}
	}
	return idles
}

// TestJoulesAreThoseOfTheScript measures idle power and a window under load on
// each kind of machine. The same check must fail for whoever measures wrongly.
func TestJoulesAreThoseOfTheScript(t *testing.T) {
	needQuiet(t)
	t.Parallel()
	for i, layout := range []string{"board", "server", "dies"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			machine := simulated.Start(t, layout, uint64(time.Now().UnixNano())+uint64(i))
			meters := metersOf(t, machine)
			idles := idleOf(t, meters)
			s := meters.Sample(100 * time.Millisecond)
			defer s.Stop()
			now := Host{}.Monotonic()
			idle := machine.Used(now-2e9, now)
			machine.Wait(now + 400*ms)
			var late [2]Edge
			d := undisturbed(t, machine, s, 7500*time.Millisecond, drive.covered, func(start int64) {
				machine.Wait(start + 200*ms)
				late[0] = s.Edge()
			})
			machine.Wait(d.window.End + 200*ms)
			late[1] = s.Edge()
			truth := machine.Used(d.window.Start, d.window.End)
			t.Run("gross", func(t *testing.T) { grossIsRight(t, s, d, truth) })
			t.Run("net", func(t *testing.T) { netIsRight(t, s.Window(d.before, d.after, d.window), idles, d, truth, idle) })
			t.Run("edges shifted by 200 ms", func(t *testing.T) { shiftedIsWrong(t, s, d, late, truth) })
			t.Run("an edge dropped", func(t *testing.T) { droppedIsAbsent(t, s, d, truth) })
			t.Run("samples", func(t *testing.T) { samplesShowTheLoad(t, s, d) })
		})
	}
}

func grossIsRight(t *testing.T, s *Sampler, d drive, truth simulated.Reply) {
	for _, energy := range s.Window(d.before, d.after, d.window) {
		if fault := faultOf(energy, truth); fault != "" {
			t.Errorf("%s: %s", energy.Meter, fault)
		}
		if energy.Coverage < 0.99 || energy.Renewals < stopwatt.LeastRenewals || len(energy.Warnings) > 0 {
			t.Errorf("%+v", energy)
		}
		t.Logf("%s: %.3f J of %.3f (cpu) or %.3f (board)", energy.Meter, float64(energy.Gross)/1e6, truth.CPU, truth.Board)
	}
}

// netIsRight takes the idle power off, once and, to see that it is noticed,
// twice. The script's own idle power is that of two seconds without load.
func netIsRight(t *testing.T, energies []stopwatt.Energy, idles []stopwatt.IdlePower, d drive, truth, unloaded simulated.Reply) {
	seconds := d.window.Duration().Seconds()
	for i, energy := range energies {
		idle := idles[i]
		if idle.Absent != "" || idle.Meter != energy.Meter || idle.Error <= 0 || idle.Error > idle.Watts/20 {
			t.Errorf("idle %+v", idle)
			continue
		}
		gross := jouleOf(energy.Meter, truth)
		want := gross - jouleOf(energy.Meter, unloaded)/2*seconds
		once, uncertainty := energy.NetOf(idle, d.window)
		tolerance := gross*tolerances[energy.Meter] + 3*uncertainty
		if fault := farFrom(once, want, tolerance); fault != "" {
			t.Errorf("%s net: %s", energy.Meter, fault)
		}
		if fault := farFrom(once-idle.Watts*seconds, want, tolerance); fault == "" {
			t.Errorf("%s: idle power was taken off twice, and nobody notices", energy.Meter)
		}
	}
}

// shiftedIsWrong reads the edges 200 ms late: what lies between them is not
// what the window used.
func shiftedIsWrong(t *testing.T, s *Sampler, d drive, late [2]Edge, truth simulated.Reply) {
	shifted := stopwatt.Window{Start: d.window.Start + 200*ms, End: d.window.End + 200*ms}
	for _, energy := range s.Window(late[0], late[1], shifted) {
		if energy.Absent != "" {
			t.Errorf("%s: %s", energy.Meter, energy.Absent)
		}
		// The others' steps are nearly as long as the shift.
		if faultOf(energy, truth) == "" && energy.Meter == "cpu" {
			t.Errorf("%s: %d µJ of edges 200 ms late pass for the window's", energy.Meter, energy.Gross)
		}
	}
	// And whoever knows the window sees that its edges were not read.
	for _, energy := range s.Window(late[0], late[1], d.window) {
		if !strings.HasPrefix(energy.Absent, "it was read ") && energy.Meter == "cpu" {
			t.Errorf("%s: absent %q", energy.Meter, energy.Absent)
		}
	}
}

// droppedIsAbsent leaves an edge out. A sensor of power can do without: it has
// neighbours on both sides.
func droppedIsAbsent(t *testing.T, s *Sampler, d drive, truth simulated.Reply) {
	for name, edges := range map[string][2]Edge{"start": {{}, d.after}, "end": {d.before, {}}} {
		for _, energy := range s.Window(edges[0], edges[1], d.window) {
			want := energy.Meter != "board"
			if fault := faultOf(energy, truth); (fault != "") != want || want && !strings.Contains(fault, "it was not read at the window's "+name) {
				t.Errorf("without the %s, %s: %q", name, energy.Meter, fault)
			}
		}
	}
}

func samplesShowTheLoad(t *testing.T, s *Sampler, d drive) {
	for _, samples := range s.Samples(d.before, d.after) {
		n := len(samples.Times)
		if n < 50 || n != len(samples.Values) || samples.Times[0] > d.window.Start || samples.Times[n-1] < d.window.End || len(samples.Gaps) > 0 {
			t.Errorf("%s: %d samples, gaps %v", samples.Meter, n, samples.Gaps)
		}
	}
}

// TestWhatHappensToJoulesWhenCountersFail lets things happen to a machine
// under load.
func TestWhatHappensToJoulesWhenCountersFail(t *testing.T) {
	needQuiet(t)
	t.Parallel()
	tests := []struct {
		name   string
		happen func(machine *simulated.Machine, start int64)
		absent string
	}{
		{"nothing", func(*simulated.Machine, int64) {}, ""},
		{"the counters are reset", func(m *simulated.Machine, start int64) { m.Wait(start + 500*ms); m.Reset() }, "it was reset"},
		{"they cannot be read for a while", func(m *simulated.Machine, start int64) { m.Wait(start + 300*ms); m.Hide(400 * time.Millisecond) }, ""},
		{"they cannot be read at the end", func(m *simulated.Machine, start int64) { m.Wait(start + 700*ms); m.Hide(400 * time.Millisecond) }, "it could not be read at the window's end: energy_uj: it is empty"},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			machine := simulated.Start(t, "server", uint64(time.Now().UnixNano())+uint64(i))
			machine.Reset() // so that another reset cannot be taken for going round
			s := metersOf(t, machine).Sample(100 * time.Millisecond)
			defer s.Stop()
			anyway := func(drive, *Sampler) bool { return true }
			d := undisturbed(t, machine, s, time.Second, anyway, func(start int64) { test.happen(machine, start) })
			energies := s.Window(d.before, d.after, d.window)
			cpu, board := energies[0], energies[1]
			if fault := cpu.Absent; (fault == "") != (test.absent == "") || !strings.Contains(fault, test.absent) {
				t.Errorf("cpu: absent %q, want %q", fault, test.absent)
			}
			if !strings.Contains(board.Absent, "and 50 are needed: let the load last 7 s or more") {
				t.Errorf("a second is too short for the board's meter: %+v", board)
			}
		})
	}
}
