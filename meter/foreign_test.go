package meter

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

// second is a second in nanoseconds.
const second = 1_000_000_000

// calmWindow is a window of 10 s on a machine with four CPUs of which each container
// used one for 8 s, others a tenth of one.
func calmWindow() (before, after stopwatt.Reading) {
	before.Machine = stopwatt.MachineReading{At: 1, Frequency: 2_900_000_000, Overheated: 3, BoardAlarms: 0x10000}
	after = before
	after.Machine.CPU = stopwatt.CPUTimes{User: 12 * second, System: 4 * second, SoftIRQ: 1 * second, Idle: 22 * second, IOWait: 1 * second}
	after.Server.CPU, after.Driver.CPU = 8*second, 8*second
	return before, after
}

func TestDoubtsSayWhatHappenedOnTheMachine(t *testing.T) {
	t.Parallel()
	absent := func(name string) map[string]string { return map[string]string{name: "why"} }
	tests := []struct {
		name   string
		change func(before, after *stopwatt.Reading)
		want   []string
	}{
		{"a calm window", func(_, _ *stopwatt.Reading) {}, nil},
		{"the machine sleeps", func(_, after *stopwatt.Reading) { after.Machine.Slept += 3 * second },
			[]string{"the machine was suspended for 3.0 s meanwhile"}},
		{"nobody answered at the first edge", func(before, after *stopwatt.Reading) { before.Machine.At, after.Machine.Slept = 0, 3*second }, nil},
		{"its clocks were read a little apart", func(_, after *stopwatt.Reading) { after.Machine.Slept += second / 1000 }, nil},
		{"the server is throttled", func(_, after *stopwatt.Reading) { after.Server.Throttled = 12 },
			[]string{"the server was throttled by its CPU quota (periods: 12)"}},
		{"the driver was throttled before the window", func(before, after *stopwatt.Reading) { before.Driver.Throttled, after.Driver.Throttled = 5, 5 }, nil},
		{"the hypervisor takes time", func(_, after *stopwatt.Reading) { after.Machine.CPU.Steal = 2 * second },
			[]string{"the hypervisor took away 4.8 % of the CPU time (steal)"}},
		{"the hypervisor takes next to nothing", func(_, after *stopwatt.Reading) { after.Machine.CPU.Steal = second / 5 }, nil},
		{"the frequency falls", func(_, after *stopwatt.Reading) { after.Machine.Frequency = 2_300_000_000 },
			[]string{"the CPU's frequency fell from 2.90 to 2.30 GHz"}},
		{"the frequency wavers", func(_, after *stopwatt.Reading) { after.Machine.Frequency = 2_800_000_000 }, nil},
		{"the frequency is known at one edge alone", func(before, after *stopwatt.Reading) {
			after.Machine.Frequency, after.Machine.Absent = 0, absent("Frequency")
		}, nil},
		{"the CPU gets hot", func(_, after *stopwatt.Reading) { after.Machine.Overheated = 4 },
			[]string{"the CPU was slowed because it was hot"}},
		{"the board's voltage falls, and is well again at the edge", func(_, after *stopwatt.Reading) { after.Machine.BoardAlarms = 0x30000 },
			[]string{"the board reports its frequency capped"}},
		{"the board's voltage is low", func(_, after *stopwatt.Reading) { after.Machine.BoardAlarms = 0x50005 },
			[]string{"the board reports under-voltage, throttled"}},
		{"others work", func(_, after *stopwatt.Reading) {
			after.Machine.CPU.User += 4 * second
			after.Machine.CPU.Idle -= 4 * second
		},
			[]string{"other processes used 12.5 % of the CPU"}},
		{"others may have worked a little more than is allowed", func(_, after *stopwatt.Reading) {
			after.Machine.CPU.User, after.Machine.CPU.Idle = 13.1*second, 20.9*second
		}, nil},
		{"the server's CPU time is not known", func(_, after *stopwatt.Reading) { after.Server.Absent = absent("CPU") }, nil},
		{"the machine's CPU time is not known", func(before, _ *stopwatt.Reading) { before.Machine.Absent = absent("CPU") }, nil},
		{"everything at once", func(_, after *stopwatt.Reading) {
			after.Driver.Throttled, after.Machine.Overheated = 1, 9
			after.Machine.CPU.User += 10 * second
		}, []string{"the driver was throttled by its CPU quota (periods: 1)", "the CPU was slowed because it was hot", "other processes used 22.0 % of the CPU"}},
	}
	for _, test := range tests {
		before, after := calmWindow()
		test.change(&before, &after)
		if diff := cmp.Diff(test.want, Doubts(before, after, MostForeign)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

func TestForeignIsTheBusyTimeThatIsNotOurs(t *testing.T) {
	t.Parallel()
	before, after := calmWindow()
	share, give, reason := Foreign(before, after)
	if math.Abs(share-0.025) > 1e-12 || reason != "" {
		t.Errorf("a second of forty: %v, %q", share, reason)
	}
	// 4,000 ticks, 42.5 % of them busy.
	if want := 2 * math.Sqrt(0.425*0.575/4000); math.Abs(give-want) > 1e-12 {
		t.Errorf("it may be off by %v, want %v", give, want)
	}
	after.Server.CPU += 2 * second
	if share, _, _ := Foreign(before, after); math.Abs(share+0.025) > 1e-12 {
		t.Errorf("ticks that fell short are no reason to change the share to %v", share)
	}
	if _, _, reason := Foreign(after, after); !strings.Contains(reason, "has not ticked") {
		t.Errorf("no time at all: %q", reason)
	}
	after.Driver.Absent = map[string]string{"CPU": "why"}
	if _, _, reason := Foreign(before, after); reason != "the driver's CPU time is not known: why" {
		t.Errorf("the reason is %q", reason)
	}
}
