package meter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

const mountsV1 = `23 27 0:22 / /sys rw,relatime - sysfs sysfs rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
`

const mountUnified = `41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`

const mountV2 = `30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`

// v1 is a machine with cgroup v1 and the cgroupfs driver.
var v1 = map[string]string{
	"proc/self/mountinfo": mountsV1,
	"proc/self/cgroup":    "4:memory:/user.slice\n2:cpu,cpuacct:/user.slice\n",
	"proc/42/cgroup":      "4:memory:/docker/ID\n2:cpu,cpuacct:/docker/ID\n1:name=systemd:/docker/ID\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage":        "301234567\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage_user":   "280000000\n",
	"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage_sys":    "20000000\n",
	"sys/fs/cgroup/memory/docker/ID/memory.usage_in_bytes":     "1048576\n",
	"sys/fs/cgroup/memory/docker/ID/memory.max_usage_in_bytes": "2097152\n",
}

// v2 is a machine with cgroup v2 and the systemd driver.
var v2 = map[string]string{
	"proc/self/mountinfo":                                       mountV2,
	"proc/self/cgroup":                                          "0::/user.slice/user-1000.slice/session-3.scope\n",
	"proc/42/cgroup":                                            "0::/system.slice/docker-ID.scope\n",
	"proc/sys/kernel/osrelease":                                 "5.15.0-1\n",
	"sys/fs/cgroup/cgroup.controllers":                          "cpu io memory pids\n",
	"sys/fs/cgroup/system.slice/docker-ID.scope/cpu.stat":       "usage_usec 301234\nuser_usec 281000\nsystem_usec 20234\ncore_sched.force_idle_usec 0\nnr_periods 0\n",
	"sys/fs/cgroup/system.slice/docker-ID.scope/memory.current": "1048576\n",
	"sys/fs/cgroup/system.slice/docker-ID.scope/memory.peak":    "2097152\n",
}

// usageV1 and usageV2 are what v1 and v2 tell.
var (
	usageV1 = stopwatt.Usage{CPU: 301234567, CPUUser: 280000000, CPUSystem: 20000000, MemoryCurrent: 1 << 20, MemoryPeak: 2 << 20}
	usageV2 = stopwatt.Usage{CPU: 301234000, CPUUser: 281000000, CPUSystem: 20234000, MemoryCurrent: 1 << 20, MemoryPeak: 2 << 20}
)

func TestAccountReadsEveryLayoutOfCgroups(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  stopwatt.Usage
	}{
		{"v1, cgroupfs driver", v1, usageV1},
		{"v2, systemd driver", v2, usageV2},
		{"v2, cgroupfs driver", with(v2, map[string]string{
			"proc/42/cgroup":                          "0::/docker/ID\n",
			"sys/fs/cgroup/docker/ID/cpu.stat":        "user_usec 1\nsystem_usec 2\nusage_usec 3\n",
			"sys/fs/cgroup/docker/ID/memory.current":  "4\n",
			"sys/fs/cgroup/docker/ID/memory.peak":     "5\n",
			"sys/fs/cgroup/docker/ID/memory.pressure": "",
		}), stopwatt.Usage{CPU: 3000, CPUUser: 1000, CPUSystem: 2000, MemoryCurrent: 4, MemoryPeak: 5}},
		{"hybrid: v1 has the controllers, the unified mount has none", with(v1, map[string]string{
			"proc/self/mountinfo":                      mountUnified + mountsV1,
			"proc/42/cgroup":                           "0::/docker/ID\n4:memory:/docker/ID\n2:cpu,cpuacct:/docker/ID\n",
			"sys/fs/cgroup/unified/docker/ID/cpu.stat": "usage_usec 9\nuser_usec 9\nsystem_usec 9\n",
		}), usageV1},
		{"hybrid: the CPU is accounted in the unified mount", with(v1, map[string]string{
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
			if diff := cmp.Diff(test.want, account.Read()); diff != "" {
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
		{"v2 without memory.peak", with(v2, map[string]string{"sys/fs/cgroup/system.slice/docker-ID.scope/memory.peak": ""}),
			map[string]string{"MemoryPeak": "memory.peak needs Linux 5.19; this is 5.15.0-1"}},
		{"v2 with the memory controller off", with(v2, map[string]string{
			"sys/fs/cgroup/system.slice/docker-ID.scope/memory.current": "",
			"sys/fs/cgroup/system.slice/docker-ID.scope/memory.peak":    "",
		}), map[string]string{"MemoryCurrent": off, "MemoryPeak": off}},
		{"v1 with the memory controller off", with(v1, map[string]string{"proc/42/cgroup": "2:cpu,cpuacct:/docker/ID\n"}),
			map[string]string{"MemoryCurrent": off, "MemoryPeak": off}},
		{"hybrid with the memory controller off", with(v1, map[string]string{
			"proc/self/mountinfo":                      mountUnified + mountsV1,
			"proc/42/cgroup":                           "2:cpu,cpuacct:/docker/ID\n0::/docker/ID\n",
			"sys/fs/cgroup/unified/docker/ID/cpu.stat": "usage_usec 9\n",
		}), map[string]string{"MemoryCurrent": off, "MemoryPeak": off}},
		{"v1 of an old kernel", with(v1, map[string]string{"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage_sys": ""}),
			map[string]string{"CPUSystem": "cpuacct.usage_sys needs Linux 4.7"}},
		{"memory in the root cgroup: that of the whole machine", with(v1, map[string]string{"proc/42/cgroup": "4:memory:/\n2:cpu,cpuacct:/docker/ID\n"}),
			map[string]string{"MemoryCurrent": "no container's own", "MemoryPeak": "no container's own"}},
		{"a v1 hierarchy that is mounted nowhere", with(v1, map[string]string{"proc/self/mountinfo": strings.Join(strings.SplitAfter(mountsV1, "\n")[:3], "")}),
			map[string]string{"MemoryCurrent": "no mounted cgroup file system", "MemoryPeak": "no mounted cgroup file system"}},
		{"text where a count should be", with(v1, map[string]string{"sys/fs/cgroup/cpu,cpuacct/docker/ID/cpuacct.usage": "-5\n"}),
			map[string]string{"CPU": `cpuacct.usage: "-5" is no count`}},
		{"a file cut short", with(v2, map[string]string{"sys/fs/cgroup/system.slice/docker-ID.scope/cpu.stat": "usage_usec 12\nuser_usec 1"}),
			map[string]string{"CPUSystem": "cpu.stat: it has no system_usec"}},
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

// checkAbsent checks that these fields are absent for these reasons, no other
// is, and none that is absent has a number.
func checkAbsent(t *testing.T, usage stopwatt.Usage, want map[string]string) {
	t.Helper()
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
			"proc/self/cgroup": "4:memory:/docker/ID\n2:cpu,cpuacct:/docker/ID\n"}), "the container that stopwatt runs in"},
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
	host := tree(t, v1)
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

func TestAClosedAccountHasNoNumbers(t *testing.T) {
	t.Parallel()
	account := openAccount(t, tree(t, v2))
	if err := account.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, name := range stopwatt.UsageFields {
		want[name] = "closed"
	}
	checkAbsent(t, account.Read(), want)
}

func TestAReadingOfAWholeAccountAllocatesNothing(t *testing.T) {
	account := openAccount(t, tree(t, v2))
	if n := testing.AllocsPerRun(100, func() { account.Read() }); n > 0 {
		t.Errorf("%v allocations a reading", n)
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
