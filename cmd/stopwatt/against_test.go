package main

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAnImplementationIsRunAtTheBaseAsTheBasesSuiteSays(t *testing.T) {
	t.Parallel()
	suite := func(implementations ...stopwatt.Implementation) stopwatt.Suite {
		return stopwatt.Suite{Implementations: implementations}
	}
	spins := stopwatt.Implementation{Name: "go", Env: map[string]string{"SPIN": "60us"}}
	calm := stopwatt.Implementation{Name: "go"}
	pinned := stopwatt.Implementation{Name: "go", CPUs: "0-1"}
	for _, row := range []struct {
		name        string
		past        *stopwatt.Suite
		head        stopwatt.Implementation // as written
		placed      stopwatt.Implementation // with the machine's cores
		known, same bool
		cpus        string
	}{
		{"nothing changed", new(suite(calm)), calm, pinned, true, true, "0-1"},
		{"a variable that the head sets", new(suite(calm)), spins, spins, true, false, ""},
		{"cores that the head names and the base did not", new(suite(calm)), pinned, pinned, true, false, ""},
		{"an implementation that the base has not", new(suite(stopwatt.Implementation{Name: "rust"})), calm, calm, false, false, ""},
		{"a base without a suite", nil, spins, spins, true, true, ""},
	} {
		was, known := asItWas(row.past, suite(row.head), row.placed)
		if known != row.known {
			t.Errorf("%s: known %t", row.name, known)
		}
		if known && (was.CPUs != row.cpus || sameSettings(was, suite(row.placed)) != row.same) {
			t.Errorf("%s: %+v, the same %t", row.name, was, !row.same)
		}
	}
}
