package meter

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// frequencies are those of all CPUs now, in hertz: what cpufreq says, else what
// /proc/cpuinfo says where the kernel measures it (aperfmperf). Where it does
// not, /proc/cpuinfo names one frequency for ever, which is no reading.
func (h Host) frequencies() ([]int64, error) {
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"))
	if len(files) > 0 {
		return kilohertz(files)
	}
	text, err := h.read("proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(strings.Fields(parseCPUInfo(text)["flags"]), "aperfmperf") {
		return nil, errors.New("this kernel does not tell at which frequency its CPUs run: it has no cpufreq, as in most virtual machines")
	}
	return parseMegahertz(string(text))
}

// kilohertz reads files of one frequency each. A CPU that was taken offline
// meanwhile gives none.
func kilohertz(files []string) ([]int64, error) {
	var all []int64
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		n, err := parseNumber(text)
		if err == nil {
			n, err = scaled(n, 1000)
		}
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%s says %q", name, strings.TrimSpace(string(text)))
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("none of the %d files scaling_cur_freq can be read", len(files))
	}
	return all, nil
}

// parseMegahertz takes each processor's frequency from /proc/cpuinfo of x86.
func parseMegahertz(text string) ([]int64, error) {
	var all []int64
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(key) != "cpu MHz" {
			continue
		}
		megahertz, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(megahertz > 0 && megahertz < 1e6) {
			return nil, fmt.Errorf("/proc/cpuinfo says %q MHz", strings.TrimSpace(value))
		}
		all = append(all, int64(math.Round(megahertz*1e6)))
	}
	if len(all) == 0 {
		return nil, errors.New("/proc/cpuinfo tells no frequency")
	}
	return all, nil
}
