package meter

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// unfit is a finding that takes figures away: the metrics of these names, of
// both containers.
func unfit(subject, says string, metrics []string, remedies ...stopwatt.Remedy) stopwatt.Finding {
	return stopwatt.Finding{Subject: subject, Verdict: stopwatt.Unfit, Says: says, Metrics: metrics, Remedies: remedies}
}

// both are the metrics of both containers, whose names are made of what stands
// before and after the role.
func both(names ...[2]string) []string {
	var metrics []string
	for _, name := range names {
		for _, role := range []string{"server", "driver"} {
			metrics = append(metrics, name[0]+role+name[1])
		}
	}
	return metrics
}

// findMemoryController looks whether cgroups account for memory, which boards
// often have switched off.
func (h Host) findMemoryController() stopwatt.Finding {
	if h.controls("memory") {
		return fit("memory", "accounted for per container")
	}
	return unfit("memory", "not accounted for: the memory controller of cgroups is off",
		[]string{"memory_rest", "memory_peak", "memory_peak_driver"}, h.atBoot("cgroup_enable=memory")...)
}

// controls tells whether a controller of cgroups is mounted, or to be had in
// the unified hierarchy.
func (h Host) controls(controller string) bool {
	text, err := h.read("proc/self/mountinfo")
	if err != nil {
		return false
	}
	for _, m := range parseMounts(text) {
		if !m.unified && slices.Contains(m.options, controller) || m.unified && (cgroup{dir: h.path(m.point)}).enabled(controller) {
			return true
		}
	}
	return false
}

// bootOptions are the ways to give the kernel an option when it starts: of a
// Raspberry Pi, of Debian's and of Fedora's kin. The file of each shows whether
// it is the way here.
var bootOptions = []struct{ file, of, line string }{
	{"boot/firmware/cmdline.txt", "on a Raspberry Pi", "sudo sed -i '1s/$/ OPTION/' /boot/firmware/cmdline.txt"},
	{"boot/cmdline.txt", "on a Raspberry Pi of an old system", "sudo sed -i '1s/$/ OPTION/' /boot/cmdline.txt"},
	{"usr/sbin/update-grub", "on Debian and its kin", `sudo sed -i 's/^GRUB_CMDLINE_LINUX="/&OPTION /' /etc/default/grub && sudo update-grub`},
	{"usr/sbin/grubby", "on Fedora and its kin", "sudo grubby --update-kernel=ALL --args=OPTION"},
}

// atBoot is the remedy that gives the kernel an option when it starts: the way that
// is seen here, or all of them where none is, as in a helper container.
func (h Host) atBoot(option string) []stopwatt.Remedy {
	var all []stopwatt.Remedy
	for _, way := range bootOptions {
		line := strings.Replace(way.line, "OPTION", option, 1)
		if exists(h.path(way.file)) {
			return []stopwatt.Remedy{{When: forGood + ", after a restart", Line: line}}
		}
		all = append(all, stopwatt.Remedy{When: way.of + ", after a restart", Line: line})
	}
	return all
}

// probe opens and closes an event of the root cgroup, as those of containers
// are opened.
func (h Host) probe(event perfEvent) error {
	if h.NoCounters {
		return errors.New("perf events are switched off")
	}
	text, err := h.read("proc/self/mountinfo")
	if err != nil {
		return err
	}
	dir := ""
	for _, m := range parseMounts(text) {
		if slices.Contains(m.options, "perf_event") || m.unified && dir == "" {
			dir = h.path(m.point)
		}
	}
	if dir == "" {
		return errors.New("no hierarchy of cgroups that perf events belong to is mounted")
	}
	fds, err := openEvent(dir, event, h.online()[:min(1, len(h.online()))])
	if err != nil {
		return err
	}
	return (&perfCounter{fds: fds}).close()
}

// findSwitchCounter says whether context switches can be counted.
func (h Host) findSwitchCounter(err error) stopwatt.Finding {
	if err == nil {
		return fit("counters", "context switches per container")
	}
	return unfit("counters", "no context switches: "+h.perfReason(switchEvent, err).Error(),
		both([2]string{"context_switches_", ""}), perfRemedies(err)...)
}

// findHardwareCounters says whether the CPU's own counters can be read.
func (h Host) findHardwareCounters(err error) stopwatt.Finding {
	if err == nil {
		return fit("hardware counters", "instructions, cycles and cache misses per container")
	}
	return unfit("hardware counters", "no instructions, cycles and cache misses: "+h.perfReason(hardwareEvents[0], err).Error(),
		both([2]string{"instructions_", ""}, [2]string{"cycles_", ""}, [2]string{"cache_misses_", ""}), perfRemedies(err)...)
}

// perfRemedies allow perf events, where that is all that is missing.
func perfRemedies(err error) []stopwatt.Remedy {
	if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
		return nil
	}
	return []stopwatt.Remedy{
		{When: untilBoot, Line: "sudo sysctl kernel.perf_event_paranoid=0"},
		{When: forGood, Line: "echo kernel.perf_event_paranoid=0 | sudo tee /etc/sysctl.d/60-stopwatt.conf && sudo sysctl --system"},
	}
}

// findPressure says whether waiting is accounted for.
func (h Host) findPressure() stopwatt.Finding {
	metrics := both([2]string{"pressure_cpu_", ""}, [2]string{"pressure_memory_", ""}, [2]string{"pressure_io_", ""})
	if _, err := h.pressure("cpu"); err != nil {
		return unfit("pressure", "not accounted for: "+err.Error(), metrics, h.atBoot("psi=1")...)
	}
	if h.cgroupVersion() == "1" {
		return unfit("pressure", "accounted for in the unified hierarchy of cgroups alone, and this machine mounts v1 without it", metrics)
	}
	return fit("pressure", "waiting for CPU, memory and I/O per container")
}
