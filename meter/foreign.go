package meter

import (
	"fmt"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// MostForeign is the share of the CPU that other processes may use before a
// trial is marked, where nobody says otherwise.
const MostForeign = 0.05

// Shares from which a trial is marked. A hundredth of stolen time is what a
// quiet hypervisor takes for itself; governors let the frequency of a CPU under
// load waver by some per cent.
const (
	mostSteal      = 0.01
	leastFrequency = 0.95
)

// leastSleep is what is told of as a suspension, in nanoseconds: no machine sleeps and
// wakes within it.
const leastSleep = 10_000_000

// Foreign is the share of the machine's CPU time, 0 to 1, that others than the
// two containers used between two readings: the time that the CPUs were busy
// less what the containers' cgroups used. Stopwatt itself, the Docker Engine
// and interrupts count as others. Give is how far it may be off, at two standard
// deviations: the kernel counts busy time in ticks of its clock, a hundred a
// second or more. The reason says why it is not known.
func Foreign(before, after stopwatt.Reading) (share, give float64, reason string) {
	cpu, reason := cpuBetween(before.Machine, after.Machine)
	if reason != "" {
		return 0, 0, reason
	}
	ours := int64(0)
	for _, role := range stopwatt.Roles {
		used, reason := after.Of(role).Since(before.Of(role), "CPU")
		if reason != "" {
			return 0, 0, "the " + role + "'s CPU time is not known: " + reason
		}
		ours += used
	}
	all := float64(cpu.All())
	busy := float64(cpu.Busy()) / all
	share = busy - float64(ours)/all
	return share, 2 * math.Sqrt(busy*(1-busy)/(all/tick)), ""
}

// cpuBetween is what the CPUs did between two readings.
func cpuBetween(before, after stopwatt.MachineReading) (cpu stopwatt.CPUTimes, reason string) {
	for _, reading := range []stopwatt.MachineReading{before, after} {
		if reason := reading.Absent["CPU"]; reason != "" {
			return cpu, reason
		}
	}
	cpu = after.CPU.Since(before.CPU)
	switch {
	case cpu.Fell():
		return cpu, "the kernel's times of the CPUs went back"
	case cpu.All() <= 0:
		return cpu, "the kernel's clock has not ticked in this time"
	}
	return cpu, ""
}

// Doubts says in sentences what happened on the machine between the two edges
// of a window that makes its figures doubtful: a machine suspended, a container throttled, time
// stolen by a hypervisor, a CPU that became slower or hot, other processes that
// surely used more than the share mostForeign of the CPU. What could not be
// read raises no doubt here; it is absent.
func Doubts(before, after stopwatt.Reading, mostForeign float64) []string {
	var doubts []string
	for _, role := range stopwatt.Roles {
		doubts = append(doubts, throttled(role, before.Of(role), after.Of(role))...)
	}
	doubts = append(doubts, slept(before.Machine, after.Machine)...)
	doubts = append(doubts, stolen(before.Machine, after.Machine)...)
	doubts = append(doubts, slowed(before.Machine, after.Machine)...)
	doubts = append(doubts, alarmed(before.Machine, after.Machine)...)
	if share, give, reason := Foreign(before, after); reason == "" && share-give > mostForeign {
		doubts = append(doubts, fmt.Sprintf("other processes used %.1f %% of the CPU", 100*share))
	}
	return doubts
}

// slept says that the machine was suspended.
func slept(before, after stopwatt.MachineReading) []string {
	lasting := after.Slept - before.Slept
	if before.At == 0 || after.At == 0 || lasting <= leastSleep { // nobody answered, or it was awake
		return nil
	}
	return []string{fmt.Sprintf("the machine was suspended for %.1f s meanwhile", float64(lasting)/1e9)}
}

// throttled says that a container's CPU quota ran out.
func throttled(role string, before, after stopwatt.Usage) []string {
	periods, reason := after.Since(before, "Throttled")
	if reason != "" || periods == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the %s was throttled by its CPU quota (periods: %d)", role, periods)}
}

// stolen says that a hypervisor took CPU time away.
func stolen(before, after stopwatt.MachineReading) []string {
	share, reason := stealShare(before, after)
	if reason != "" || share <= mostSteal {
		return nil
	}
	return []string{fmt.Sprintf("the hypervisor took away %.1f %% of the CPU time (steal)", 100*share)}
}

// slowed says that the CPU was slower at the end, or slowed because it was hot.
func slowed(before, after stopwatt.MachineReading) []string {
	var doubts []string
	known := before.Absent["Frequency"] == "" && after.Absent["Frequency"] == ""
	if known && float64(after.Frequency) < leastFrequency*float64(before.Frequency) {
		doubts = append(doubts, fmt.Sprintf("the CPU's frequency fell from %.2f to %.2f GHz", float64(before.Frequency)/1e9, float64(after.Frequency)/1e9))
	}
	known = before.Absent["Overheated"] == "" && after.Absent["Overheated"] == ""
	if known && after.Overheated > before.Overheated {
		doubts = append(doubts, "the CPU was slowed because it was hot")
	}
	return doubts
}

// alarms are the flags of BoardAlarms, from the lowest.
var alarms = []string{"under-voltage", "its frequency capped", "throttled", "its soft limit of temperature reached"}

// alarmed says what a board's firmware raises an alarm about: what is so at
// either edge, and what occurred in between for the first time since boot.
func alarmed(before, after stopwatt.MachineReading) []string {
	if before.Absent["BoardAlarms"] != "" || after.Absent["BoardAlarms"] != "" {
		return nil
	}
	raised := before.BoardAlarms | after.BoardAlarms | (after.BoardAlarms&^before.BoardAlarms)>>16
	var found []string
	for i, alarm := range alarms {
		if raised>>i&1 == 1 {
			found = append(found, alarm)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"the board reports " + strings.Join(found, ", ")}
}
