package meter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A column is one number in a file of a cgroup.
type column struct {
	field string // of stopwatt.UsageFields
	parse func(text []byte) (int64, error)
	scale int64 // to the field's unit
}

// A file is a file of a cgroup and what stands in it.
type file struct {
	name    string
	needs   string // which Linux brought it, for the one who lacks it
	columns []column
}

// controller is the controller of the unified hierarchy that the file belongs
// to; cpu.stat is there without any.
func (f file) controller() string {
	controller, _, _ := strings.Cut(f.name, ".")
	return controller
}

// falling are the fields that may go back while their cgroup lives.
var falling = map[string]bool{"MemoryCurrent": true, "PidsCurrent": true}

// cpuacct counts the total in nanoseconds as the scheduler does; its user and
// system parts are counted in ticks of the clock (4 ms at 250 Hz), so that the
// two need not add up to the total.
var (
	cpuTotalV1 = []file{{"cpuacct.usage", "", []column{{"CPU", parseNumber, 1}}}}
	cpuSplitV1 = []file{
		{"cpuacct.usage_user", "Linux 4.7", []column{{"CPUUser", parseNumber, 1}}},
		{"cpuacct.usage_sys", "Linux 4.7", []column{{"CPUSystem", parseNumber, 1}}},
	}
)

// cpu.stat is in microseconds, and in the unified hierarchy there without any
// controller. Its split is scaled to its total, which is the scheduler's.
var (
	cpuTotal   = column{"CPU", keyed("usage_usec"), 1000}
	cpuUser    = column{"CPUUser", keyed("user_usec"), 1000}
	cpuSystem  = column{"CPUSystem", keyed("system_usec"), 1000}
	cpuFilesV2 = []file{{"cpu.stat", "", []column{cpuTotal, cpuUser, cpuSystem}}}
	cpuSplitV2 = []file{{"cpu.stat", "", []column{cpuUser, cpuSystem}}}
)

// quotaFiles tell of the CPU quota, in the same words in v1 and v2.
var quotaFiles = []file{{"cpu.stat", "", []column{{"Throttled", parseThrottled, 1}}}}

// parseThrottled finds the periods in which the quota ran out. In the unified
// hierarchy they are counted only where the cpu controller is enabled.
func parseThrottled(text []byte) (int64, error) {
	n, err := parseKeyed(text, "nr_throttled")
	if err != nil {
		return 0, errors.New("the cpu controller is not enabled for this container: nothing throttles it, and nothing counts that")
	}
	return n, nil
}

var memoryFilesV1 = []file{
	{"memory.usage_in_bytes", "", []column{{"MemoryCurrent", parseNumber, 1}}},
	{"memory.max_usage_in_bytes", "", []column{{"MemoryPeak", parseNumber, 1}}},
}

var memoryFilesV2 = []file{
	{"memory.current", "", []column{{"MemoryCurrent", parseNumber, 1}}},
	{"memory.peak", "Linux 5.19", []column{{"MemoryPeak", parseNumber, 1}}},
}

var pidsFiles = []file{
	{"pids.current", "", []column{{"PidsCurrent", parseNumber, 1}}},
	{"pids.peak", "Linux 6.1", []column{{"PidsPeak", parseNumber, 1}}},
}

// pressureFiles are there in the unified hierarchy alone, in microseconds.
var pressureFiles = []file{
	{"cpu.pressure", "", []column{{"PressureCPU", parsePressure, 1000}}},
	{"memory.pressure", "", []column{{"PressureMemory", parsePressure, 1000}}},
	{"io.pressure", "", []column{{"PressureIO", parsePressure, 1000}}},
}

// ioFiles are the files about block devices, of which some lie on others.
func ioFiles(stacked []string) (v1, v2 []file) {
	blkio := func(operation string) func([]byte) (int64, error) {
		return func(text []byte) (int64, error) { return parseBlkio(text, operation, stacked) }
	}
	stat := func(key string) func([]byte) (int64, error) {
		return func(text []byte) (int64, error) { return parseIOStat(text, key, stacked) }
	}
	v1 = []file{{"blkio.throttle.io_service_bytes_recursive", "", []column{{"IORead", blkio("Read"), 1}, {"IOWritten", blkio("Write"), 1}}}}
	v2 = []file{{"io.stat", "", []column{{"IORead", stat("rbytes"), 1}, {"IOWritten", stat("wbytes"), 1}}}}
	return v1, v2
}

// stacked are the numbers of the block devices that lie on others, as volumes
// of LVM and md do: "253:0".
func (h Host) stacked() []string {
	below, _ := filepath.Glob(h.path("sys/block/*/slaves/*"))
	var numbers []string
	for _, device := range below {
		if number, err := os.ReadFile(filepath.Join(filepath.Dir(device), "..", "dev")); err == nil {
			numbers = append(numbers, strings.TrimSpace(string(number)))
		}
	}
	return numbers
}
