package meter

import "gitlab.com/stopwatt/stopwatt"

// machineFigures are the numbers of stopwatt.MachineMetrics between two
// readings, or the reasons why there are none.
func machineFigures(before, after stopwatt.Reading) (figures []stopwatt.Measurement, absent []stopwatt.Absence) {
	tell := func(metric string, value float64, reason string) {
		if reason != "" {
			absent = append(absent, stopwatt.Absence{Metric: metric, Reason: reason})
			return
		}
		figures = append(figures, stopwatt.Measurement{Metric: metric, Value: value})
	}
	tell("machine_load", before.Machine.Load[0], before.Machine.Absent["Load"])
	share, _, reason := Foreign(before, after)
	tell("machine_foreign", share, reason)
	steal, reason := stealShare(before.Machine, after.Machine)
	tell("machine_steal", steal, reason)
	tell("machine_frequency", float64(after.Machine.Frequency), after.Machine.Absent["Frequency"])
	hot, reason := overheatedSince(before.Machine, after.Machine)
	tell("machine_overheated", hot, reason)
	return figures, absent
}

// stealShare is the share of all CPUs' time that a hypervisor took away.
func stealShare(before, after stopwatt.MachineReading) (share float64, reason string) {
	cpu, reason := cpuBetween(before, after)
	if reason != "" {
		return 0, reason
	}
	return float64(cpu.Steal) / float64(cpu.All()), ""
}

// overheatedSince is how often CPUs were slowed between two readings.
func overheatedSince(before, after stopwatt.MachineReading) (times float64, reason string) {
	for _, reading := range []stopwatt.MachineReading{before, after} {
		if reason := reading.Absent["Overheated"]; reason != "" {
			return 0, reason
		}
	}
	if after.Overheated < before.Overheated {
		return 0, "the counter went backwards"
	}
	return float64(after.Overheated - before.Overheated), ""
}
