package stopwatt

import "fmt"

// Roles are those of a trial's containers whose use is told: a server and the
// driver that asks it; or a program that is run to its end; and companions,
// taken together.
const (
	RoleServer  = "server"
	RoleDriver  = "driver"
	RoleProgram = "program"
	RoleService = "service"
)

// Roles lists them all.
var Roles = []string{RoleServer, RoleDriver, RoleProgram, RoleService}

// spent are what every container of a trial spends, role by role.
var spent = ofRoles([]roleMetric{
	{"cpu_", "", Metric{"", "s", Less, windowMetered, "CPU time of the %s's container"}, ", from its cgroup (v1 cpuacct.usage, v2 cpu.stat usage_usec)."},
	{"cpu_", "_user", Metric{"", "s", Less, windowMetered, "The part of cpu_%s spent in user space"}, " (cpu.stat user_usec of v2, or of the unified mount beside v1; with v1 alone cpuacct.usage_user, which comes in ticks of the kernel's clock)."},
	{"cpu_", "_system", Metric{"", "s", Less, windowMetered, "The part of cpu_%s spent in the kernel"}, " (cpu.stat system_usec of v2, or of the unified mount beside v1; with v1 alone cpuacct.usage_sys, which comes in ticks of the kernel's clock)."},
	{"throttled_", "", Metric{"", "1", Less, windowMetered, "Periods in which the CPU quota of the %s's container ran out"}, " (cpu.stat nr_throttled)."},
	{"pids_peak_", "", Metric{"", "1", Less, windowLife, "The most processes and threads that the %s's container had at one time"}, " (pids.peak)."},
	{"io_read_", "", Metric{"", "B", Less, windowMetered, "Bytes that the %s's container read from block devices"}, ", each counted once (v1 blkio.throttle.io_service_bytes_recursive, v2 io.stat rbytes). What a file system in user space does for it is not among them."},
	{"io_written_", "", Metric{"", "B", Less, windowMetered, "Bytes that the %s's container wrote to block devices"}, " (v1 blkio.throttle.io_service_bytes_recursive, v2 io.stat wbytes). With v1, what the kernel writes back later is not among them."},
	{"pressure_cpu_", "", Metric{"", "s", Less, windowMetered, "For how long some thread of the %s's container could have run but waited for a CPU"}, " (cpu.pressure, some, of v2 or of the unified mount beside v1)."},
	{"pressure_memory_", "", Metric{"", "s", Less, windowMetered, "For how long some thread of the %s's container waited for memory"}, " (memory.pressure, some)."},
	{"pressure_io_", "", Metric{"", "s", Less, windowMetered, "For how long some thread of the %s's container waited for input or output"}, " (io.pressure, some)."},
	{"context_switches_", "", Metric{"", "1", Less, windowMetered, "How often a thread of the %s's container left a CPU to another"}, ", counted by a perf event of its cgroup (PERF_COUNT_SW_CONTEXT_SWITCHES)."},
	{"context_switches_", "_voluntary", Metric{"", "1", Less, windowMetered, "Those of the %s's container in which the thread had to wait for something"}, " (/proc/TID/status voluntary_ctxt_switches, all threads). Absent when threads have ended, for their counts end with them."},
	{"context_switches_", "_involuntary", Metric{"", "1", Less, windowMetered, "Those of the %s's container in which the thread could have gone on"}, " (/proc/TID/status nonvoluntary_ctxt_switches, all threads; sched_yield(2) is one). Absent when threads have ended."},
	{"instructions_", "", Metric{"", "1", Less, windowMetered, "Instructions that the %s's container has retired"}, ", counted by a perf event of its cgroup (PERF_COUNT_HW_INSTRUCTIONS)."},
	{"cycles_", "", Metric{"", "1", Less, windowMetered, "Cycles of the CPU, at whatever frequency, that the %s's container used"}, ", counted by a perf event of its cgroup (PERF_COUNT_HW_CPU_CYCLES)."},
	{"cache_misses_", "", Metric{"", "1", Less, windowMetered, "Accesses of the %s's container to memory that the last cache did not answer"}, ", counted by a perf event of its cgroup (PERF_COUNT_HW_CACHE_MISSES). What that means is the CPU's choice: not to be compared between models."},
})

// A roleMetric is a metric that each role has, by what stands before and after
// the role in its name. Its What has the role in it, and goes on with how it is
// read.
type roleMetric struct {
	before, after string
	metric        Metric
	how           string
}

// ofRoles are the metrics of all roles. How they are read is told of the first.
func ofRoles(forms []roleMetric) []Metric {
	var metrics []Metric
	for _, form := range forms {
		for i, role := range Roles {
			metric := form.metric
			metric.Name = form.before + role + form.after
			metric.What = fmt.Sprintf(metric.What, role)
			if i == 0 {
				metric.What += form.how
			} else {
				metric.What += ", read as " + form.before + Roles[0] + form.after + "."
			}
			metrics = append(metrics, metric)
		}
	}
	return metrics
}
