// Package report tells what was measured: tables for a terminal, Markdown,
// HTML with charts, CSV and JSON.
//
// It is the only room that rounds, scales units and draws. It computes no
// statistics (see package regression) and opens no file: it writes to a writer
// or returns bytes.
package report

import "gitlab.com/stopwatt/stopwatt"

// DefaultMetrics are those that a table shows when nobody asked for others.
func DefaultMetrics() []stopwatt.Metric {
	var metrics []stopwatt.Metric
	for _, name := range []string{"time", "throughput", "latency_p50", "latency_p99", "cpu_server", "memory_peak"} {
		if metric, known := stopwatt.MetricNamed(name); known {
			metrics = append(metrics, metric)
		}
	}
	return metrics
}
