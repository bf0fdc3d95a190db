package meter

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestMachineFiguresHaveANumberOrAReasonForEachMetric(t *testing.T) {
	t.Parallel()
	reading := func(user, idle, steal, server int64, hot int64) stopwatt.Reading {
		return stopwatt.Reading{
			Machine: stopwatt.MachineReading{
				CPU: stopwatt.CPUTimes{User: user, Idle: idle, Steal: steal}, Load: [3]float64{1.5, 1, 1},
				Frequency: 2_400_000_000, Overheated: hot,
			},
			Server: stopwatt.Usage{CPU: server},
		}
	}
	before, after := reading(0, 0, 0, 0, 3), reading(6e9, 3e9, 1e9, 4e9, 5)
	figures, absent := machineFigures(before, after)
	want := map[string]float64{
		"machine_load": 1.5, "machine_foreign": 0.2, "machine_steal": 0.1, "machine_frequency": 2.4e9, "machine_overheated": 2,
	}
	if len(absent) > 0 || len(figures) != len(stopwatt.MachineMetrics) {
		t.Errorf("figures %v, absent %v", figures, absent)
	}
	for _, figure := range figures {
		if diff := figure.Value - want[figure.Metric]; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s is %v, want %v", figure.Metric, figure.Value, want[figure.Metric])
		}
	}
	nothing := map[string]string{"CPU": "masked", "Load": "masked", "Frequency": "masked", "Overheated": "masked"}
	before.Machine.Absent, after.Machine.Absent = nothing, nothing
	if figures, absent := machineFigures(before, after); len(figures) > 0 || len(absent) != len(stopwatt.MachineMetrics) {
		t.Errorf("of a machine that cannot be read: figures %v, absent %v", figures, absent)
	}
}

func TestATimeOfTheCPUsThatFellIsNoNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(before *stopwatt.CPUTimes)
		reason string
	}{
		{"steal, as in some guests", func(c *stopwatt.CPUTimes) { c.Steal += second }, "the kernel's times of the CPUs went back"},
		{"waiting for I/O that turned out to be idleness", func(c *stopwatt.CPUTimes) { c.IOWait, c.Idle = c.IOWait+second, c.Idle-second }, ""},
	}
	for _, test := range tests {
		before, after := calmWindow()
		test.change(&before.Machine.CPU)
		if share, reason := stealShare(before.Machine, after.Machine); reason != test.reason {
			t.Errorf("%s: %v, %q", test.name, share, reason)
		}
		if share, _, reason := Foreign(before, after); reason != test.reason {
			t.Errorf("%s: others have %v, %q", test.name, share, reason)
		}
	}
}

func TestACounterOfHeatThatFellIsNoNumber(t *testing.T) {
	t.Parallel()
	if _, reason := overheatedSince(stopwatt.MachineReading{Overheated: 3}, stopwatt.MachineReading{Overheated: 2}); reason == "" {
		t.Error("a counter that went backwards has a number")
	}
}
