package report

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// orderedTrials are of two cases, each with a value in seconds; 0: invalid.
func orderedTrials(values ...float64) []stopwatt.Trial {
	var trials []stopwatt.Trial
	for i, value := range values {
		t := stopwatt.Trial{Status: stopwatt.Valid}
		t.Case = stopwatt.Case{Implementation: []string{"go", "<b>"}[i%2], Workload: "hello"}
		t.Revision, t.Position = stopwatt.Head, i+1
		if value == 0 {
			t.Status = "wrong answers"
		} else {
			t.Measurements = []stopwatt.Measurement{{Metric: "time", Value: value}}
		}
		trials = append(trials, t)
	}
	return trials
}

func TestTheOrderOfTrialsIsDrawnBesideEachCasesMedian(t *testing.T) {
	t.Parallel()
	time, _ := stopwatt.MetricNamed("time")
	trials := orderedTrials(1, 100, 1, 100, 1.5, 0, 1, 50)
	trials[2].Warnings = []string{"4 % steal"}
	drawn := strings.ReplaceAll(string(TrialOrder("order", trials, time)), "&#43;", "+")
	for _, part := range []string{
		"7 trials, from −50.0 % to +50.0 % beside the median of the case; 1 invalid.",
		"<title>trial 1, go/hello: 0.0 %</title>", "<title>trial 3, go/hello: 0.0 %, marked</title>", "<title>trial 5, go/hello: +50.0 %</title>",
		"<title>trial 6, &lt;b&gt;/hello: wrong answers</title>", "<title>trial 8, &lt;b&gt;/hello: −50.0 %</title>",
	} {
		if !strings.Contains(drawn, part) {
			t.Errorf("%q is missing", part)
		}
	}
	if dots, rings, crosses := strings.Count(drawn, " dot\""), strings.Count(drawn, " ring\""), strings.Count(drawn, " cross\""); dots != 6 || rings != 1 || crosses != 1 || strings.Contains(drawn, "NaN") {
		t.Errorf("%d dots, %d rings, %d crosses in\n%s", dots, rings, crosses, drawn)
	}
	for name, few := range map[string][]stopwatt.Trial{"none": nil, "one": trials[:1], "of another metric": trials} {
		metric := time
		if name == "of another metric" {
			metric.Name = "energy_board"
		}
		if drawn := TrialOrder("order", few, metric); drawn != "" {
			t.Errorf("%s: %s", name, drawn)
		}
	}
}
