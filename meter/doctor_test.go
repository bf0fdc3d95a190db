package meter

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// quietPC is a machine that there is nothing to be said against.
var quietPC = with(with(pc, vm), map[string]string{
	"proc/loadavg":                        "0.02 0.01 0.00 1/250 4419\n",
	"proc/meminfo":                        pc["proc/meminfo"] + "SwapTotal: 4194304 kB\nSwapFree: 4194304 kB\n",
	"proc/pressure/cpu":                   "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n",
	"proc/self/mountinfo":                 mountV2,
	"proc/sys/kernel/perf_event_paranoid": "0\n",
	"sys/fs/cgroup/cgroup.controllers":    "cpu io memory pids\n",
	"run/systemd/system/x":                "\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":                 "performance\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":                 "performance\n",
	"sys/devices/system/cpu/smt/control":                                   "off\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":                         "1\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource":      "tsc\n",
	"sys/devices/system/clocksource/clocksource0/available_clocksource":    "tsc hpet acpi_pm \n",
	"etc/systemd/system/timers.target.wants/logrotate.timer":               "\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors":      "performance powersave\n",
	"sys/devices/system/clocksource/clocksource0/power/runtime_status":     "unsupported\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_available_frequencies": "1 2\n",
})

// found are the findings of a machine of files about one subject.
func found(t *testing.T, files map[string]string, subject string) stopwatt.Finding {
	t.Helper()
	for _, f := range tree(t, files).Findings() {
		if f.Subject == subject {
			return f
		}
	}
	t.Fatalf("nothing is said of %s", subject)
	return stopwatt.Finding{}
}

func TestAQuietMachineIsFitBesideWhatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, f := range tree(t, quietPC).Findings() {
		if f.Verdict != stopwatt.Fit && !strings.Contains(f.Says, "switched off") {
			t.Errorf("%s is %s: %s", f.Subject, f.Verdict, f.Says)
		}
		if len(f.Remedies) > 0 || f.Says == "" {
			t.Errorf("%s: %q, with remedies %v", f.Subject, f.Says, f.Remedies)
		}
	}
}

func TestEachFindingSaysWhatIsWrongAndHowToMendIt(t *testing.T) {
	t.Parallel()
	const cpu, clock = "sys/devices/system/cpu/", "sys/devices/system/clocksource/clocksource0/"
	tests := []struct {
		name, subject string
		more          map[string]string
		verdict       stopwatt.Fitness
		says, remedy  string
	}{
		{"one CPU follows the load", "governor", map[string]string{cpu + "cpu1/cpufreq/scaling_governor": "schedutil\n"},
			stopwatt.Doubtful, "schedutil on 1 of 2 CPUs: speed follows load", "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
		{"Intel's turbo is on", "turbo", map[string]string{cpu + "intel_pstate/no_turbo": "0\n"},
			stopwatt.Doubtful, "on: the first seconds", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"},
		{"AMD's boost is on", "turbo", map[string]string{cpu + "intel_pstate/no_turbo": "", cpu + "cpufreq/boost": "1\n"},
			stopwatt.Doubtful, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
		{"boost is on for one of two policies", "turbo", map[string]string{cpu + "intel_pstate/no_turbo": "", cpu + "cpufreq/policy0/boost": "0\n", cpu + "cpufreq/policy1/boost": "1\n"},
			stopwatt.Doubtful, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/policy*/boost"},
		{"a CPU without turbo", "turbo", map[string]string{cpu + "intel_pstate/no_turbo": ""}, stopwatt.Fit, "not to be switched", ""},
		{"two threads a core", "SMT", map[string]string{cpu + "smt/control": "on\n"},
			stopwatt.Doubtful, "two threads share a core", "echo off | sudo tee /sys/devices/system/cpu/smt/control"},
		{"two threads a core, of an old kernel", "SMT", map[string]string{cpu + "smt/control": ""},
			stopwatt.Doubtful, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpu2/online /sys/devices/system/cpu/cpu3/online"},
		{"a CPU without SMT", "SMT", map[string]string{cpu + "smt/control": "notsupported\n"}, stopwatt.Fit, "this CPU has none", ""},
		{"somebody computes", "other load", map[string]string{"proc/loadavg": "1.80 1.20 0.50 3/250 4419\n"},
			stopwatt.Doubtful, "load average 1.80, 1.20, 0.50: something runs here", "ps -eo"},
		{"updates come by themselves", "timers", map[string]string{
			"etc/systemd/system/timers.target.wants/apt-daily.timer":         "\n",
			"etc/systemd/system/timers.target.wants/apt-daily-upgrade.timer": "\n",
		}, stopwatt.Doubtful, "apt-daily.timer, apt-daily-upgrade.timer: may begin", "sudo systemctl mask --now apt-daily.timer apt-daily-upgrade.timer"},
		{"updates are set up, but systemd does not run", "timers", map[string]string{
			"run/systemd/system/x": "",
			"etc/systemd/system/timers.target.wants/apt-daily.timer": "\n",
		}, stopwatt.Fit, "systemd runs none here", ""},
		{"a little was moved to disk", "swap", map[string]string{"proc/meminfo": "SwapTotal: 4194304 kB\nSwapFree: 4193304 kB\n"},
			stopwatt.Doubtful, "1 MiB used", "sudo swapoff -a"},
		{"no swap", "swap", map[string]string{"proc/meminfo": "SwapTotal: 0 kB\nSwapFree: 0 kB\n"}, stopwatt.Fit, "there is none", ""},
		{"a slow clock, and a quick one to be had", "clock", map[string]string{clock + "current_clocksource": "hpet\n"},
			stopwatt.Doubtful, "hpet: each reading", "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
		{"a slow clock and no other", "clock", map[string]string{clock + "current_clocksource": "acpi_pm\n", clock + "available_clocksource": "acpi_pm\n"},
			stopwatt.Doubtful, "acpi_pm: each reading", ""},
		{"a virtual machine", "virtual", map[string]string{"sys/class/dmi/id/sys_vendor": "QEMU\n"},
			stopwatt.Doubtful, "(0.1 % of the CPU time was taken away since boot)", ""},
		{"a Raspberry Pi without memory accounting", "memory", map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu io pids\n", "boot/firmware/cmdline.txt": "quiet\n"},
			stopwatt.Unfit, "controller of cgroups is off", "sudo sed -i '1s/$/ cgroup_enable=memory/' /boot/firmware/cmdline.txt"},
		{"v1 with memory accounting", "memory", map[string]string{"proc/self/mountinfo": mountsV1}, stopwatt.Fit, "accounted for", ""},
		{"pressure is off, on Debian", "pressure", map[string]string{"proc/pressure/cpu": "", "usr/sbin/update-grub": "\n"},
			stopwatt.Unfit, "psi=1", `sudo sed -i 's/^GRUB_CMDLINE_LINUX="/&psi=1 /' /etc/default/grub && sudo update-grub`},
		{"pressure is off, on Fedora", "pressure", map[string]string{"proc/pressure/cpu": "", "usr/sbin/grubby": "\n"},
			stopwatt.Unfit, "psi=1", "sudo grubby --update-kernel=ALL --args=psi=1"},
		{"pressure is off, seen from a helper container", "pressure", map[string]string{"proc/pressure/cpu": ""},
			stopwatt.Unfit, "psi=1", "sudo sed -i '1s/$/ psi=1/' /boot/firmware/cmdline.txt"},
		{"pressure of v1 alone", "pressure", map[string]string{"proc/self/mountinfo": mountsV1}, stopwatt.Unfit, "mounts v1 without it", ""},
	}
	for _, test := range tests {
		f := found(t, with(quietPC, test.more), test.subject)
		if f.Verdict != test.verdict || !strings.Contains(f.Says, test.says) {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, f.Verdict, f.Says, test.verdict, test.says)
		}
		if (test.remedy == "") != (len(f.Remedies) == 0) || test.remedy != "" && !strings.Contains(f.Remedies[0].Line, test.remedy) {
			t.Errorf("%s: %v; want %q", test.name, f.Remedies, test.remedy)
		}
	}
}

func TestTimersThatAreMaskedDoNotWakeUp(t *testing.T) {
	t.Parallel()
	host := tree(t, with(quietPC, map[string]string{"etc/systemd/system/timers.target.wants/apt-daily.timer": "\n"}))
	if err := os.Symlink("/dev/null", host.path("etc/systemd/system/apt-daily.timer")); err != nil {
		t.Fatal(err)
	}
	if f := host.findTimers(); f.Verdict != stopwatt.Fit {
		t.Errorf("%s: %s", f.Verdict, f.Says)
	}
}

func TestWhatPerfEventsTakeAwayIsNamed(t *testing.T) {
	t.Parallel()
	host := tree(t, quietPC)
	tests := []struct {
		finding stopwatt.Finding
		verdict stopwatt.Fitness
		metric  string
		remedy  string
	}{
		{host.findSwitchCounter(nil), stopwatt.Fit, "", ""},
		{host.findSwitchCounter(unix.EACCES), stopwatt.Unfit, "context_switches_server", "sudo sysctl kernel.perf_event_paranoid=0"},
		{host.findSwitchCounter(unix.ENOSYS), stopwatt.Unfit, "context_switches_driver", ""},
		{host.findHardwareCounters(nil), stopwatt.Fit, "", ""},
		{host.findHardwareCounters(unix.ENOENT), stopwatt.Unfit, "instructions_server", ""},
		{host.findHardwareCounters(unix.EPERM), stopwatt.Unfit, "cache_misses_driver", "sudo sysctl"},
	}
	for i, test := range tests {
		f := test.finding
		if f.Verdict != test.verdict || test.metric != "" && !slices.Contains(f.Metrics, test.metric) {
			t.Errorf("%d: %+v", i, f)
		}
		if (test.remedy == "") != (len(f.Remedies) == 0) || test.remedy != "" && !strings.Contains(f.Remedies[0].Line, test.remedy) {
			t.Errorf("%d: remedies %v, want %q", i, f.Remedies, test.remedy)
		}
	}
}

// worst is a machine against which everything is to be said.
var worst = map[string]string{
	"proc/loadavg":         "9 9 9 1/1 1\n",
	"proc/cpuinfo":         "flags\t: hypervisor\n",
	"proc/meminfo":         "SwapTotal: 2048 kB\nSwapFree: 0 kB\n",
	"proc/self/mountinfo":  mountsV1[:strings.Index(mountsV1, "35 31")],
	"run/systemd/system/x": "\n", "usr/sbin/update-grub": "\n",
	"etc/systemd/system/timers.target.wants/apt-daily.timer":            "\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":              "ondemand\n",
	"sys/devices/system/cpu/cpufreq/boost":                              "1\n",
	"sys/devices/system/cpu/smt/control":                                "on\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource":   "hpet\n",
	"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc\n",
}

func TestEveryRemedyIsOneLineThatCanBePasted(t *testing.T) {
	t.Parallel()
	host := tree(t, worst)
	findings := append(host.Findings(), host.findSwitchCounter(unix.EPERM), host.findHardwareCounters(unix.EPERM))
	remedies := 0
	for _, f := range findings {
		if f.Verdict == stopwatt.Fit {
			t.Errorf("%s is fit: %s", f.Subject, f.Says)
		}
		for _, name := range f.Metrics {
			if _, known := stopwatt.MetricNamed(name); !known {
				t.Errorf("%s takes away %s, which is no metric", f.Subject, name)
			}
		}
		if strings.ContainsAny(f.Says, "\n\t") || strings.Contains(f.Says, host.Root) {
			t.Errorf("%s says %q", f.Subject, f.Says)
		}
		for _, remedy := range f.Remedies {
			remedies++
			first, _, _ := strings.Cut(remedy.Line, " ")
			if strings.Contains(remedy.Line, "\n") || !slices.Contains([]string{"sudo", "echo", "ps"}, first) || strings.Contains(remedy.Line, host.Root) || remedy.When == "" {
				t.Errorf("%s: %q, %q", f.Subject, remedy.When, remedy.Line)
			}
		}
	}
	if remedies < 12 {
		t.Errorf("%d remedies for the worst of machines", remedies)
	}
}

func TestAMachineOfWhichNothingCanBeReadIsNotCalledFit(t *testing.T) {
	t.Parallel()
	for _, f := range tree(t, nil).Findings() {
		if f.Says == "" || f.Verdict == stopwatt.Fit && slices.Contains([]string{"other load", "swap", "clock", "memory", "counters", "pressure"}, f.Subject) {
			t.Errorf("%s is %s: %q", f.Subject, f.Verdict, f.Says)
		}
	}
}

func TestProbingOpensWhatAccountsOpen(t *testing.T) {
	t.Parallel()
	if err := tree(t, quietPC).probe(switchEvent); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("switched off: %v", err)
	}
	nowhere := tree(t, with(quietPC, map[string]string{"proc/self/mountinfo": mountsV1}))
	nowhere.NoCounters = false
	if err := nowhere.probe(switchEvent); err == nil || !strings.Contains(err.Error(), "no hierarchy of cgroups") {
		t.Errorf("v1 without perf_event: %v", err)
	}
	// On this machine it is allowed or it is not, and it says so.
	if err := (Host{}).probe(switchEvent); err != nil && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
		t.Errorf("this machine: %v", err)
	}
}
