package main

import (
	"slices"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/harness"
)

func TestSuitesMayNameEveryFormatThatIsRead(t *testing.T) {
	t.Parallel()
	named := slices.Sorted(slices.Values(stopwatt.HarnessFormats))
	read := slices.DeleteFunc(harness.Names(), func(name string) bool { return name == "csv" }) // which import reads alone
	if !slices.Equal(named, read) {
		t.Errorf("suites may name %q, and %q are read", named, read)
	}
}

func TestWhatAWorkloadAsks(t *testing.T) {
	t.Parallel()
	run := stopwatt.Program{Run: []string{"/fib", "two words"}}
	for want, workload := range map[string]stopwatt.Workload{
		"4 users × 50 requests":                                           {HTTP: &stopwatt.HTTP{}, Load: stopwatt.Load{Users: 4, Requests: 50}},
		"1 repetition of /fib 'two words'":                                {Command: &stopwatt.Command{Program: run, Repeat: stopwatt.Repeat{Least: 1, Most: 1}}},
		"10 to 50 repetitions (until 3.0 s) of each implementation's own": {Command: &stopwatt.Command{Repeat: stopwatt.Repeat{Least: 10, Most: 50, For: 3e9}}},
		"results of /fib 'two words', format go":                          {Harness: &stopwatt.Harness{Program: run, Format: "go"}},
	} {
		if got := workloadText(workload); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
