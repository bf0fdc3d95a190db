package meter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

// instead is a line of the process's cgroups instead of another.
func instead(files map[string]string, line, other string) map[string]string {
	return with(files, map[string]string{"proc/42/cgroup": strings.Replace(files["proc/42/cgroup"], line, other, 1)})
}

func TestAccountReadsEverythingThatAContainerCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		files  map[string]string
		want   stopwatt.Usage
		absent map[string]string
	}{
		{"v1, cgroupfs driver", v1, usageV1, noPressure},
		{"hybrid, cgroupfs driver: the split of the CPU time is that of the unified hierarchy", hybrid, usageHybrid, nil},
		{"v2, systemd driver: what lies on a disk is counted there alone", v2, usageV2, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := openAccount(t, tree(t, test.files)).Read()
			checkAbsent(t, got, test.absent)
			got.Absent = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// cpuAndMemory is the part of a usage that every layout of cgroups has.
func cpuAndMemory(u stopwatt.Usage) stopwatt.Usage {
	return stopwatt.Usage{CPU: u.CPU, CPUUser: u.CPUUser, CPUSystem: u.CPUSystem, MemoryCurrent: u.MemoryCurrent, MemoryPeak: u.MemoryPeak}
}

func TestAccountReadsEveryLayoutOfCgroups(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  stopwatt.Usage
	}{
		{"v2, cgroupfs driver", with(v2, map[string]string{
			"proc/42/cgroup":                          "0::/docker/ID\n",
			"sys/fs/cgroup/docker/ID/cpu.stat":        "user_usec 1\nsystem_usec 2\nusage_usec 3\n",
			"sys/fs/cgroup/docker/ID/memory.current":  "4\n",
			"sys/fs/cgroup/docker/ID/memory.peak":     "5\n",
			"sys/fs/cgroup/docker/ID/memory.pressure": "",
		}), stopwatt.Usage{CPU: 3000, CPUUser: 1000, CPUSystem: 2000, MemoryCurrent: 4, MemoryPeak: 5}},
		{"hybrid, and the container is in the unified hierarchy's root: the split is that of v1", with(hybrid, map[string]string{
			"proc/42/cgroup": v1["proc/42/cgroup"] + "0::/\n",
		}), usageV1},
		{"hybrid, and the unified hierarchy of an old kernel has no cpu.stat", with(hybrid, map[string]string{
			"sys/fs/cgroup/unified/docker/ID/cpu.stat": "",
		}), usageV1},
		{"hybrid: the CPU is accounted in the unified mount", with(hybrid, map[string]string{
			"proc/self/mountinfo":                      mountsV1 + mountUnified,
			"proc/42/cgroup":                           "4:memory:/docker/ID\n0::/docker/ID\n",
			"sys/fs/cgroup/unified/docker/ID/cpu.stat": "usage_usec 9\nuser_usec 8\nsystem_usec 1\n",
		}), stopwatt.Usage{CPU: 9000, CPUUser: 8000, CPUSystem: 1000, MemoryCurrent: 1 << 20, MemoryPeak: 2 << 20}},
		{"a container that runs systemd: the whole container counts, not its first process's cgroup", with(v2, map[string]string{
			"proc/42/cgroup": "0::/system.slice/docker-ID.scope/init.scope\n",
			"sys/fs/cgroup/system.slice/docker-ID.scope/init.scope/cpu.stat": "usage_usec 1\nuser_usec 1\nsystem_usec 0\n",
		}), usageV2},
		{"a container within the container of its engine", with(v2, map[string]string{
			"proc/42/cgroup": "0::/docker/OTHER/docker/ID\n",
			"sys/fs/cgroup/docker/OTHER/docker/ID/cpu.stat":       "usage_usec 7\nuser_usec 7\nsystem_usec 0\n",
			"sys/fs/cgroup/docker/OTHER/docker/ID/memory.current": "4\n",
			"sys/fs/cgroup/docker/OTHER/docker/ID/memory.peak":    "5\n",
		}), stopwatt.Usage{CPU: 7000, CPUUser: 7000, CPUSystem: 0, MemoryCurrent: 4, MemoryPeak: 5}},
		{"a mount that shows a part of the hierarchy, at a path with a space", with(v2, map[string]string{
			"proc/self/mountinfo":                      `30 23 0:26 /system.slice /my\040groups rw - cgroup2 none rw` + "\n",
			"my groups/docker-ID.scope/cpu.stat":       "usage_usec 3\nuser_usec 1\nsystem_usec 2\n",
			"my groups/docker-ID.scope/memory.current": "4\n",
			"my groups/docker-ID.scope/memory.peak":    "5\n",
		}), stopwatt.Usage{CPU: 3000, CPUUser: 1000, CPUSystem: 2000, MemoryCurrent: 4, MemoryPeak: 5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			account := openAccount(t, tree(t, test.files))
			if diff := cmp.Diff(cpuAndMemory(test.want), cpuAndMemory(account.Read())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// openAccount opens the account of process 42.
func openAccount(t *testing.T, host Host) *Account {
	t.Helper()
	account, err := host.Account(42)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { account.Close() })
	return account
}

func TestWhatCannotBeReadIsAbsentWithItsRemedy(t *testing.T) {
	t.Parallel()
	const off = "add cgroup_enable=memory to the kernel command line"
	tests := []struct {
		name  string
		files map[string]string
		want  map[string]string // field to a part of its reason
	}{
		{"v2 without memory.peak", with(v2, map[string]string{scope + "memory.peak": ""}),
			map[string]string{"MemoryPeak": "memory.peak needs Linux 5.19; this is 5.15.0-1"}},
		{"v2 with the memory controller off", with(v2, map[string]string{
			scope + "cgroup.controllers": "cpu io pids\n",
			scope + "memory.current":     "",
			scope + "memory.peak":        "",
		}), map[string]string{"MemoryCurrent": off, "MemoryPeak": off}},
		{"v2 with the controllers of I/O and of the CPU's quota off", with(v2, map[string]string{
			scope + "cgroup.controllers": "memory pids\n",
			scope + "cpu.stat":           "usage_usec 301234\nuser_usec 281000\nsystem_usec 20234\n",
			scope + "io.stat":            "",
		}), map[string]string{"IORead": "io controller", "IOWritten": "io controller", "Throttled": "cpu controller is not enabled"}},
		{"v1 with the memory controller off", instead(hybrid, "4:memory:/docker/ID\n", ""), map[string]string{"MemoryCurrent": off, "MemoryPeak": off}},
		{"v1 without the controller of the number of processes", instead(with(hybrid, map[string]string{"proc/42/cgroup": v1["proc/42/cgroup"]}), "6:pids:/docker/ID\n", ""),
			with(noPressure, map[string]string{"PidsCurrent": "pids controller", "PidsPeak": "pids controller"})},
		{"v1 of an old kernel", with(v1, map[string]string{"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage_sys": ""}),
			with(noPressure, map[string]string{"CPUSystem": "cpuacct.usage_sys needs Linux 4.7"})},
		{"memory in the root cgroup: that of the whole machine", instead(hybrid, "4:memory:/docker/ID", "4:memory:/"),
			map[string]string{"MemoryCurrent": "no container's own", "MemoryPeak": "no container's own"}},
		{"a v1 hierarchy that is mounted nowhere", with(hybrid, map[string]string{"proc/self/mountinfo": strings.Replace(hybrid["proc/self/mountinfo"], "memory", "misc", 2)}),
			map[string]string{"MemoryCurrent": "no mounted cgroup file system", "MemoryPeak": "no mounted cgroup file system"}},
		{"pressure is switched off", with(hybrid, map[string]string{
			"sys/fs/cgroup/unified/docker/ID/cpu.pressure":    "",
			"sys/fs/cgroup/unified/docker/ID/memory.pressure": "",
			"sys/fs/cgroup/unified/docker/ID/io.pressure":     "",
		}), map[string]string{"PressureCPU": "psi=1", "PressureMemory": "psi=1", "PressureIO": "psi=1"}},
		{"text where a count should be", with(hybrid, map[string]string{"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage": "-5\n"}),
			map[string]string{"CPU": `cpuacct.usage: "-5" is no count`}},
		{"a file cut short", with(v2, map[string]string{scope + "cpu.stat": "nr_throttled 0\nusage_usec 12\nuser_usec 1"}),
			map[string]string{"CPUSystem": "cpu.stat: it has no system_usec"}},
		{"threads of another PID namespace", with(v2, map[string]string{scope + "cgroup.threads": "0\n0\n"}),
			map[string]string{"SwitchesVoluntary": "--pid=host", "SwitchesInvoluntary": "--pid=host", "ThreadCPU": "--pid=host", "ThreadsEnded": "--pid=host"}},
		{"a kernel that does not tell how long a thread ran", with(v2, map[string]string{"proc/43/schedstat": ""}),
			map[string]string{"ThreadCPU": "/proc/43/schedstat"}},
		{"a thread's status without context switches", with(v2, map[string]string{"proc/43/status": "Name:\tserver\n"}),
			map[string]string{"SwitchesVoluntary": "tells no context switches", "SwitchesInvoluntary": "tells no context switches"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			account := openAccount(t, tree(t, test.files))
			checkAbsent(t, account.Read(), test.want)
			checkAbsent(t, account.Read(), test.want)
		})
	}
}

// checkAbsent checks that these fields are absent for these reasons, beside
// those that no tree of files counts, and that no other is.
func checkAbsent(t *testing.T, usage stopwatt.Usage, want map[string]string) {
	t.Helper()
	want = with(noEvents, want)
	for _, name := range stopwatt.UsageFields {
		value, reason := usage.Field(name)
		if want[name] == "" && reason != "" {
			t.Errorf("%s is absent: %s", name, reason)
		}
		if want[name] != "" && !strings.Contains(reason, want[name]) {
			t.Errorf("%s: %d, reason %q; want %q", name, value, reason, want[name])
		}
	}
}

func TestAccountSaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		says  string
	}{
		{"no such process", with(v1, map[string]string{"proc/42/cgroup": ""}), "there is no process 42 here"},
		{"a namespace in which it is the root", with(v2, map[string]string{"proc/42/cgroup": "0::/\n"}), "is /, which is no container's own"},
		{"a namespace that it lies outside of", with(v2, map[string]string{"proc/42/cgroup": "0::/../docker-ID.scope\n"}), "--cgroupns=host"},
		{"a rootless engine without cgroups of its own", with(v2, map[string]string{"proc/42/cgroup": "0::/user.slice/docker.service\n"}), "no container's own"},
		{"a process of stopwatt's own container", with(v1, map[string]string{
			"proc/self/cgroup": v1["proc/42/cgroup"]}), "the container that stopwatt runs in"},
		{"a cgroup that was removed", with(v2, map[string]string{"proc/42/cgroup": "0::/docker/ID (deleted)\n"}), "process 42 has ended"},
		{"a cgroup that is not there", with(v2, map[string]string{"proc/42/cgroup": "0::/docker/ID\n"}), "is not to be seen at"},
		{"a line that is none", with(v2, map[string]string{"proc/42/cgroup": "garbage\n"}), `/proc/42/cgroup: "garbage\n" names no cgroup`},
		{"no mounts to be read", with(v2, map[string]string{"proc/self/mountinfo": ""}), "mountinfo"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			account, err := tree(t, test.files).Account(42)
			if err == nil {
				t.Fatalf("it was opened: %+v", account.Read())
			}
			if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "%!") {
				t.Errorf("%q does not say %q", err, test.says)
			}
			if strings.Count(err.Error(), test.says) > 1 {
				t.Errorf("%q says it twice", err)
			}
		})
	}
}

func TestACounterThatGoesBackIsNeverBelievedAgain(t *testing.T) {
	t.Parallel()
	host := tree(t, hybrid)
	account := openAccount(t, host)
	usage := fmt.Sprintf("sys/fs/cgroup/cpu,cpuacct/docker/%s/cpuacct.usage", id)
	memory := fmt.Sprintf("sys/fs/cgroup/memory/docker/%s/memory.usage_in_bytes", id)
	account.Read()
	put(t, host, usage, "400000000\n")
	put(t, host, memory, "5\n")
	got := account.Read()
	if got.CPU != 400000000 || got.MemoryCurrent != 5 {
		t.Errorf("after a rise of CPU and a fall of memory: %+v", got)
	}
	put(t, host, usage, "17\n")
	checkAbsent(t, account.Read(), map[string]string{"CPU": "it went back from 400000000 to 17"})
	put(t, host, usage, "900000000\n")
	checkAbsent(t, account.Read(), map[string]string{"CPU": "it went back from 400000000 to 17"})
}

func TestThreadsThatEndAreCounted(t *testing.T) {
	t.Parallel()
	host := tree(t, v2)
	account := openAccount(t, host)
	list := strings.Replace(scope, "ID", id, 1) + "cgroup.threads"
	before := account.Read()
	put(t, host, list, "42\n44\n")
	put(t, host, "proc/44/status", twoThreads["proc/42/status"])
	put(t, host, "proc/44/schedstat", "1 1 1\n")
	after := account.Read()
	if after.ThreadsEnded != 1 || after.SwitchesVoluntary != 20 {
		t.Errorf("43 ended and 44 began: %+v", after)
	}
	if _, reason := after.Since(before, "SwitchesVoluntary"); !strings.Contains(reason, "threads ended meanwhile (1)") {
		t.Errorf("the reason is %q", reason)
	}
	put(t, host, "proc/44/status", "voluntary_ctxt_switches:\t15\nnonvoluntary_ctxt_switches:\t1\n")
	if rise, reason := account.Read().Since(after, "SwitchesVoluntary"); rise != 5 || reason != "" {
		t.Errorf("what came before stands against the next window: %d, %q", rise, reason)
	}
}

func TestThreadsOfCgroupsThatAContainerMadeAreItsOwn(t *testing.T) {
	t.Parallel()
	usage := openAccount(t, tree(t, with(v2, map[string]string{
		scope + "cgroup.threads":            "42\n",
		scope + "init.scope/cgroup.threads": "43\n",
	}))).Read()
	if usage.SwitchesVoluntary != 30 || usage.ThreadCPU != 300000000 {
		t.Errorf("%+v", usage)
	}
}

func TestAClosedAccountHasNoNumbers(t *testing.T) {
	t.Parallel()
	account := openAccount(t, tree(t, v2))
	if err := account.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, name := range stopwatt.UsageFields {
		if noEvents[name] == "" {
			want[name] = "closed"
		}
	}
	checkAbsent(t, account.Read(), want)
	if n, err := account.Number("CPU"); err == nil {
		t.Errorf("its CPU time is %d", n)
	}
}

func TestOneNumberCostsNoAllocation(t *testing.T) {
	account := openAccount(t, tree(t, v2))
	for field, want := range map[string]int64{"CPU": 301234000, "MemoryCurrent": 1 << 20, "PressureIO": 13000, "IORead": 4097} {
		var got int64
		var err error
		if n := testing.AllocsPerRun(100, func() { got, err = account.Number(field) }); n > 0 || err != nil || got != want {
			t.Errorf("%s is %d, %v, with %v allocations; want %d with none", field, got, err, n, want)
		}
	}
	for field, says := range map[string]string{"Instructions": "switched off", "SwitchesVoluntary": "in no file of a cgroup", "Joules": "in no file of a cgroup"} {
		if n, err := account.Number(field); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s is %d, %v; want %q", field, n, err, says)
		}
	}
}

func TestHeldFilesAreClosed(t *testing.T) {
	account := openAccount(t, tree(t, v1))
	open := account.held[0].open
	account.Close()
	if _, err := open.Stat(); err == nil {
		t.Error("a file is open after Close")
	}
}
