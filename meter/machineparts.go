package meter

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// caches tells of each cache of the CPUs how many there are and how large one
// is: "2 × L1d 32K, 2 × L1i 32K, 1 × L2 1024K".
func (h Host) caches() string {
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/size"))
	sharers := map[string]map[string]bool{} // by kind and size, which CPUs share one
	for _, file := range files {
		dir := filepath.Dir(file)
		kind := "L" + trimmed(dir, "level") + cacheSuffix[trimmed(dir, "type")] + " " + trimmed(dir, "size")
		if sharers[kind] == nil {
			sharers[kind] = map[string]bool{}
		}
		sharers[kind][trimmed(dir, "shared_cpu_list")] = true
	}
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(sharers)) {
		all = append(all, fmt.Sprintf("%d × %s", len(sharers[kind]), kind))
	}
	return strings.Join(all, ", ")
}

// cacheSuffix tells a cache of data from one of instructions.
var cacheSuffix = map[string]string{"Data": "d", "Instruction": "i"}

// trimmed reads a file of one line.
func trimmed(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name)) // what is not there is empty
	return strings.TrimSpace(string(text))
}

// smt tells whether cores run two threads: on, off, none, or empty when that
// cannot be read.
func (h Host) smt() string {
	switch control := h.text("sys/devices/system/cpu/smt/control"); control {
	case "on":
		return "on"
	case "off", "forceoff":
		return "off"
	case "notsupported", "notimplemented":
		return "none"
	}
	cores, threads := h.cores(), len(h.online())
	switch {
	case cores == 0 || threads == 0:
		return ""
	case threads > cores:
		return "on"
	}
	return "none"
}

// A turboSwitch turns turbo on and off: files, and what is written there to
// have it off.
type turboSwitch struct{ pattern, off string }

// turboSwitches are that of Intel's driver, and those of cpufreq for all CPUs
// or, since Linux 6.11, for each.
var turboSwitches = []turboSwitch{
	{"sys/devices/system/cpu/intel_pstate/no_turbo", "1"},
	{"sys/devices/system/cpu/cpufreq/boost", "0"},
	{"sys/devices/system/cpu/cpufreq/policy*/boost", "0"},
}

// turboSwitch finds the switch that this machine has, and what stands there.
func (h Host) turboSwitch() (s turboSwitch, texts []string) {
	for _, s := range turboSwitches {
		files, _ := filepath.Glob(h.path(s.pattern))
		if texts := contents(files); len(texts) > 0 {
			return s, texts
		}
	}
	return turboSwitch{}, nil
}

// turbo tells whether the CPU may run faster than its nominal frequency for a
// while: on, off, or empty when that cannot be read.
func (h Host) turbo() string {
	s, texts := h.turboSwitch()
	switch {
	case len(texts) == 0:
		return ""
	case len(texts) == 1 && texts[0] == s.off:
		return "off"
	}
	return "on"
}

// leftOut are the keys of /proc/cpuinfo whose values are of the moment, on x86,
// arm, POWER and s390, and the serial number of a board.
var leftOut = []string{"cpu MHz", "bogomips", "BogoMIPS", "clock", "cpu MHz dynamic", "Serial"}

// lastingCPUInfo is the text of /proc/cpuinfo without what changes from reading
// to reading, for a run must find the same machine when it is continued, and
// without the number that stays at home.
func (h Host) lastingCPUInfo() string {
	text, err := h.read("proc/cpuinfo")
	if err != nil {
		return ""
	}
	var lasting strings.Builder
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(line, ":")
		if !slices.Contains(leftOut, strings.TrimSpace(key)) {
			lasting.WriteString(line)
		}
	}
	return lasting.String()
}

// cgroupVersion is 1, 2, or hybrid; empty when no cgroups are mounted.
func (h Host) cgroupVersion() string {
	text, err := h.read("proc/self/mountinfo")
	if err != nil {
		return ""
	}
	v1, v2 := false, false
	for _, m := range parseMounts(text) {
		v2 = v2 || m.unified
		v1 = v1 || !m.unified
	}
	switch {
	case v1 && v2:
		return "hybrid"
	case v2:
		return "2"
	case v1:
		return "1"
	}
	return ""
}
