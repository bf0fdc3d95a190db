package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// mostShares bounds how many workloads a note on the driver names.
const mostShares = 6

type jsonDriverShare struct {
	Workload string              `json:"workload"`
	Started  *time.Time          `json:"started,omitempty"`
	Seconds  float64             `json:"seconds"`
	Reason   string              `json:"reason,omitempty"`
	Values   map[string]*float64 `json:"values"`
	Absent   []jsonAbsence       `json:"absent,omitempty"`
}

func jsonOfDriverShares(shares []stopwatt.DriverShare) []jsonDriverShare {
	var out []jsonDriverShare
	for _, s := range shares {
		one := jsonDriverShare{Workload: s.Workload, Started: moment(s.Started), Seconds: s.Window.Duration().Seconds(), Reason: s.Reason, Values: map[string]*float64{}}
		for _, m := range s.Measurements {
			one.Values[m.Metric] = finite(m.Value)
		}
		for _, a := range s.Absent {
			one.Absent = append(one.Absent, jsonAbsence{Metric: a.Metric, Reason: a.Reason})
		}
		out = append(out, one)
	}
	return out
}

// driverNote says what the driver takes by itself under those of these workloads
// that it was measured under; empty when it was under none.
func driverNote(run stopwatt.Run, workloads []string) string {
	parts := driverShares(run, workloads)
	if parts == nil {
		return ""
	}
	if more := len(parts) - mostShares; more > 0 {
		parts = append(parts[:mostShares], plural(more, "more workload")+" in results.json")
	}
	return "The driver by itself, against a server that costs next to nothing: " + strings.Join(parts, "; ") + "."
}

// driverShares are the driver's shares in words, a workload each: "csv 12.5 µs of
// CPU and 180 µJ net of the board a request, at 48,000/s".
func driverShares(run stopwatt.Run, workloads []string) []string {
	var parts []string
	for _, s := range run.DriverShares {
		if slices.Contains(workloads, s.Workload) {
			parts = append(parts, short(s.Workload)+" "+driverShare(run, s))
		}
	}
	return parts
}

func driverShare(run stopwatt.Run, s stopwatt.DriverShare) string {
	cpu, known := s.Value("driver_cpu_request")
	if !known {
		return "not measured: " + reasonShown(s.Reason)
	}
	spent := []string{Value(stopwatt.Metric{Unit: "s"}, cpu) + " of CPU"}
	for _, meter := range run.Meters {
		metric := stopwatt.EnergyMetrics(meter.Name)[energyPerRequest]
		if joules, metered := s.Value(metric.Name); metered {
			spent = append(spent, fmt.Sprintf("%s net of %s", Value(metric, joules), short(meter.Name)))
		}
	}
	text := enumerated(spent) + " a request"
	if rate, has := s.Value("throughput"); has {
		text += ", at " + Value(stopwatt.Metric{Unit: "1/s"}, rate)
	}
	return text
}

// enumerated joins words as a sentence does: "a, b and c".
func enumerated(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
