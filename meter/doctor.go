package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Findings says how fit this machine is to measure time on, and what of a
// container can be accounted for: each finding with its verdict, and how to
// mend it. Energy meters are not among them: see OpenMeters.
func (h Host) Findings() []stopwatt.Finding {
	return []stopwatt.Finding{
		h.findGovernor(),
		h.findTurbo(),
		h.findSMT(),
		h.findLoad(),
		h.findTimers(),
		h.findSwap(),
		h.findClock(),
		h.findVirtual(),
		h.findMemoryController(),
		h.findSwitchCounter(h.probe(switchEvent)),
		h.findHardwareCounters(h.probe(hardwareEvents[0])),
		h.findPressure(),
	}
}

// When a remedy is good for.
const (
	untilBoot = "until the next boot"
	forGood   = "for good"
)

// fit and doubtful are findings without a remedy.
func fit(subject, says string) stopwatt.Finding {
	return stopwatt.Finding{Subject: subject, Verdict: stopwatt.Fit, Says: says}
}

func doubtful(subject, says string, remedies ...stopwatt.Remedy) stopwatt.Finding {
	return stopwatt.Finding{Subject: subject, Verdict: stopwatt.Doubtful, Says: says, Remedies: remedies}
}

// findGovernor looks at what sets the CPU's frequency.
func (h Host) findGovernor() stopwatt.Finding {
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	if len(files) == 0 {
		return fit("governor", "none here: this kernel does not set the CPU's frequency")
	}
	other := map[string]int{}
	for _, file := range files {
		if governor := trimmed(filepath.Dir(file), "scaling_governor"); governor != "performance" {
			other[governor]++
		}
	}
	if len(other) == 0 {
		return fit("governor", fmt.Sprintf("performance on %d of %d CPUs", len(files), len(files)))
	}
	var parts []string
	for governor, n := range other {
		parts = append(parts, fmt.Sprintf("%s on %d of %d CPUs", governor, n, len(files)))
	}
	slices.Sort(parts)
	return doubtful("governor", strings.Join(parts, ", ")+": speed follows load",
		stopwatt.Remedy{When: untilBoot, Line: "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"})
}

// findTurbo looks whether the CPU runs faster while it is cool.
func (h Host) findTurbo() stopwatt.Finding {
	switch h.turbo() {
	case "off":
		return fit("turbo", "off")
	case "":
		return fit("turbo", "not to be switched here")
	}
	s, _ := h.turboSwitch()
	return doubtful("turbo", "on: the first seconds of a trial run faster",
		stopwatt.Remedy{When: untilBoot, Line: fmt.Sprintf("echo %s | sudo tee /%s", s.off, s.pattern)})
}

// findSMT looks whether two threads share a core.
func (h Host) findSMT() stopwatt.Finding {
	switch h.smt() {
	case "off":
		return fit("SMT", "off")
	case "none":
		return fit("SMT", "this CPU has none")
	case "":
		return fit("SMT", "not to be seen here")
	}
	return doubtful("SMT", "on: two threads share a core, and each other's speed", h.withoutSMT()...)
}

// withoutSMT is how every core is left one thread: by the kernel's switch, or where
// it has none, as on most machines that are not x86, by taking the others offline.
func (h Host) withoutSMT() []stopwatt.Remedy {
	if exists(h.path("sys/devices/system/cpu/smt/control")) {
		return []stopwatt.Remedy{{When: untilBoot, Line: "echo off | sudo tee /sys/devices/system/cpu/smt/control"}}
	}
	files, _ := filepath.Glob(h.path("sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list"))
	var others strings.Builder
	for _, siblings := range contents(files) {
		threads, err := parseRanges(siblings)
		if err != nil {
			return nil
		}
		for _, thread := range threads[1:] {
			fmt.Fprintf(&others, " /sys/devices/system/cpu/cpu%d/online", thread)
		}
	}
	return []stopwatt.Remedy{{When: untilBoot, Line: "echo 0 | sudo tee" + others.String()}}
}

// quiet is the load average up to which a machine counts as idle: what its own
// housekeeping makes.
const quiet = 0.5

// findLoad looks whether others use the CPU now.
func (h Host) findLoad() stopwatt.Finding {
	load, err := h.load()
	if err != nil {
		return doubtful("other load", "not known: "+err.Error())
	}
	says := fmt.Sprintf("load average %.2f, %.2f, %.2f", load[0], load[1], load[2])
	if load[0] <= quiet {
		return fit("other load", says)
	}
	return doubtful("other load", says+": something runs here",
		stopwatt.Remedy{When: "to see what", Line: "ps -eo pcpu,time,pid,args --sort=-pcpu | head"})
}

// timers are those of systemd that wake up by themselves and work for a while,
// on the common distributions.
var timers = []string{"apt-daily.timer", "apt-daily-upgrade.timer", "dnf-makecache.timer", "dnf-automatic.timer", "packagekit-background.timer", "man-db.timer", "plocate-updatedb.timer", "updatedb.timer"}

// findTimers looks whether updates may begin in the middle of a run.
func (h Host) findTimers() stopwatt.Finding {
	switch runs := exists(h.path("run/systemd/system")); {
	case !runs && h.text("proc/1/comm") == "systemd":
		return fit("timers", "not to be seen from a container")
	case !runs:
		return fit("timers", "systemd runs none here")
	}
	var active []string
	for _, timer := range timers {
		_, enabled := os.Lstat(h.path("etc/systemd/system/timers.target.wants", timer))
		masked, _ := os.Readlink(h.path("etc/systemd/system", timer))
		if enabled == nil && masked != "/dev/null" {
			active = append(active, timer)
		}
	}
	if len(active) == 0 {
		return fit("timers", "none that updates this machine by itself")
	}
	return doubtful("timers", strings.Join(active, ", ")+": may begin in the middle of a run",
		stopwatt.Remedy{When: forGood, Line: "sudo systemctl mask --now " + strings.Join(active, " ")})
}

// findSwap looks whether memory was moved to disk.
func (h Host) findSwap() stopwatt.Finding {
	var c vmCounts
	text, err := h.read("proc/meminfo")
	if err == nil {
		err = eachLine(text, c.meminfo)
	}
	switch used := c.swapTotal - c.swapFree; {
	case err != nil:
		return doubtful("swap", "not known: "+err.Error())
	case c.swapTotal == 0:
		return fit("swap", "there is none")
	case used <= 0:
		return fit("swap", fmt.Sprintf("none used of %d MiB", c.swapTotal>>10))
	default:
		return doubtful("swap", fmt.Sprintf("%d MiB used: what is needed of it comes from disk", max(used>>10, 1)),
			stopwatt.Remedy{When: untilBoot, Line: "sudo swapoff -a"})
	}
}

// quickClocks are the clock sources that a program reads without asking the
// kernel.
var quickClocks = []string{"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "timebase", "stp", "riscv_clocksource"}

// findClock looks how the kernel reads the time.
func (h Host) findClock() stopwatt.Finding {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	current := h.text(dir + "current_clocksource")
	if current == "" {
		return doubtful("clock", "its source is not to be seen here")
	}
	if slices.Contains(quickClocks, current) {
		return fit("clock", current)
	}
	f := doubtful("clock", current+": each reading of the time asks the kernel, and costs much longer")
	if slices.Contains(strings.Fields(h.text(dir+"available_clocksource")), "tsc") {
		f.Remedies = []stopwatt.Remedy{{When: untilBoot, Line: "echo tsc | sudo tee /" + dir + "current_clocksource"}}
	}
	return f
}

// findVirtual looks whether a hypervisor shares the machine out.
func (h Host) findVirtual() stopwatt.Finding {
	if !h.virtual(h.cpuInfo()) {
		return fit("virtual", "no: it is a machine of its own")
	}
	says := "this is a virtual machine: others on its host make its figures waver, unseen from here"
	if cpu, err := h.cpuTimes(); err == nil {
		says += fmt.Sprintf(" (%.1f %% of the CPU time was taken away since boot)", 100*float64(cpu.Steal)/float64(cpu.All()))
	}
	return doubtful("virtual", says)
}
