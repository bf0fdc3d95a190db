package stopwatt

// Better says which direction of a metric is the better one.
type Better string

// The directions. A count that depends on the workload alone has neither.
const (
	Less    Better = "less"
	More    Better = "more"
	Neither Better = "neither"
)

// A Metric is a name, a base unit, which direction is better, and what was
// measured over which stretch of a trial.
type Metric struct {
	Name   string
	Unit   string // s, J, B, W, 1 or 1/s
	Better Better
	// Window says over which stretch of the trial the metric is taken.
	Window string
	// What says in a sentence what is measured and where it is read.
	What string
}

// Stretches of a trial that metrics are taken over.
const (
	windowDriven  = "driven"  // from the first request written to the last answer read
	windowMetered = "metered" // the driven window and the two meter readings round it
	windowStart   = "start"   // from the container's start to the first right answer
	windowLife    = "life"    // from the container's start to the end of the driven window
	windowImage   = "image"   // no stretch of time: a property of the image
)

// Metrics is every metric that a trial may yield, in the order in which they
// are shown. Suites, SQL, CSV and URLs use these names and no others.
var Metrics = []Metric{
	{"time", "s", Less, windowDriven, "Wall time, read by the driver from CLOCK_MONOTONIC."},
	{"throughput", "1/s", More, windowDriven, "Right answers per second."},
	{"latency_mean", "s", Less, windowDriven, "Mean time from a request's first byte written (with `connection: close`, from connect) to its answer's last byte read."},
	{"latency_p50", "s", Less, windowDriven, "Median latency, from the HDR histogram."},
	{"latency_p90", "s", Less, windowDriven, "90th percentile of latency, from the HDR histogram."},
	{"latency_p99", "s", Less, windowDriven, "99th percentile of latency, from the HDR histogram."},
	{"latency_p99.9", "s", Less, windowDriven, "99.9th percentile of latency, from the HDR histogram."},
	{"latency_max", "s", Less, windowDriven, "The slowest right answer."},
	{"requests", "1", Neither, windowDriven, "Right answers."},
	{"errors", "1", Less, windowDriven, "Requests without a right answer, of all kinds."},
	{"errors_connect", "1", Less, windowDriven, "Connections that were refused or not made in time."},
	{"errors_timeout", "1", Less, windowDriven, "Answers that did not end within the timeout."},
	{"errors_closed", "1", Less, windowDriven, "Connections closed or reset before the answer was whole."},
	{"errors_protocol", "1", Less, windowDriven, "Answers that are no HTTP/1.1."},
	{"errors_status", "1", Less, windowDriven, "Answers with another status than expected."},
	{"errors_body", "1", Less, windowDriven, "Answers with another body length than the verified one."},
	{"bytes_sent", "B", Neither, windowDriven, "Bytes written to sockets by the driver, headers included."},
	{"bytes_received", "B", Neither, windowDriven, "Bytes read from sockets by the driver, headers included."},
	{"cpu_server", "s", Less, windowMetered, "CPU time of the server's container, from its cgroup (v1 cpuacct.usage, v2 cpu.stat usage_usec)."},
	{"cpu_server_user", "s", Less, windowMetered, "The part of cpu_server spent in user space (v1 cpuacct.usage_user, v2 cpu.stat user_usec)."},
	{"cpu_server_system", "s", Less, windowMetered, "The part of cpu_server spent in the kernel (v1 cpuacct.usage_sys, v2 cpu.stat system_usec)."},
	{"cpu_driver", "s", Less, windowMetered, "CPU time of the driver's container, from its cgroup."},
	{"memory_rest", "B", Less, windowStart, "Memory of the server's container after its first right answer, before any load (v1 memory.usage_in_bytes, v2 memory.current)."},
	{"memory_peak", "B", Less, windowLife, "Peak memory of the server's container (v1 memory.max_usage_in_bytes, v2 memory.peak, since Linux 5.19)."},
	{"ready_time", "s", Less, windowStart, "From asking the engine to start the server to its first right answer. The driver's own start is a floor under it: a server that was ready before the driver first asked was ready at most this late."},
	{"image_size", "B", Less, windowImage, "Size of the image, all layers, as the engine states it."},
}

// MetricNamed returns the metric of this name: one of Metrics, or one of those
// that every energy meter yields under its own name.
func MetricNamed(name string) (Metric, bool) {
	for _, metric := range Metrics {
		if metric.Name == name {
			return metric, true
		}
	}
	return energyMetric(name)
}
