package meter

import "gitlab.com/stopwatt/stopwatt"

const mountsV1 = `23 27 0:22 / /sys rw,relatime - sysfs sysfs rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio
37 31 0:34 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
`

const mountUnified = `41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`

const mountV2 = `30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`

// lvm are a disk and a volume that lies on it: what the volume does, the disk
// does.
var lvm = map[string]string{
	"sys/block/sda/dev":         "8:0\n",
	"sys/block/dm-0/dev":        "253:0\n",
	"sys/block/dm-0/slaves/sda": "\n",
}

// twoThreads are the threads 42 and 43 of a container.
var twoThreads = map[string]string{
	"proc/42/status":    "Name:\tserver\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t1\n",
	"proc/42/schedstat": "200000000 5 11\n",
	"proc/43/status":    "Name:\tserver\nvoluntary_ctxt_switches:\t20\nnonvoluntary_ctxt_switches:\t2\n",
	"proc/43/schedstat": "100000000 5 22\n",
}

// v1 is a machine with cgroup v1 alone and the cgroupfs driver.
var v1 = with(twoThreads, map[string]string{
	"proc/self/mountinfo": mountsV1,
	"proc/self/cgroup":    "4:memory:/user.slice\n2:cpu,cpuacct:/user.slice\n",
	"proc/42/cgroup":      "6:pids:/docker/ID\n5:blkio:/docker/ID\n4:memory:/docker/ID\n2:cpu,cpuacct:/docker/ID\n1:name=systemd:/docker/ID\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage":        "301234567\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage_user":   "280000000\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage_sys":    "20000000\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpu.stat":             "nr_periods 9\nnr_throttled 4\nthrottled_time 8000\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/tasks":                "42\n43\n",
	"sys/fs/cgroup/memory/docker/ID/memory.usage_in_bytes":     "1048576\n",
	"sys/fs/cgroup/memory/docker/ID/memory.max_usage_in_bytes": "2097152\n",
	"sys/fs/cgroup/blkio/docker/ID/blkio.throttle.io_service_bytes_recursive": "8:0 Read 4096\n8:0 Write 8192\n8:0 Total 12288\n" +
		"8:16 Read 1\n8:16 Write 2\n8:16 Total 3\nTotal 12291\n",
	"sys/fs/cgroup/pids/docker/ID/pids.current": "2\n",
	"sys/fs/cgroup/pids/docker/ID/pids.peak":    "7\n",
})

// unified are the files of the unified hierarchy beside those of v1.
var unified = map[string]string{
	"sys/fs/cgroup/unified/docker/ID/cgroup.controllers": "\n",
	"sys/fs/cgroup/unified/docker/ID/cgroup.threads":     "42\n43\n",
	"sys/fs/cgroup/unified/docker/ID/cpu.stat":           "usage_usec 301230\nuser_usec 281000\nsystem_usec 20230\n",
	"sys/fs/cgroup/unified/docker/ID/cpu.pressure":       "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
	"sys/fs/cgroup/unified/docker/ID/memory.pressure":    "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n",
	"sys/fs/cgroup/unified/docker/ID/io.pressure":        "some avg10=0.00 avg60=0.00 avg300=0.00 total=13\n",
}

// hybrid is a machine whose controllers are v1's, with the unified hierarchy
// beside them.
var hybrid = with(with(v1, unified), map[string]string{
	"proc/self/mountinfo": mountUnified + mountsV1,
	"proc/42/cgroup":      v1["proc/42/cgroup"] + "0::/docker/ID\n",
})

// scope is the cgroup that the systemd driver makes for a container.
const scope = "sys/fs/cgroup/system.slice/docker-ID.scope/"

// v2 is a machine with cgroup v2 and the systemd driver.
var v2 = with(with(twoThreads, lvm), map[string]string{
	"proc/self/mountinfo":        mountV2,
	"proc/self/cgroup":           "0::/user.slice/user-1000.slice/session-3.scope\n",
	"proc/42/cgroup":             "0::/system.slice/docker-ID.scope\n",
	"proc/sys/kernel/osrelease":  "5.15.0-1\n",
	scope + "cgroup.controllers": "cpu io memory pids\n",
	scope + "cgroup.threads":     "42\n43\n",
	scope + "cpu.stat": "usage_usec 301234\nuser_usec 281000\nsystem_usec 20234\ncore_sched.force_idle_usec 0\n" +
		"nr_periods 9\nnr_throttled 4\nthrottled_usec 8\n",
	scope + "memory.current":  "1048576\n",
	scope + "memory.peak":     "2097152\n",
	scope + "pids.current":    "2\n",
	scope + "pids.peak":       "7\n",
	scope + "io.stat":         "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n253:0 rbytes=4096 wbytes=8192 rios=1 wios=2\n8:16 wbytes=2 rbytes=1\n7:0 \n",
	scope + "cpu.pressure":    unified["sys/fs/cgroup/unified/docker/ID/cpu.pressure"],
	scope + "memory.pressure": unified["sys/fs/cgroup/unified/docker/ID/memory.pressure"],
	scope + "io.pressure":     unified["sys/fs/cgroup/unified/docker/ID/io.pressure"],
})

// usageV2 is what v2 tells.
var usageV2 = stopwatt.Usage{
	CPU: 301234000, CPUUser: 281000000, CPUSystem: 20234000, Throttled: 4,
	MemoryCurrent: 1 << 20, MemoryPeak: 2 << 20, PidsCurrent: 2, PidsPeak: 7, IORead: 4097, IOWritten: 8194,
	PressureCPU: 11000, PressureMemory: 12000, PressureIO: 13000,
	SwitchesVoluntary: 30, SwitchesInvoluntary: 3, ThreadCPU: 300000000,
}

// usageHybrid and usageV1 are what hybrid and v1 tell.
var usageHybrid, usageV1 = func() (hybrid, v1 stopwatt.Usage) {
	hybrid = usageV2
	hybrid.CPU, hybrid.CPUSystem = 301234567, 20230000
	v1 = hybrid
	v1.CPUUser, v1.CPUSystem = 280000000, 20000000
	v1.PressureCPU, v1.PressureMemory, v1.PressureIO = 0, 0, 0
	return hybrid, v1
}()

// noEvents are the reasons for what a tree of files cannot count.
var noEvents = map[string]string{"ContextSwitches": "switched off", "Instructions": "switched off", "Cycles": "switched off", "CacheMisses": "switched off"}

// noPressure are the reasons for what v1 alone does not account for.
var noPressure = map[string]string{"PressureCPU": "only the unified hierarchy", "PressureMemory": "only the unified", "PressureIO": "only the unified"}
