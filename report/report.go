// Package report tells what was measured: tables for a terminal, Markdown,
// HTML with charts, CSV and JSON.
//
// It is the only room that rounds, scales units and draws. It computes no
// statistics (see package regression) and opens no file: it writes to a writer
// or returns bytes.
package report

import (
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// DefaultMetrics are those that a table of these results shows when nobody asked
// for others: of the usual ones those that a case has a number of, or says why
// not, then those that a harness has defined, then all of a case that has none of
// these. Net energy by each meter follows the throughput, then that of the first
// meter per request or repetition. Where no case has anything, there are those
// that are usual for a server.
func DefaultMetrics(results stopwatt.Results) []stopwatt.Metric {
	ofServers, ofPrograms := usualMetrics(results)
	occurring := map[string]bool{}
	for _, result := range results.Cases {
		for _, name := range metricsIn(result) {
			occurring[name] = true
		}
	}
	var metrics []stopwatt.Metric
	for _, metric := range append(slices.Clone(ofServers), ofPrograms...) {
		if occurring[metric.Name] {
			metrics = append(metrics, metric)
		}
	}
	for _, metric := range results.Metrics {
		if _, known := stopwatt.MetricNamed(metric.Name); !known {
			metrics = append(metrics, metric)
		}
	}
	for _, result := range results.Cases {
		if !slices.ContainsFunc(metrics, func(m stopwatt.Metric) bool { return occursIn(result, m) }) {
			metrics = append(metrics, metricsNamed(results, metricsIn(result))...)
		}
	}
	if metrics == nil {
		return ofServers
	}
	return metrics
}

// metricsIn are the metrics that a case has a number of, or says why not.
func metricsIn(result stopwatt.CaseResult) []string {
	var names []string
	for _, s := range result.Summaries {
		names = append(names, s.Metric)
	}
	for _, a := range result.Absent {
		names = append(names, a.Metric)
	}
	return names
}

func occursIn(result stopwatt.CaseResult, metric stopwatt.Metric) bool {
	return slices.Contains(metricsIn(result), metric.Name)
}

// metricsNamed are the metrics of these names.
func metricsNamed(results stopwatt.Results, names []string) []stopwatt.Metric {
	var metrics []stopwatt.Metric
	for _, name := range names {
		if metric, known := results.Metric(name); known {
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

// narrowed is a contrast of one of its workloads, without those metrics that
// other workloads have and this one has not: a harness measures what a load does
// not, and the other way round.
func narrowed(c stopwatt.Contrast, index int) stopwatt.Contrast {
	block := c.Workloads[index]
	one := c
	one.Metrics, one.Workloads = nil, []stopwatt.WorkloadContrast{{Workload: block.Workload}}
	for _, row := range block.Rows {
		row.Ratios = nil
		one.Workloads[0].Rows = append(one.Workloads[0].Rows, row)
	}
	for m, metric := range c.Metrics {
		if !occursInAny(block, metric) && slices.ContainsFunc(c.Workloads, func(w stopwatt.WorkloadContrast) bool { return occursInAny(w, metric) }) {
			continue
		}
		one.Metrics = append(one.Metrics, metric)
		for i, row := range block.Rows {
			own := &one.Workloads[0].Rows[i]
			own.Ratios = append(own.Ratios, row.Ratios[m])
		}
	}
	return one
}

func occursInAny(block stopwatt.WorkloadContrast, metric stopwatt.Metric) bool {
	return slices.ContainsFunc(block.Rows, func(row stopwatt.ContrastRow) bool { return occursIn(row.Result, metric) })
}

// usualMetrics are those that people look at first, of servers under load and of
// programs that are run.
func usualMetrics(results stopwatt.Results) (ofServers, ofPrograms []stopwatt.Metric) {
	servers, programs := []string{"time", "throughput"}, []string{"time_user", "time_system"}
	meters := results.EnergyMeters()
	for _, meter := range meters {
		servers = append(servers, stopwatt.EnergyMetrics(meter.Name)[energyNet].Name)
	}
	if len(meters) > 0 {
		all := stopwatt.EnergyMetrics(meters[0].Name)
		servers, programs = append(servers, all[energyPerRequest].Name), append(programs, all[energyPerRepetition].Name)
	}
	servers = append(servers, "latency_p50", "latency_p99", "cpu_server", "memory_peak")
	programs = append(programs, "cpu_program", "memory_peak_program")
	return metricsNamed(results, servers), metricsNamed(results, programs)
}

// Gross puts gross energy in the place of net energy. Energy per request, of
// which there is none but net, is left out.
func Gross(metrics []stopwatt.Metric) []stopwatt.Metric {
	var gross []stopwatt.Metric
	for _, metric := range metrics {
		meter, _ := stopwatt.MeterOf(metric.Name)
		switch all := stopwatt.EnergyMetrics(meter); metric.Name {
		case all[energyNet].Name:
			gross = append(gross, all[energyGross])
		case all[energyPerRequest].Name, all[energyPerRepetition].Name:
		default:
			gross = append(gross, metric)
		}
	}
	return gross
}
