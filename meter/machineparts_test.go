package meter

import (
	"maps"
	"strings"
	"testing"
)

// caches are those of a machine with two cores of two threads: a cache of data
// and one of instructions for each core, and one for all.
func cachesOfPC() map[string]string {
	files := map[string]string{}
	for cpu, core := range map[string]string{"cpu0": "0,2", "cpu1": "1,3", "cpu2": "0,2", "cpu3": "1,3"} {
		for index, cache := range map[string][4]string{
			"index0": {"1", "Data", "32K", core}, "index1": {"1", "Instruction", "32K", core}, "index2": {"2", "Unified", "1536K", "0-3"},
		} {
			dir := "sys/devices/system/cpu/" + cpu + "/cache/" + index + "/"
			maps.Copy(files, map[string]string{dir + "level": cache[0] + "\n", dir + "type": cache[1] + "\n", dir + "size": cache[2] + "\n", dir + "shared_cpu_list": cache[3] + "\n"})
		}
	}
	return files
}

func TestCachesAreCountedOnceForThoseThatShareThem(t *testing.T) {
	t.Parallel()
	if got, want := tree(t, cachesOfPC()).caches(), "2 × L1d 32K, 2 × L1i 32K, 1 × L2 1536K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSMT(t *testing.T) {
	t.Parallel()
	const control = "sys/devices/system/cpu/smt/control"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"on", with(pc, map[string]string{control: "on\n"}), "on"},
		{"switched off", with(pc, map[string]string{control: "off\n"}), "off"},
		{"switched off when the kernel started", with(pc, map[string]string{control: "forceoff\n"}), "off"},
		{"a CPU without it", with(pc, map[string]string{control: "notsupported\n"}), "none"},
		{"an arm kernel without the switch, a thread a core", map[string]string{
			control:                         "notimplemented\n",
			"sys/devices/system/cpu/online": "0-3\n",
		}, "none"},
		{"an old kernel, two threads a core", pc, "on"},
		{"an old kernel, a thread a core", with(pc, map[string]string{"sys/devices/system/cpu/online": "0-1\n"}), "none"},
		{"nothing is known of cores", board, ""},
	}
	for _, test := range tests {
		if got := tree(t, test.files).smt(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCgroupVersion(t *testing.T) {
	t.Parallel()
	for mounts, want := range map[string]string{mountV2: "2", mountsV1: "1", mountsV1 + mountUnified: "hybrid", "": "", strings.SplitAfter(mountsV1, "\n")[0]: ""} {
		if got := tree(t, map[string]string{"proc/self/mountinfo": mounts}).cgroupVersion(); got != want {
			t.Errorf("%q: %q, want %q", mounts, got, want)
		}
	}
}

func TestTwoReadingsOfThisMachineFindOneMachine(t *testing.T) {
	t.Parallel()
	if first, second := (Host{}).Machine(), (Host{}).Machine(); first != second {
		t.Errorf("an unfinished run would never be continued:\n%+v\n%+v", first, second)
	}
}
