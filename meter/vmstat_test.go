package meter

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// vm is a machine with four CPUs at one moment.
var vm = map[string]string{
	"proc/stat": "cpu  1000 200 300 4000 50 6 7 8 900 0\ncpu0 1 1 1 1\nintr 5000 1 2 3\nctxt 70000\nbtime 1\nprocesses 9\nprocs_running 3\nprocs_blocked 1\n",
	"proc/meminfo": "MemTotal:       16384 kB\nMemFree:         1000 kB\nMemAvailable:    9999 kB\nBuffers:           20 kB\nCached:           300 kB\n" +
		"SwapCached:         0 kB\nSwapTotal:        500 kB\nSwapFree:         499 kB\nSlab: 9 kB\nSReclaimable:       4 kB\nHugePages_Total:       0\n",
	"proc/vmstat": "nr_free_pages 1\npgpgin 100\npgpgout 200\npswpin 10\npswpout 20\n",
}

// vmLater is the same machine after 1,000 ticks of its CPUs together.
var vmLater = with(vm, map[string]string{
	"proc/stat":   "cpu  1100 300 450 4500 150 16 17 38 900 0\ncpu0 1 1 1 1\nintr 6000 1 2 3\nctxt 72000\nprocs_running 1\nprocs_blocked 0\n",
	"proc/vmstat": "pgpgin 200\npgpgout 400\npswpin 11\npswpout 22\n",
})

// countsOf reads a machine of files once.
func countsOf(t *testing.T, files map[string]string, at int64) vmCounts {
	t.Helper()
	v, err := tree(t, files).Vmstat()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	v.before.at = at
	return v.before
}

func TestEveryColumnOfVmstat(t *testing.T) {
	t.Parallel()
	before, after := countsOf(t, vm, 0), countsOf(t, vmLater, 2_000_000_000)
	row, err := after.since(before, 4096)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for i, name := range VmstatColumns {
		got[name] = row[i]
	}
	want := map[string]float64{
		"r": 0, "b": 0, "swpd": 1024, "free": 1024000, "buff": 20480, "cache": 304 * 1024,
		"si": 2048, "so": 4096, "bi": 51200, "bo": 102400, "in": 500, "cs": 1000,
		"us": 0.2, "sy": 0.17, "id": 0.5, "wa": 0.1, "st": 0.03,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if before.running != 3 || before.blocked != 1 {
		t.Errorf("%d run and %d wait", before.running, before.blocked)
	}
}

func TestATimeWithoutATickHasNoRow(t *testing.T) {
	t.Parallel()
	v, err := tree(t, vm).Vmstat()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, row, err := v.Read(); err == nil || !strings.Contains(err.Error(), "has not ticked") {
		t.Errorf("%v, %v", row, err)
	}
}

func TestATimeInWhichACountOfTheCPUsWentBackHasNoRow(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"waiting for I/O turned out to be idleness": "cpu  1100 300 450 4500 40 16 17 38\n",
		"steal went back": "cpu  1100 300 450 4500 150 16 17 2\n",
	} {
		host := tree(t, vm)
		v, err := host.Vmstat()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		put(t, host, "proc/stat", line)
		if _, row, err := v.Read(); !errors.Is(err, errWentBack) {
			t.Errorf("%s: %v, %v", name, row, err)
		}
		put(t, host, "proc/stat", "cpu  2000 400 550 5500 250 26 27 48\n")
		if _, row, err := v.Read(); err != nil {
			t.Errorf("%s: and then %v, %v", name, row, err)
		}
	}
}

func TestVmstatSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, text, says string }{
		{"no /proc/stat", "proc/stat", "", "proc/stat"},
		{"no /proc/vmstat", "proc/vmstat", "", "proc/vmstat"},
		{"text where a count should be", "proc/stat", "cpu  1 2 3 x\n", `cpu: "x" is no count`},
		{"CPUs without times", "proc/stat", "cpu  0 0 0 0\n", "tells no time"},
		{"memory without a number", "proc/meminfo", "MemFree: kB\n", "MemFree:"},
	}
	for _, test := range tests {
		v, err := tree(t, with(vm, map[string]string{test.file: test.text})).Vmstat()
		if err == nil {
			v.Close()
			t.Errorf("%s: it was opened", test.name)
		} else if !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q does not say %q", test.name, err, test.says)
		}
	}
}

func TestAFileThatIsLongerThanItsBufferIsReadWhole(t *testing.T) {
	t.Parallel()
	long := strings.Replace(vm["proc/stat"], "intr 5000", "intr 5000"+strings.Repeat(" 0", 50_000), 1)
	if counts := countsOf(t, with(vm, map[string]string{"proc/stat": long}), 0); counts.switches != 70000 || counts.running != 3 {
		t.Errorf("behind the long line: %+v", counts)
	}
}

func TestVmstatOfThisMachine(t *testing.T) {
	t.Parallel()
	v, err := Host{}.Vmstat()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	_, row, err := v.Read()
	for err != nil { // until the clock has ticked
		if !strings.Contains(err.Error(), "has not ticked") {
			t.Fatal(err)
		}
		_, row, err = v.Read()
	}
	shares := 0.0
	for _, share := range row[len(row)-5:] {
		shares += share
	}
	if math.Abs(shares-1) > 1e-9 {
		t.Errorf("the shares of %v add up to %v", fmt.Sprint(row), shares)
	}
}

func FuzzVmstatFiles(f *testing.F) {
	f.Add([]byte(vm["proc/stat"]))
	f.Add([]byte(vm["proc/meminfo"]))
	f.Fuzz(func(t *testing.T, text []byte) {
		var counts vmCounts
		for line := range strings.Lines(string(text)) {
			name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			_ = counts.stat([]byte(name), []byte(rest))
			_ = counts.meminfo([]byte(name), []byte(rest))
			_ = counts.vmstat([]byte(name), []byte(rest))
		}
		if counts.cpu.User < 0 || counts.switches < 0 || counts.free < 0 {
			t.Errorf("%q: %+v", text, counts)
		}
	})
}

func BenchmarkVmstat(b *testing.B) {
	v, err := Host{}.Vmstat()
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := v.count(&v.before); err != nil {
			b.Fatal(err)
		}
	}
}
