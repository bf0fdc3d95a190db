package meter

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

// hot is a machine that tells everything of itself.
var hot = with(vm, map[string]string{
	"proc/loadavg": "1.80 1.20 0.50 3/250 4419\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":                  "2000000\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq":                  "1000000\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count":      "3\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count":   "5\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count":      "2\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time": "900\n",
	"sys/class/thermal/thermal_zone0/temp":                                  "90000\n",
	"sys/class/thermal/thermal_zone0/type":                                  "iwlwifi_1\n",
	"sys/class/thermal/thermal_zone1/temp":                                  "61000\n",
	"sys/class/thermal/thermal_zone1/type":                                  "x86_pkg_temp\n",
	"sys/class/thermal/thermal_zone2/temp":                                  "55000\n",
	"sys/class/thermal/thermal_zone2/type":                                  "cpu-thermal\n",
	"sys/class/thermal/thermal_zone3/temp":                                  "-274000\n",
	"sys/class/thermal/thermal_zone3/type":                                  "soc-thermal\n",
	"sys/devices/platform/soc/soc:firmware/get_throttled":                   "50005\n",
	"proc/pressure/cpu":    "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=8\n",
	"proc/pressure/io":     "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n",
})

func TestAReadingOfTheMachine(t *testing.T) {
	t.Parallel()
	host := tree(t, hot)
	before := host.Monotonic()
	got := host.Reading()
	if got.At < before || got.At > host.Monotonic() {
		t.Errorf("it was taken at %d", got.At)
	}
	want := stopwatt.MachineReading{
		At: got.At, Slept: got.Slept,
		CPU: stopwatt.CPUTimes{User: 1000 * tick, Nice: 200 * tick, System: 300 * tick, Idle: 4000 * tick,
			IOWait: 50 * tick, IRQ: 6 * tick, SoftIRQ: 7 * tick, Steal: 8 * tick},
		Load:      [3]float64{1.8, 1.2, 0.5},
		Frequency: 1_500_000_000, FrequencyLeast: 1_000_000_000,
		Overheated: 10, Temperature: 61_000, BoardAlarms: 0x50005,
		PressureCPU: 7000, PressureMemory: 8000, PressureIO: 9000,
		Absent: map[string]string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAMachineDoesNotTellIsAbsent(t *testing.T) {
	t.Parallel()
	const cpu = "sys/devices/system/cpu/"
	tests := []struct {
		name, field string
		more        map[string]string
		says        string
	}{
		{"no /proc/stat", "CPU", map[string]string{"proc/stat": ""}, "proc/stat"},
		{"a /proc/stat of something else", "CPU", map[string]string{"proc/stat": "cpu0 1 2 3 4\n"}, "begins with"},
		{"a load that is text", "Load", map[string]string{"proc/loadavg": "low 0 0\n"}, "proc/loadavg says"},
		{"a load that is cut short", "Load", map[string]string{"proc/loadavg": "1.0 2.0"}, "proc/loadavg says"},
		{"a load without bound", "Load", map[string]string{"proc/loadavg": "Inf 0 0\n"}, "proc/loadavg says"},
		{"a frequency of zero", "Frequency", map[string]string{cpu + "cpu1/cpufreq/scaling_cur_freq": "0\n"}, `says "0"`},
		{"a frequency that is not known", "FrequencyLeast", map[string]string{cpu + "cpu1/cpufreq/scaling_cur_freq": "<unknown>\n"}, `says "<unknown>"`},
		{"a throttle count that is text", "Overheated", map[string]string{cpu + "cpu0/thermal_throttle/core_throttle_count": "x\n"}, "no count"},
		{"firmware that says something else", "BoardAlarms", map[string]string{"sys/devices/platform/soc/soc:firmware/get_throttled": "error\n"}, `says "error"`},
		{"pressure is off", "PressureIO", map[string]string{"proc/pressure/io": ""}, "psi=1"},
		{"pressure without a total", "PressureIO", map[string]string{"proc/pressure/io": "some\n"}, "proc/pressure/io"},
	}
	for _, test := range tests {
		if reason := tree(t, with(hot, test.more)).Reading().Absent[test.field]; !strings.Contains(reason, test.says) {
			t.Errorf("%s: the reason is %q, want %q", test.name, reason, test.says)
		}
	}
	nothing := tree(t, nil).Reading()
	for _, field := range []string{"CPU", "Load", "Frequency", "FrequencyLeast", "Overheated", "Temperature", "BoardAlarms", "PressureCPU", "PressureMemory", "PressureIO"} {
		if nothing.Absent[field] == "" {
			t.Errorf("%s of a machine of which nothing can be read is not absent", field)
		}
	}
}

func TestFrequenciesWithoutCpufreq(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, cpuinfo string
		mean, least   int64
		says          string
	}{
		{"the kernel measures them", "flags\t: fpu aperfmperf\ncpu MHz\t\t: 2900.125\n\ncpu MHz\t\t: 1899.875\n", 2_400_000_000, 1_899_875_000, ""},
		{"a virtual machine names one for ever", "flags\t: fpu hypervisor\ncpu MHz\t\t: 2599.998\n", 0, 0, "has no cpufreq"},
		{"text where a frequency should be", "flags\t: aperfmperf\ncpu MHz\t\t: fast\n", 0, 0, `"fast" MHz`},
		{"no frequency at all", "flags\t: aperfmperf\n", 0, 0, "tells no frequency"},
	}
	for _, test := range tests {
		mean, least, err := tree(t, map[string]string{"proc/cpuinfo": test.cpuinfo}).frequency()
		if mean != test.mean || least != test.least || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %d, %d, %v", test.name, mean, least, err)
		}
	}
}

func TestTheHottestZoneCountsWhereNoneNamesTheCPU(t *testing.T) {
	t.Parallel()
	const zone = "sys/class/thermal/thermal_zone"
	got, err := tree(t, map[string]string{zone + "0/temp": "45000\n", zone + "0/type": "acpitz\n", zone + "1/temp": "48000\n"}).temperature()
	if err != nil || got != 48_000 {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := tree(t, map[string]string{zone + "0/temp": "0\n"}).temperature(); err == nil {
		t.Errorf("a sensor that is asleep says %d", got)
	}
}

func TestACPUThatWasTakenOfflineIsLeftOut(t *testing.T) {
	t.Parallel()
	host := tree(t, hot)
	gone := host.path("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", gone); err != nil {
		t.Fatal(err)
	}
	if mean, least, err := host.frequency(); mean != 2_000_000_000 || least != mean || err != nil {
		t.Errorf("%d, %d, %v", mean, least, err)
	}
}

func BenchmarkReading(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Host{}.Reading()
	}
}
