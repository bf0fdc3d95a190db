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
	{"cpu_server_user", "s", Less, windowMetered, "The part of cpu_server spent in user space (cpu.stat user_usec of v2, or of the unified mount beside v1; with v1 alone cpuacct.usage_user, which comes in ticks of the kernel's clock)."},
	{"cpu_server_system", "s", Less, windowMetered, "The part of cpu_server spent in the kernel (cpu.stat system_usec of v2, or of the unified mount beside v1; with v1 alone cpuacct.usage_sys, which comes in ticks of the kernel's clock)."},
	{"cpu_driver", "s", Less, windowMetered, "CPU time of the driver's container, read as cpu_server."},
	{"cpu_driver_user", "s", Less, windowMetered, "The part of cpu_driver spent in user space, read as cpu_server_user."},
	{"cpu_driver_system", "s", Less, windowMetered, "The part of cpu_driver spent in the kernel, read as cpu_server_system."},
	{"throttled_server", "1", Less, windowMetered, "Periods in which the CPU quota of the server's container ran out (cpu.stat nr_throttled)."},
	{"throttled_driver", "1", Less, windowMetered, "Periods in which the CPU quota of the driver's container ran out (cpu.stat nr_throttled)."},
	{"memory_rest", "B", Less, windowStart, "Memory of the server's container after its first right answer, before any load (v1 memory.usage_in_bytes, v2 memory.current)."},
	{"memory_peak", "B", Less, windowLife, "Peak memory of the server's container (v1 memory.max_usage_in_bytes, v2 memory.peak, since Linux 5.19)."},
	{"memory_peak_driver", "B", Less, windowLife, "Peak memory of the driver's container, read as memory_peak."},
	{"pids_peak_server", "1", Less, windowLife, "The most processes and threads that the server's container had at one time (pids.peak)."},
	{"pids_peak_driver", "1", Less, windowLife, "The most processes and threads that the driver's container had at one time (pids.peak)."},
	{"io_read_server", "B", Less, windowMetered, "Bytes that the server's container read from block devices, each counted once (v1 blkio.throttle.io_service_bytes_recursive, v2 io.stat rbytes). What a file system in user space does for it is not among them."},
	{"io_read_driver", "B", Less, windowMetered, "Bytes that the driver's container read from block devices, read as io_read_server."},
	{"io_written_server", "B", Less, windowMetered, "Bytes that the server's container wrote to block devices (v1 blkio.throttle.io_service_bytes_recursive, v2 io.stat wbytes). With v1, what the kernel writes back later is not among them."},
	{"io_written_driver", "B", Less, windowMetered, "Bytes that the driver's container wrote to block devices, read as io_written_server."},
	{"pressure_cpu_server", "s", Less, windowMetered, "For how long some thread of the server's container could have run but waited for a CPU (cpu.pressure, some, of v2 or of the unified mount beside v1)."},
	{"pressure_cpu_driver", "s", Less, windowMetered, "For how long some thread of the driver's container could have run but waited for a CPU, read as pressure_cpu_server."},
	{"pressure_memory_server", "s", Less, windowMetered, "For how long some thread of the server's container waited for memory (memory.pressure, some)."},
	{"pressure_memory_driver", "s", Less, windowMetered, "For how long some thread of the driver's container waited for memory (memory.pressure, some)."},
	{"pressure_io_server", "s", Less, windowMetered, "For how long some thread of the server's container waited for input or output (io.pressure, some)."},
	{"pressure_io_driver", "s", Less, windowMetered, "For how long some thread of the driver's container waited for input or output (io.pressure, some)."},
	{"context_switches_server", "1", Less, windowMetered, "How often a thread of the server's container left a CPU to another, counted by a perf event of its cgroup (PERF_COUNT_SW_CONTEXT_SWITCHES)."},
	{"context_switches_driver", "1", Less, windowMetered, "How often a thread of the driver's container left a CPU to another, counted as context_switches_server."},
	{"context_switches_server_voluntary", "1", Less, windowMetered, "Those of the server's container in which the thread had to wait for something (/proc/TID/status voluntary_ctxt_switches, all threads). Absent when threads have ended, for their counts end with them."},
	{"context_switches_driver_voluntary", "1", Less, windowMetered, "Those of the driver's container in which the thread had to wait for something, counted as context_switches_server_voluntary."},
	{"context_switches_server_involuntary", "1", Less, windowMetered, "Those of the server's container in which the thread could have gone on (/proc/TID/status nonvoluntary_ctxt_switches, all threads; sched_yield(2) is one). Absent when threads have ended."},
	{"context_switches_driver_involuntary", "1", Less, windowMetered, "Those of the driver's container in which the thread could have gone on, counted as context_switches_server_involuntary."},
	{"instructions_server", "1", Less, windowMetered, "Instructions that the server's container has retired, counted by a perf event of its cgroup (PERF_COUNT_HW_INSTRUCTIONS)."},
	{"instructions_driver", "1", Less, windowMetered, "Instructions that the driver's container has retired, counted as instructions_server."},
	{"cycles_server", "1", Less, windowMetered, "Cycles of the CPU, at whatever frequency, that the server's container used, counted by a perf event of its cgroup (PERF_COUNT_HW_CPU_CYCLES)."},
	{"cycles_driver", "1", Less, windowMetered, "Cycles of the CPU that the driver's container used, counted as cycles_server."},
	{"cache_misses_server", "1", Less, windowMetered, "Accesses of the server's container to memory that the last cache did not answer, counted by a perf event of its cgroup (PERF_COUNT_HW_CACHE_MISSES). What that means is the CPU's choice: not to be compared between models."},
	{"cache_misses_driver", "1", Less, windowMetered, "Accesses of the driver's container to memory that the last cache did not answer, counted as cache_misses_server."},
	{"machine_load", "1", Less, windowMetered, "Load average of the machine over the last minute, as it stood in front of the window (/proc/loadavg)."},
	{"machine_foreign", "1", Less, windowMetered, "Share of the machine's CPU time, 0 to 1, that others than the two containers used: busy time of /proc/stat less that of both cgroups. The kernel counts in ticks: rough in short windows, and then below 0 at times."},
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
