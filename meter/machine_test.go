package meter

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

// pc is a machine with two cores of two threads.
var pc = map[string]string{
	"proc/sys/kernel/hostname":  "bench-1\n",
	"proc/sys/kernel/osrelease": "6.1.0-28-amd64\n",
	"proc/cmdline":              "BOOT_IMAGE=/vmlinuz root=/dev/sda1 mitigations=off\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":                    "0\n",
	"proc/self/mountinfo": mountV2,
	"proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R)  Celeron(R) N5105 @ 2.00GHz\nmicrocode\t: 0x24000026\ncpu MHz\t\t: 1996.800\nflags\t\t: fpu vme\nbogomips\t: 3993.60\n\n" +
		"processor\t: 1\nmodel name\t: Intel(R)  Celeron(R) N5105 @ 2.00GHz\nmicrocode\t: 0x24000026\n",
	"proc/meminfo":                                                       "MemTotal:       15983452 kB\nMemFree:         1234 kB\n",
	"etc/machine-id":                                                     "0123456789abcdef0123456789abcdef\n",
	"sys/class/dmi/id/product_uuid":                                      "00000000-0000-0000-0000-000000000001\n",
	"sys/class/dmi/id/sys_vendor":                                        "HARDKERNEL\n",
	"sys/class/dmi/id/product_name":                                      "ODROID-H3\n",
	"sys/devices/system/cpu/online":                                      "0-3\n",
	"sys/devices/system/cpu/possible":                                    "0-7\n",
	"sys/devices/system/cpu/cpu0/topology/thread_siblings_list":          "0,2\n",
	"sys/devices/system/cpu/cpu1/topology/thread_siblings_list":          "1,3\n",
	"sys/devices/system/cpu/cpu2/topology/thread_siblings_list":          "0,2\n",
	"sys/devices/system/cpu/cpu3/topology/thread_siblings_list":          "1,3\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_governor":            "performance\n",
	"sys/devices/system/cpu/cpufreq/policy1/scaling_governor":            "performance\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors": "performance powersave\n",
}

// board is a Raspberry Pi, which has neither DMI nor a model name for its CPU.
var board = map[string]string{
	"proc/sys/kernel/hostname":       "pi\n",
	"proc/cpuinfo":                   "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nHardware\t: BCM2835\nSerial\t\t: 10000000abcdef01\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n",
	"proc/device-tree/model":         "Raspberry Pi 4 Model B Rev 1.4\x00",
	"proc/device-tree/compatible":    "raspberrypi,4-model-b\x00brcm,bcm2711\x00",
	"proc/device-tree/serial-number": "10000000abcdef01\x00",
	"proc/meminfo":                   "MemTotal:        3882308 kB\n",
	"etc/machine-id":                 "0123456789abcdef0123456789abcdef\n",
	"sys/devices/system/cpu/online":  "0-3\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "ondemand\n",
	"sys/devices/system/cpu/cpufreq/policy4/scaling_governor": "performance\n",
}

func TestMachine(t *testing.T) {
	t.Parallel()
	pcID, boardID := tree(t, pc).identity(), tree(t, board).identity()
	tests := []struct {
		name  string
		files map[string]string
		want  stopwatt.Machine
	}{
		{"a PC", pc, stopwatt.Machine{
			Name: "bench-1",
			Identity: stopwatt.MachineIdentity{ID: pcID, CPUModel: "Intel(R) Celeron(R) N5105 @ 2.00GHz",
				Cores: 2, Threads: 4, SMT: "on", Turbo: "on", MemoryBytes: 16 << 30,
				CPUInfo: "processor\t: 0\nmodel name\t: Intel(R)  Celeron(R) N5105 @ 2.00GHz\nmicrocode\t: 0x24000026\nflags\t\t: fpu vme\n\n" +
					"processor\t: 1\nmodel name\t: Intel(R)  Celeron(R) N5105 @ 2.00GHz\nmicrocode\t: 0x24000026\n"},
			Epoch: stopwatt.MachineEpoch{Kernel: "6.1.0-28-amd64", CommandLine: "BOOT_IMAGE=/vmlinuz root=/dev/sda1 mitigations=off",
				Microcode: "0x24000026", Governor: "performance", ClockSource: "tsc", CgroupVersion: "2"},
		}},
		{"a board whose cores have two governors", board, stopwatt.Machine{
			Name: "pi",
			Identity: stopwatt.MachineIdentity{ID: boardID, CPUModel: "Raspberry Pi 4 Model B Rev 1.4",
				Threads: 4, MemoryBytes: 3840 << 20,
				CPUInfo: "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n"},
			Epoch: stopwatt.MachineEpoch{Governor: "ondemand, performance"},
		}},
		{"a machine of which nothing can be read", nil, stopwatt.Machine{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, tree(t, test.files).Machine()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	identity := func(files map[string]string) string { return tree(t, files).identity() }
	if got := identity(pc); len(got) != 32 || got == "0123456789abcdef0123456789abcdef" {
		t.Errorf("%q is no hash", got)
	}
	if identity(pc) == identity(board) {
		t.Error("a board with a serial number is taken for the PC whose system it was given a copy of")
	}
	if identity(board) != identity(with(board, map[string]string{"etc/machine-id": "another\n"})) {
		t.Error("a new system made another board")
	}
	for name, files := range map[string]map[string]string{
		"a serial number of zeros":     with(pc, map[string]string{"proc/device-tree/serial-number": "0000000000000000\x00"}),
		"a kernel that was exchanged":  with(pc, map[string]string{"proc/sys/kernel/osrelease": "7.0.0\n"}),
		"a serial number of the board": with(pc, map[string]string{"sys/class/dmi/id/product_serial": "A1\n"}),
	} {
		if identity(files) != identity(pc) {
			t.Errorf("%s makes another machine", name)
		}
	}
	unset := with(pc, map[string]string{"etc/machine-id": "uninitialized\n"})
	if identity(unset) == identity(pc) || identity(unset) == "" {
		t.Error("an uninitialized machine id is taken for one")
	}
	if got := identity(nil); got != "" {
		t.Errorf("a machine without any number is called %q", got)
	}
}

func TestVirtual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"a PC", pc, false},
		{"a board", board, false},
		{"the CPU says hypervisor", with(pc, map[string]string{"proc/cpuinfo": "flags\t: fpu hypervisor lahf_lm\n"}), true},
		{"a CPU whose bugs are named after hypervisors", with(pc, map[string]string{"proc/cpuinfo": "flags\t: fpu\nbugs\t: hypervisor\n"}), false},
		{"QEMU's firmware", with(pc, map[string]string{"sys/class/dmi/id/sys_vendor": "QEMU\n"}), true},
		{"Hyper-V's firmware", with(pc, map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n", "sys/class/dmi/id/product_name": "Virtual Machine\n"}), true},
		{"a Surface, of the same maker", with(pc, map[string]string{"sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n"}), false},
		{"a cloud's machine", with(pc, map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "m7g.large\n"}), true},
		{"a cloud's bare metal", with(pc, map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "m7g.metal\n"}), false},
		{"Xen", with(pc, map[string]string{"sys/hypervisor/type": "xen\n"}), true},
		{"KVM's device tree", with(board, map[string]string{"proc/device-tree/compatible": "linux,dummy-virt\x00"}), true},
	}
	for _, test := range tests {
		host := tree(t, test.files)
		if got := host.virtual(host.cpuInfo()); got != test.want {
			t.Errorf("%s: virtual is %v, want %v", test.name, got, test.want)
		}
	}
}

func TestCPUModel(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, cpuinfo, want string }{
		{"x86", "model name\t: AMD Ryzen 7 3700U\n", "AMD Ryzen 7 3700U"},
		{"a board without a device tree", "processor\t: 0\nModel\t: Banana Pi\n", "Banana Pi"},
		{"an arm server", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "implementer 0x41 part 0xd0c"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		host := tree(t, map[string]string{"proc/cpuinfo": test.cpuinfo})
		if got := host.cpuModel(host.cpuInfo()); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMemoryStaysWhenAKernelKeepsMoreForItself(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		kibibytes     int64
		wantMebibytes int64
	}{
		{"16 GiB, half a GiB of it for graphics", 15983452, 16384},
		{"the same with a kernel that keeps 100 MiB more", 15881052, 16384},
		{"24 GiB", 24684084, 24576},
		{"8 GiB", 7952708, 8192},
		{"a board of 1 GiB, 76 MiB of it for graphics", 945512, 960},
		{"exactly 4 GiB", 4 << 20, 4096},
	}
	for _, test := range tests {
		if got := installed(test.kibibytes<<10) >> 20; got != test.wantMebibytes {
			t.Errorf("%s: %d MiB, want %d", test.name, got, test.wantMebibytes)
		}
	}
}

func TestParseRanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		list string
		want int
		ok   bool
	}{
		{"0", 1, true},
		{"0-3", 4, true},
		{"0-3,7,9-10", 7, true},
		{"", 0, false},
		{"3-0", 0, false},
		{"0-", 0, false},
		{"a", 0, false},
		{"0-3,", 0, false},
		{"-1", 0, false},
		{"0-99999999999", 0, false},
	}
	for _, test := range tests {
		got, err := parseRanges(test.list)
		if len(got) != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %d, %v; want %d, good: %v", test.list, got, err, test.want, test.ok)
		}
	}
}

func TestParseMemTotal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want int64
		ok   bool
	}{
		{"MemTotal:       15983452 kB\n", 15983452, true},
		{"MemFree: 1 kB\nMemTotal: 2 kB\n", 2, true},
		{"MemTotal: 2 MB\n", 0, false},
		{"MemTotal: many kB\n", 0, false},
		{"MemTotal: 9223372036854775807 kB\n", 0, false},
		{"MemTotal:\n", 0, false},
		{"", 0, false},
	}
	for _, test := range tests {
		got, err := parseMemTotal([]byte(test.text))
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %d, %v; want %d, good: %v", test.text, got, err, test.want, test.ok)
		}
	}
}

func FuzzMachineFiles(f *testing.F) {
	f.Add([]byte(pc["proc/cpuinfo"]))
	f.Add([]byte(pc["proc/meminfo"]))
	f.Add([]byte("0-3,7"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parseCPUInfo(text)
		if kibibytes, err := parseMemTotal(text); err == nil && installed(kibibytes*1024) < kibibytes*1024 {
			t.Errorf("%q: %d KiB became less", text, kibibytes)
		}
		if cpus, err := parseRanges(string(text)); (err == nil) != (len(cpus) > 0) {
			t.Errorf("%q: %d processors, %v", text, len(cpus), err)
		}
	})
}

func TestMonotonicIsTheTimeSinceTheKernelStarted(t *testing.T) {
	t.Parallel()
	host := Host{}
	before := host.Monotonic()
	after := host.Monotonic()
	if before <= 0 || after < before {
		t.Errorf("it went from %d to %d", before, after)
	}
	// The uptime goes on during suspend, and it is cut to hundredths.
	var uptime float64
	if _, err := fmt.Sscan(host.text("proc/uptime"), &uptime); err != nil {
		t.Fatal(err)
	}
	if float64(after)/1e9 > uptime+0.011 {
		t.Errorf("it is at %d ns, but the kernel was started %.2f s ago", after, uptime)
	}
}
