package stopwatt

import "slices"

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
	windowDriven   = "driven"   // from the first request written to the last answer read
	windowMetered  = "metered"  // the driven window and the two meter readings round it
	windowStart    = "start"    // from the container's start to the first right answer
	windowLife     = "life"     // from the container's start to the end of the driven window
	windowRepeated = "repeated" // from the first repetition's start to the last one's end
	windowImage    = "image"    // no stretch of time: a property of the image
)

// Metrics is every metric that a trial may yield, in the order in which they
// are shown. Suites, SQL, CSV and URLs use these names and no others.
var Metrics = slices.Concat(asked, paced, ofDriver, timed, spent, whole)

// asked are the metrics of a server and of what it answers.
var asked = []Metric{
	{"time", "s", Less, windowDriven, "Wall time, read from CLOCK_MONOTONIC: of a server the driven window, of a command the mean of its repetitions. Of a harness's benchmarks it is what they tell themselves."},
	{"throughput", "1/s", More, windowDriven, "Right answers per second."},
	{"latency_mean", "s", Less, windowDriven, "Mean time to an answer's last byte read: of a closed load from its request's first byte written (with `connection: close`, from connect), of an open one from when the request was due."},
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
	{"errors_body", "1", Less, windowDriven, "Answers with another body than the verified one: another length, or of those that are checked another SHA-256."},
	{"bytes_sent", "B", Neither, windowDriven, "Bytes written to sockets by the driver, headers included."},
	{"bytes_received", "B", Neither, windowDriven, "Bytes read from sockets by the driver, headers included."},
}

// timed are the metrics of a program that is run to its end.
var timed = []Metric{
	{"time_median", "s", Less, windowRepeated, "Median wall time of a repetition."},
	{"time_min", "s", Less, windowRepeated, "Wall time of the fastest repetition."},
	{"time_max", "s", Less, windowRepeated, "Wall time of the slowest repetition."},
	{"time_sd", "s", Less, windowRepeated, "Standard deviation of the repetitions' wall times."},
	{"time_user", "s", Less, windowRepeated, "CPU time of a repetition in user space, the mean (wait4, ru_utime); children that it waited for included."},
	{"time_system", "s", Less, windowRepeated, "CPU time of a repetition in the kernel, the mean (wait4, ru_stime)."},
	{"time_run", "s", Less, windowRepeated, "Wall time of a harness's one run, whatever its benchmarks tell."},
	{"time_empty", "s", Neither, windowStart, "Median wall time of starting an empty program in the same container and waiting for its end. It is in `time`, unless the suite has it subtracted."},
	{"repetitions", "1", Neither, windowRepeated, "Repetitions that were timed."},
	{"memory_resident", "B", Less, windowRepeated, "Largest resident set of one process of a repetition, the mean (wait4, ru_maxrss). Absent where it cannot be told from that of the timer which started it."},
	{"context_switches_voluntary", "1", Less, windowRepeated, "Times that a repetition had to wait for something, the mean (wait4, ru_nvcsw)."},
	{"context_switches_involuntary", "1", Less, windowRepeated, "Times that a repetition could have gone on and was made to leave the CPU, the mean (wait4, ru_nivcsw)."},
	{"page_faults_minor", "1", Less, windowRepeated, "Page faults of a repetition that needed no input, the mean (wait4, ru_minflt)."},
	{"page_faults_major", "1", Less, windowRepeated, "Page faults of a repetition that waited for input, the mean (wait4, ru_majflt)."},
}

// whole are the metrics of memory, of the machine and of a case as a whole.
var whole = []Metric{
	{"memory_rest", "B", Less, windowStart, "Memory of the server's container after its first right answer, before any load (v1 memory.usage_in_bytes, v2 memory.current)."},
	{"memory_peak", "B", Less, windowLife, "Peak memory of the server's container (v1 memory.max_usage_in_bytes, v2 memory.peak, since Linux 5.19)."},
	{"memory_peak_driver", "B", Less, windowLife, "Peak memory of the driver's container, read as memory_peak."},
	{"memory_peak_program", "B", Less, windowLife, "Peak memory of the program's container, read as memory_peak: of all its repetitions and the timer, the page cache of what they read included."},
	{"memory_peak_service", "B", Less, windowLife, "Peak memory of the companions' containers, read as memory_peak and added up."},
	{"machine_load", "1", Less, windowMetered, "Load average of the machine over the last minute, as it stood in front of the window (/proc/loadavg)."},
	{"machine_foreign", "1", Less, windowMetered, "Share of the machine's CPU time, 0 to 1, that others than the trial's containers used: busy time of /proc/stat less that of their cgroups. The kernel counts in ticks: rough in short windows, and then below 0 at times."},
	{"machine_steal", "1", Less, windowMetered, "Share of the machine's CPU time, 0 to 1, that a hypervisor took away (/proc/stat steal)."},
	{"machine_frequency", "1/s", More, windowMetered, "Mean frequency of all CPUs as it stood behind the window (cpufreq scaling_cur_freq, or /proc/cpuinfo)."},
	{"machine_overheated", "1", Less, windowMetered, "How often CPUs were slowed because they were hot (thermal_throttle counts, all CPUs added up)."},
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
