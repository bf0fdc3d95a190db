package meter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// zone writes one zone of RAPL: its id, its name, its counter in µJ.
func zone(files map[string]string, id, name string, energy int64) {
	dir := "sys/devices/virtual/powercap/" + strings.SplitN(id, ":", 2)[0]
	for i, c := range id + ":" {
		if c == ':' && strings.Contains(id[:i], ":") {
			dir += "/" + id[:i]
		}
	}
	files[dir+"/name"] = name + "\n"
	files[dir+"/energy_uj"] = fmt.Sprintf("%d\n", energy)
	files[dir+"/max_energy_range_uj"] = fmt.Sprintf("%d\n", int64(spanIntel))
}

// zones makes a machine of zones, "intel-rapl:0 package-0 1000" each, with the
// links that /sys/class/powercap has.
func zones(t *testing.T, lines ...string) Host {
	t.Helper()
	files := map[string]string{"proc/cpuinfo": "vendor_id : GenuineIntel\n"}
	var ids []string
	for _, line := range lines {
		var id, name string
		var energy int64
		if _, err := fmt.Sscan(line, &id, &name, &energy); err != nil {
			t.Fatal(err)
		}
		zone(files, id, name, energy)
		ids = append(ids, id)
	}
	host := tree(t, files)
	link(t, host, ids)
	return host
}

// link links zones and their control types into /sys/class/powercap.
func link(t *testing.T, host Host, ids []string) {
	t.Helper()
	class := host.path("sys/class/powercap")
	if err := os.MkdirAll(class, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		parts := strings.Split(id, ":")
		path := "../../devices/virtual/powercap"
		for i := range parts {
			name := strings.Join(parts[:i+1], ":")
			path += "/" + name
			if err := os.Symlink(path, filepath.Join(class, name)); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
		}
	}
}

func TestEachJouleIsCountedOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		zones []string
		// The sums in µJ of each domain, and what it is made of; "" for none.
		cpu, dram, psys string
	}{
		{"a board: the package holds its cores and its graphics",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:0:0 core 400", "intel-rapl:0:1 uncore 300"},
			"1000 package-0", "", ""},
		{"memory that is a zone of its own is added",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:0:0 core 400", "intel-rapl:0:1 dram 70"},
			"1070 package-0, package-0/dram", "70 package-0/dram", ""},
		{"two sockets are summed, each with its memory",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:0:0 dram 70", "intel-rapl:1 package-1 2000", "intel-rapl:1:0 dram 80"},
			"3150 package-0, package-0/dram, package-1, package-1/dram", "150 package-0/dram, package-1/dram", ""},
		{"the number of a zone says nothing of its package",
			[]string{"intel-rapl:0 package-1 2000", "intel-rapl:0:0 dram 80", "intel-rapl:1 package-0 1000"},
			"3080 package-1, package-1/dram, package-0", "80 package-1/dram", ""},
		{"psys between the packages is the platform, and no package",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:1 psys 9000", "intel-rapl:2 package-1 2000"},
			"3000 package-0, package-1", "", "9000 psys"},
		{"psys comes first",
			[]string{"intel-rapl:0 psys 9000", "intel-rapl:1 package-0 1000", "intel-rapl:1:0 core 500"},
			"1000 package-0", "", "9000 psys"},
		{"the same package by MMIO is counted once",
			[]string{"intel-rapl-mmio:0 package-0 1003", "intel-rapl:0 package-0 1000", "intel-rapl:0:0 core 400", "intel-rapl:0:1 dram 70", "intel-rapl-mmio:0:0 dram 71"},
			"1070 package-0, package-0/dram", "70 package-0/dram", ""},
		{"memory by MMIO alone is added",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl-mmio:0 package-0 1003", "intel-rapl-mmio:0:0 dram 70"},
			"1070 package-0, package-0/dram", "70 package-0/dram", ""},
		{"a package by MMIO alone is counted",
			[]string{"intel-rapl-mmio:0 package-0 1003"},
			"1003 package-0", "", ""},
		{"AMD has a package and its cores",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:0:0 core 400"},
			"1000 package-0", "", ""},
		{"AMD dies that show one counter are counted once",
			[]string{"intel-rapl:0 package-0-die-0 1000", "intel-rapl:0:0 core 3", "intel-rapl:1 package-0-die-1 1000", "intel-rapl:1:0 core 4"},
			"1000 package-0-die-0", "", ""},
		{"two AMD sockets of two such dies each",
			[]string{"intel-rapl:0 package-0-die-0 1000", "intel-rapl:1 package-0-die-1 1000", "intel-rapl:2 package-1-die-0 1700", "intel-rapl:3 package-1-die-1 1700"},
			"2700 package-0-die-0, package-1-die-0", "", ""},
		{"two sockets that happen to say the same are two",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:1 package-1 1000"},
			"2000 package-0, package-1", "", ""},
		{"Intel dies that differ are summed, with their memory",
			[]string{"intel-rapl:0 package-0-die-0 1000", "intel-rapl:0:0 dram 70", "intel-rapl:1 package-0-die-1 1800", "intel-rapl:1:0 dram 90"},
			"2960 package-0-die-0, package-0-die-0/dram, package-0-die-1, package-0-die-1/dram", "160 package-0-die-0/dram, package-0-die-1/dram", ""},
		{"the tenth package comes after the second",
			[]string{"intel-rapl:10 package-10 7", "intel-rapl:2 package-2 5", "intel-rapl:1 package-1 3"},
			"15 package-1, package-2, package-10", "", ""},
		{"psys alone is no package",
			[]string{"intel-rapl:0 psys 9000"}, "", "", "9000 psys"},
		{"a zone of a name to come is not counted",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:0:0 npu 5", "intel-rapl:1 package 9"},
			"1000 package-0", "", ""},
		{"two psys that differ are not guessed at",
			[]string{"intel-rapl:0 package-0 1000", "intel-rapl:1 psys 9000", "intel-rapl:2 psys-1 8000"},
			"1000 package-0", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			host := zones(t, test.zones...)
			for domain, want := range map[string]string{
				stopwatt.RAPLPackage: test.cpu, stopwatt.RAPLMemory: test.dram, stopwatt.RAPLPlatform: test.psys,
			} {
				for _, dir := range []string{"", host.path("sys/devices/virtual/powercap")} {
					if got := sumOf(t, host, dir, domain); got != want {
						t.Errorf("%s in %q: %q, want %q", domain, dir, got, want)
					}
				}
			}
		})
	}
}

// sumOf is the sum of a domain and what it is made of; nothing when refused.
func sumOf(t *testing.T, host Host, dir, domain string) string {
	t.Helper()
	opened, err := host.openRAPL(dir, domain)
	if err != nil {
		return ""
	}
	defer opened.close()
	values := make([]int64, len(opened.counters))
	if err := opened.read(values); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for i, value := range values {
		sum += value
		if opened.counters[i].span != spanIntel {
			t.Errorf("counter %d counts to %d", i, opened.counters[i].span)
		}
	}
	return fmt.Sprintf("%d %s", sum, strings.TrimPrefix(opened.source, "rapl "))
}

func TestWhyThereIsNoRAPL(t *testing.T) {
	t.Parallel()
	intel := map[string]string{"proc/cpuinfo": "vendor_id : GenuineIntel\n"}
	tests := []struct {
		name    string
		files   map[string]string
		says    string
		remedy  string // a part of one; empty: there is none
		nothing bool   // nobody need wait for it
		dir     string
	}{
		{"a virtual machine", map[string]string{"proc/cpuinfo": "vendor_id : GenuineIntel\nflags : hypervisor\n"},
			"this is a virtual machine", "", true, ""},
		{"an ARM board", map[string]string{"proc/cpuinfo": "CPU implementer : 0x41\n"}, "not of the x86 family", "", true, ""},
		{"the driver is not loaded", intel, "driver of it is not loaded", "sudo modprobe intel_rapl_msr", true, ""},
		{"another power capping driver alone", with(intel, map[string]string{"sys/class/powercap/dtpm/enabled": "1\n"}),
			"driver of it is not loaded", "sudo modprobe", true, ""},
		{"the driver has no zones", with(intel, map[string]string{"sys/class/powercap/intel-rapl/enabled": "1\n"}),
			"has no counters", "", false, ""},
		{"the named folder is empty", with(intel, map[string]string{"powercap/readme": "x"}),
			"holds no counters of RAPL", `volumes = ["/sys/devices/virtual/powercap:`, false, "powercap"},
		{"a zone without a counter", with(intel, map[string]string{"sys/class/powercap/intel-rapl:0/name": "package-0\n"}),
			"package-0 cannot be read: no such file", "", false, ""},
		{"a counter that is no number", with(intel, map[string]string{
			"sys/class/powercap/intel-rapl:0/name": "package-0\n", "sys/class/powercap/intel-rapl:0/energy_uj": "-\n"}),
			"package-0 cannot be read: energy_uj:", "", false, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			host := tree(t, test.files)
			dir := ""
			if test.dir != "" {
				dir = host.path(test.dir)
			}
			_, err := host.openRAPL(dir, stopwatt.RAPLPackage)
			refuses(t, err, test.says, test.remedy, test.nothing)
		})
	}
}

// refuses checks a refusal.
func refuses(t *testing.T, err error, says, remedy string, nothing bool) {
	t.Helper()
	var refused refusal
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no refusal", err)
	}
	if !strings.Contains(refused.says, says) || refused.nothing != nothing {
		t.Errorf("%q, nothing: %v; want %q, %v", refused.says, refused.nothing, says, nothing)
	}
	lines := ""
	for _, r := range refused.remedies {
		if strings.ContainsAny(r.Line, "\n…") {
			t.Errorf("a remedy that cannot be pasted: %q", r.Line)
		}
		lines += r.Line + "\n"
	}
	if (lines == "") != (remedy == "") || !strings.Contains(lines, remedy) {
		t.Errorf("remedies %q, want %q", lines, remedy)
	}
}

func TestDanglingLinksAreDockersMask(t *testing.T) {
	t.Parallel()
	host := tree(t, map[string]string{"proc/cpuinfo": "vendor_id : GenuineIntel\nflags : hypervisor\n"})
	link(t, host, []string{"intel-rapl:0", "intel-rapl:0:0"})
	_, err := host.openRAPL("", stopwatt.RAPLPackage)
	refuses(t, err, "RAPL is masked by Docker in this container", "sysfs-powercap: /powercap", false)
}

// asNobody does something on behalf of a user who is not root. It skips for one
// who is neither.
func asNobody(t *testing.T, host Host, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	for dir := host.Root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	defer unix.SetfsuidRetUid(0)
	do()
}

func TestRAPLThatOnlyRootMayReadSaysHowToOpenIt(t *testing.T) {
	t.Parallel()
	host := zones(t, "intel-rapl:0 package-0 1000", "intel-rapl:1 package-1 1000")
	if err := os.Chmod(host.path("sys/devices/virtual/powercap/intel-rapl/intel-rapl:1/energy_uj"), 0o400); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(host.path("sys/devices/virtual/powercap/intel-rapl/intel-rapl:1/energy_uj"), 0); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, host, func() {
		_, err := host.openRAPL("", stopwatt.RAPLPackage)
		refuses(t, err, "RAPL is here (package-1) but only root may read it", "sudo chmod a+r /sys/class/powercap/intel-rapl*:*/energy_uj", false)
	})
}

func TestMirrorsMoveTogether(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		second int64
		want   bool
	}{
		{"the same value", 1000, true},
		{"another value", 1001, false},
		{"far away", 5_000_000, false},
	}
	for _, test := range tests {
		host := zones(t, "intel-rapl:0 package-0-die-0 1000", fmt.Sprintf("intel-rapl:1 package-0-die-1 %d", test.second))
		found := powercap(host.path("sys/class/powercap")).zones
		if got := mirrors(found[0], found[1]); got != test.want {
			t.Errorf("%s: mirrors is %v", test.name, got)
		}
	}
}
