package jobs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

const commands = `
suite: commands
implementations:
  native: {image: a}
  vm: {image: b, exec: [/vm, --jit], with: {fib: {run: ["/fib.wasm", "{n}"], prepare: [/warm]}, bench: {results: /tmp/vm.json}}}
workloads:
  fib:
    params: {n: [20, 25], mode: [fast]}
    command:
      run: [/fib, "{n}", "{mode}", "{other}"]
      prepare: {shell: "sync && true"}
      cleanup: [/clean]
      stdin: points.csv
      ok-exit: [0, 3]
      timeout: 5s
      warmup: 2
      repeat: {min: 3, max: 30, for: 1s}
      output: {file: points.csv}
      subtract-empty: true
  small: {command: {run: [/a], repeat: 7, output: null}}
  piped: {command: {run: [/a], output: pipe}}
  bench:
    harness: {run: [/bench], format: jmh, results: /tmp/r.json, names: {strip: "^n?"}}
  number:
    harness: {run: [/n], format: number, unit: s, metric: time, better: less}
plan:
  profiles:
    short: {repeat: 2, params: {n: [5]}}
`

func TestACommandSuiteIsRead(t *testing.T) {
	t.Parallel()
	fib := func(n string) stopwatt.Workload {
		return stopwatt.Workload{
			Name:   "fib/n=" + n + ",mode=fast",
			Params: []stopwatt.Param{{Name: "n", Value: n}, {Name: "mode", Value: "fast"}},
			Command: &stopwatt.Command{
				Program: stopwatt.Program{
					Run: []string{"/fib", n, "fast", "{other}"}, Prepare: []string{"/bin/sh", "-c", "sync && true"}, Cleanup: []string{"/clean"},
					Stdin: []byte("1,2\r\n"), OKExit: []int{0, 3}, Timeout: 5 * time.Second,
				},
				Warmup: 2, Repeat: stopwatt.Repeat{Least: 3, Most: 30, For: time.Second}, SubtractEmpty: true,
				Output: stopwatt.Output{SHA256: "0f43783b6b198a2189413a1938e1dbd205399584db3aaa9deb7ce453d9f7cbba"},
			},
		}
	}
	program := func(run string, timeout time.Duration) stopwatt.Program {
		return stopwatt.Program{Run: []string{run}, OKExit: []int{0}, Timeout: timeout}
	}
	want := []stopwatt.Workload{
		fib("20"), fib("25"),
		{Name: "small", Command: &stopwatt.Command{Program: program("/a", 10*time.Minute), Repeat: stopwatt.Repeat{Least: 7, Most: 7}}},
		{Name: "piped", Command: &stopwatt.Command{
			Program: program("/a", 10*time.Minute), Repeat: stopwatt.Repeat{Least: 10, Most: 10_000, For: 3 * time.Second}, Output: stopwatt.Output{Pipe: true},
		}},
		{Name: "bench", Harness: &stopwatt.Harness{Program: program("/bench", time.Hour), Format: "jmh", Results: "/tmp/r.json", Strip: "^n?"}},
		{Name: "number", Harness: &stopwatt.Harness{Program: program("/n", time.Hour), Format: "number", Unit: "s", Metric: "time", Better: stopwatt.Less}},
	}
	if diff := cmp.Diff(want, read(t, commands, "").Workloads); diff != "" {
		t.Errorf("workloads differ (-want +got):\n%s", diff)
	}
}

func TestAnImplementationRunsItsOwnOfAWorkload(t *testing.T) {
	t.Parallel()
	suite := read(t, commands, "")
	native, vm := suite.Implementations[0], suite.Implementations[1]
	fib, _ := suite.Workload("fib/n=25,mode=fast")
	small, _ := suite.Workload("small")
	bench, _ := suite.Workload("bench")
	tests := []struct {
		name           string
		implementation stopwatt.Implementation
		workload       stopwatt.Workload
		run, prepare   []string
	}{
		{"as the workload says", native, fib, []string{"/fib", "25", "fast", "{other}"}, []string{"/bin/sh", "-c", "sync && true"}},
		{"with a run of its own, behind its exec", vm, fib, []string{"/vm", "--jit", "/fib.wasm", "25"}, []string{"/warm"}},
		{"behind its exec", vm, small, []string{"/vm", "--jit", "/a"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := test.implementation.Program(test.workload)
			if diff := cmp.Diff([][]string{test.run, test.prepare}, [][]string{got.Run, got.Prepare}); diff != "" {
				t.Errorf("run and prepare differ (-want +got):\n%s", diff)
			}
		})
	}
	if got := [2]string{native.Results(bench), vm.Results(bench)}; got != [2]string{"/tmp/r.json", "/tmp/vm.json"} {
		t.Errorf("results are read from %q", got)
	}
}

func TestAProfileRepeatsLessAndTakesOtherParams(t *testing.T) {
	t.Parallel()
	suite := read(t, commands, "short")
	fib := suite.Workloads[0]
	if fib.Name != "fib/n=5,mode=fast" || fib.Command.Repeat != (stopwatt.Repeat{Least: 2, Most: 2}) {
		t.Errorf("workload %s is repeated %+v, want fib/n=5,mode=fast twice", fib.Name, fib.Command.Repeat)
	}
	if n := len(suite.Workloads); n != 5 {
		t.Errorf("%d workloads, want 5", n)
	}
}
