// Command types measures one of six forms of a persistent process type, and prints the results as `go test -bench` does.
//
//	types FORM [-benchtime 100ms]
//
// The form is checked first: a form that gives wrong results is not measured.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func main() {
	testing.Init()
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	names := slices.Sorted(maps.Keys(forms))
	if len(args) == 0 || forms[args[0]] == nil {
		return fmt.Errorf("name a form: %s", strings.Join(names, ", "))
	}
	flags := flag.NewFlagSet("types", flag.ExitOnError)
	benchtime := flags.String("benchtime", "100ms", "measure each benchmark for about this `long`, or 100x for a hundred times")
	flags.Parse(args[1:])
	if err := flag.Set("test.benchtime", *benchtime); err != nil {
		return err
	}
	form := forms[args[0]]
	if err := check(form); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	fmt.Printf("goos: %s\ngoarch: %s\npkg: types/%s\n", runtime.GOOS, runtime.GOARCH, args[0])
	for _, b := range benchmarks() {
		fmt.Printf("BenchmarkPar/%s-%d\t%s\n", b.name, runtime.GOMAXPROCS(0), measure(b, form))
	}
	return nil
}

// measure gives a line's figures. An operation that the form need not do takes no time at all: 0 ns, and not the time of an empty loop.
func measure(b benchmark, form Form) string {
	if b.prepare(form) == nil {
		return "       1\t         0 ns/op\t       0 B/op\t       0 allocs/op"
	}
	result := testing.Benchmark(func(t *testing.B) {
		t.ReportAllocs()
		repeat(t, b, form)
	})
	return result.String() + "\t" + result.MemString()
}

// batch bounds how many Pars are made before the clock runs again; to stop and start it costs many microseconds.
const batch = 64

func repeat(t *testing.B, b benchmark, form Form) {
	if !b.fresh {
		operation := b.prepare(form)
		t.ResetTimer()
		for range t.N {
			operation()
		}
		return
	}
	for done := 0; done < t.N; done += batch {
		t.StopTimer()
		operations := prepareMany(b, form, min(batch, t.N-done))
		t.StartTimer()
		for _, operation := range operations {
			operation()
		}
	}
}

func prepareMany(b benchmark, form Form, count int) []func() {
	operations := make([]func(), count)
	for i := range operations {
		operations[i] = b.prepare(form)
	}
	return operations
}
