// Package report tells what was measured: tables for a terminal, Markdown,
// HTML with charts, CSV and JSON.
//
// It is the only room that rounds, scales units and draws. It computes no
// statistics (see package regression) and opens no file: it writes to a writer
// or returns bytes.
package report

import "gitlab.com/stopwatt/stopwatt"

// DefaultMetrics are those that a table of these results shows when nobody asked
// for others. Net energy by each meter follows the throughput, then that of the
// first meter per request.
func DefaultMetrics(results stopwatt.Results) []stopwatt.Metric {
	names := []string{"time", "throughput"}
	meters := results.EnergyMeters()
	for _, meter := range meters {
		names = append(names, stopwatt.EnergyMetrics(meter.Name)[energyNet].Name)
	}
	if len(meters) > 0 {
		names = append(names, stopwatt.EnergyMetrics(meters[0].Name)[energyPerRequest].Name)
	}
	var metrics []stopwatt.Metric
	for _, name := range append(names, "latency_p50", "latency_p99", "cpu_server", "memory_peak") {
		if metric, known := stopwatt.MetricNamed(name); known {
			metrics = append(metrics, metric)
		}
	}
	return metrics
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
		case all[energyPerRequest].Name:
		default:
			gross = append(gross, metric)
		}
	}
	return gross
}
