package main

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAnAcceptanceThatNamesNothingIsFound(t *testing.T) {
	t.Parallel()
	compared := []stopwatt.Comparison{
		{Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Metric: stopwatt.Metric{Name: "time"}},
		{Case: stopwatt.Case{Implementation: "rust", Workload: "csv"}, Metric: stopwatt.Metric{Name: "time"}},
	}
	for _, row := range []struct {
		what, of, metric string
		found            bool
	}{
		{"a case", "go/csv", "", false},
		{"a case and its metric", "go/csv", "time", false},
		{"all of a workload", "*/csv", "", false},
		{"a misspelt case", "g0/csv", "", true},
		{"a metric that is not judged", "go/csv", "tme", true},
		{"a glob that fits nothing", "java/*", "", true},
	} {
		found := coveringNothing([]stopwatt.Acceptance{{Case: row.of, Metric: row.metric}}, compared)
		if (len(found) == 1) != row.found {
			t.Errorf("%s: %v", row.what, found)
		}
	}
}
