package stopwatt

import (
	"slices"
	"time"
)

// A DriverShare is what the driver takes by itself under the load of one
// workload: measured once a run against the null server, whose answers cost next
// to nothing. It belongs to the run and to no case: it is never judged, in no
// summary, and enters no history.
type DriverShare struct {
	Workload     string
	Started      time.Time // wall clock, for people
	Window       Window
	Measurements []Measurement // of those metrics that OfDriverShare knows
	Absent       []Absence     // of them too
	Reason       string        // why nothing was measured; empty when something was
}

// Value returns the measurement of the named metric.
func (s DriverShare) Value(metric string) (float64, bool) {
	return Trial{Measurements: s.Measurements}.Value(metric)
}

// OfDriverShare tells whether a metric is one that tells of the driver where the
// server is nothing: what was asked, the driver's own time, the machine's energy.
func OfDriverShare(metric string) bool {
	if _, metered := MeterOf(metric); metered {
		return true
	}
	return slices.Contains([]string{"requests", "throughput", "driver_cpu_request", "driver_busy", "cpu_driver"}, metric)
}

// DriverShareOf is what a trial of the null server under a workload tells.
func DriverShareOf(trial Trial) DriverShare {
	share := DriverShare{Workload: trial.Case.Workload, Started: trial.Started, Window: trial.Window, Reason: trial.Reason}
	if trial.Status != Valid {
		return share
	}
	for _, m := range trial.Measurements {
		if OfDriverShare(m.Metric) {
			share.Measurements = append(share.Measurements, m)
		}
	}
	for _, a := range trial.Absent {
		if OfDriverShare(a.Metric) {
			share.Absent = append(share.Absent, a)
		}
	}
	return share
}
