package meter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// Reading reads what the machine says of itself at one edge of a window. It
// never fails: what could not be read is named in Absent with the reason. It
// opens a file or two for each CPU, for some 10 µs each.
func (h Host) Reading() stopwatt.MachineReading {
	r := stopwatt.MachineReading{At: h.Monotonic(), Slept: suspended(), Absent: map[string]string{}}
	lack := func(err error, names ...string) {
		for _, name := range names {
			if err != nil {
				r.Absent[name] = err.Error()
			}
		}
	}
	var err error
	r.CPU, err = h.cpuTimes()
	lack(err, "CPU")
	r.Load, err = h.load()
	lack(err, "Load")
	r.Frequency, r.FrequencyLeast, err = h.frequency()
	lack(err, "Frequency", "FrequencyLeast")
	r.Overheated, err = h.overheated()
	lack(err, "Overheated")
	r.Temperature, err = h.temperature()
	lack(err, "Temperature")
	r.BoardAlarms, err = h.boardAlarms()
	lack(err, "BoardAlarms")
	r.PressureCPU, err = h.pressure("cpu")
	lack(err, "PressureCPU")
	r.PressureMemory, err = h.pressure("memory")
	lack(err, "PressureMemory")
	r.PressureIO, err = h.pressure("io")
	lack(err, "PressureIO")
	return r
}

// cpuTimes is what all CPUs did together since the kernel started.
func (h Host) cpuTimes() (stopwatt.CPUTimes, error) {
	text, err := h.read("proc/stat")
	if err != nil {
		return stopwatt.CPUTimes{}, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	times, ok := bytes.CutPrefix(line, []byte("cpu "))
	if !ok {
		return stopwatt.CPUTimes{}, fmt.Errorf("/proc/stat begins with %q", line)
	}
	return parseCPUTimes(times)
}

// load are the load averages, as in proc_loadavg(5).
func (h Host) load() (load [3]float64, err error) {
	text, err := h.read("proc/loadavg")
	if err != nil {
		return load, err
	}
	fields := strings.Fields(string(text))
	for i := range load {
		if i >= len(fields) {
			return [3]float64{}, fmt.Errorf("/proc/loadavg says %q", text)
		}
		load[i], err = strconv.ParseFloat(fields[i], 64)
		if err != nil || !(load[i] >= 0 && load[i] < 1e6) {
			return [3]float64{}, fmt.Errorf("/proc/loadavg says %q", text)
		}
	}
	return load, nil
}

// frequency is the mean and the least frequency of the CPUs, in hertz.
func (h Host) frequency() (mean, least int64, err error) {
	all, err := h.frequencies()
	if err != nil {
		return 0, 0, err
	}
	sum := int64(0)
	for _, f := range all {
		sum += f
	}
	return sum / int64(len(all)), slices.Min(all), nil
}

// overheated adds up how often each CPU and its package were slowed because of
// their temperature. x86 of Intel alone counts that.
func (h Host) overheated() (int64, error) {
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"))
	if len(files) == 0 {
		return 0, errors.New("this kernel does not count how often the CPU is slowed because it is hot")
	}
	sum := int64(0)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n, err := parseNumber(text)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		sum += n
	}
	return sum, nil
}

// temperature is that of the hottest zone that names the CPU, else of the
// hottest zone at all, in millidegrees Celsius. What no running CPU has is no
// temperature: sensors say -274 °C, 0 or 255 °C when they are asleep.
func (h Host) temperature() (int64, error) {
	files, _ := filepath.Glob(h.path("sys/class/thermal/thermal_zone*/temp"))
	hottest := map[bool]int64{} // by whether the zone names the CPU
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
		if err != nil || n < -40_000 || n == 0 || n > 150_000 {
			continue
		}
		kind, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "type"))
		ofCPU := namesCPU(string(kind))
		if known, any := hottest[ofCPU]; !any || n > known {
			hottest[ofCPU] = n
		}
	}
	if hot, any := hottest[true]; any {
		return hot, nil
	}
	if hot, any := hottest[false]; any {
		return hot, nil
	}
	return 0, fmt.Errorf("none of %d thermal zones tells a temperature", len(files))
}

// namesCPU tells whether a thermal zone of this type is the CPU's: "cpu-thermal",
// "x86_pkg_temp", "soc_thermal".
func namesCPU(kind string) bool {
	return slices.ContainsFunc([]string{"cpu", "pkg", "soc", "package"}, func(word string) bool {
		return strings.Contains(strings.ToLower(kind), word)
	})
}

// boardAlarms are the flags of a Raspberry Pi's firmware: "0x50005", or without
// the 0x.
func (h Host) boardAlarms() (int64, error) {
	text := h.text("sys/devices/platform/soc/soc:firmware/get_throttled")
	if text == "" {
		return 0, errors.New("this board's firmware raises no alarms, or its kernel does not show them")
	}
	flags, err := strconv.ParseInt(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || flags < 0 {
		return 0, fmt.Errorf("the firmware says %q", text)
	}
	return flags, nil
}

// pressure is for how long some thread of the machine waited for a resource,
// in nanoseconds.
func (h Host) pressure(resource string) (int64, error) {
	text, err := h.read("proc/pressure/" + resource)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) {
		return 0, errPressureOff
	}
	if err != nil {
		return 0, err
	}
	n, err := parsePressure(text)
	if err != nil {
		return 0, fmt.Errorf("/proc/pressure/%s: %w", resource, err)
	}
	return scaled(n, 1000)
}
