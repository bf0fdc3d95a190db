package regression_test

import (
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
)

func TestAccept(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	judged := func(verdict stopwatt.Verdict, metric string) stopwatt.Judgement {
		of, _ := stopwatt.MetricNamed(metric)
		return stopwatt.Judgement{Comparisons: []stopwatt.Comparison{{Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Metric: of, Verdict: verdict}}}
	}
	meant := func(of, metric, reason string, hours int) stopwatt.Acceptance {
		return stopwatt.Acceptance{Case: of, Metric: metric, Reason: reason, At: now.Add(time.Duration(hours) * time.Hour)}
	}
	ended := meant("go/csv", "", "for a while", -5)
	ended.Until = now.Add(-time.Hour)
	for name, row := range map[string]struct {
		judgement   stopwatt.Judgement
		acceptances []stopwatt.Acceptance
		reason      string // empty: nobody accepted it
	}{
		"what regressed is accepted":                   {judged(stopwatt.Regressed, "time"), []stopwatt.Acceptance{meant("*/csv", "time", "a", -1)}, "a"},
		"by the latest of several":                     {judged(stopwatt.Regressed, "time"), []stopwatt.Acceptance{meant("go/csv", "", "a", -1), meant("go/*", "", "b", -2)}, "a"},
		"by the last of the same time":                 {judged(stopwatt.Regressed, "time"), []stopwatt.Acceptance{meant("go/csv", "", "a", -1), meant("go/*", "", "b", -1)}, "b"},
		"not by one of another metric":                 {judged(stopwatt.Regressed, "time"), []stopwatt.Acceptance{meant("go/csv", "throughput", "a", -1)}, ""},
		"not by one of another case":                   {judged(stopwatt.Regressed, "time"), []stopwatt.Acceptance{meant("rust/csv", "", "a", -1)}, ""},
		"not by one that has ended":                    {judged(stopwatt.Regressed, "time"), []stopwatt.Acceptance{ended}, ""},
		"what is undecided has nothing to be accepted": {judged(stopwatt.Undecided, "time"), []stopwatt.Acceptance{meant("go/csv", "", "a", -1)}, ""},
	} {
		got := regression.Accept(row.judgement, row.acceptances, now).Comparisons[0]
		reason := ""
		if got.Accepted != nil {
			reason = got.Accepted.Reason
		}
		if reason != row.reason || got.Verdict != row.judgement.Comparisons[0].Verdict {
			t.Errorf("%s: %q, %s", name, reason, got.Verdict)
		}
		if row.judgement.Comparisons[0].Accepted != nil {
			t.Errorf("%s: the judgement that was given has changed", name)
		}
	}
}
