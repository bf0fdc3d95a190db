package regression_test

import (
	"fmt"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
)

// step is a change point at a commit, that may lie a commit before or behind it.
func step(state stopwatt.ChangeState, at int, before, after float64) stopwatt.ChangePoint {
	place := func(position int) stopwatt.CommitPlace {
		return stopwatt.CommitPlace{Position: position, SHA: fmt.Sprint("c", position)}
	}
	return stopwatt.ChangePoint{
		State: state, First: place(at), Past: place(at - 2), Reached: place(at + 1),
		Before: stopwatt.Level{Mean: before}, After: stopwatt.Level{Mean: after}, Shift: after - before,
	}
}

func TestAlertsFollowTheSearches(t *testing.T) {
	const suspected, confirmed = stopwatt.Suspected, stopwatt.Confirmed
	seconds, _ := stopwatt.MetricNamed("time")
	throughput, _ := stopwatt.MetricNamed("throughput")
	requests, _ := stopwatt.MetricNamed("requests")
	type search []stopwatt.ChangePoint
	for name, row := range map[string]struct {
		metric   stopwatt.Metric
		searches []search
		want     string // commit and state of each alert after the last search, and A where it has the ID that it had first
	}{
		"more time is one":                  {seconds, []search{{step(suspected, 10, 5, 6)}}, "c10 open"},
		"less time is none":                 {seconds, []search{{step(confirmed, 10, 6, 5)}}, ""},
		"less throughput is one":            {throughput, []search{{step(confirmed, 10, 6, 5)}}, "c10 open"},
		"a count of no direction has none":  {requests, []search{{step(confirmed, 10, 5, 6)}}, ""},
		"what is withheld is none":          {seconds, []search{{step(stopwatt.Withheld, 10, 5, 6)}}, ""},
		"what is confirmed stays the same":  {seconds, []search{{step(suspected, 10, 5, 6)}, {step(confirmed, 10, 5, 6)}}, "c10 open A"},
		"what moves stays the same":         {seconds, []search{{step(suspected, 10, 5, 6)}, {step(suspected, 11, 5, 6)}}, "c11 open A"},
		"what is found far off is another":  {seconds, []search{{step(suspected, 10, 5, 6)}, {step(suspected, 20, 5, 6)}}, "c10 withdrawn A, c20 open"},
		"what is withdrawn says so":         {seconds, []search{{step(suspected, 10, 5, 6)}, {step(stopwatt.Withdrawn, 10, 5, 6)}}, "c10 withdrawn A"},
		"what is not found is withdrawn":    {seconds, []search{{step(suspected, 10, 5, 6)}, {}}, "c10 withdrawn A"},
		"what is found again is open again": {seconds, []search{{step(suspected, 10, 5, 6)}, {}, {step(suspected, 10, 5, 6)}}, "c10 open A"},
		"what came back is resolved":        {seconds, []search{{step(confirmed, 10, 5, 6)}, {step(confirmed, 10, 5, 6), step(suspected, 20, 6, 5.2)}}, "c10 resolved A"},
		"what came back by little is not":   {seconds, []search{{step(confirmed, 10, 5, 6)}, {step(confirmed, 10, 5, 6), step(suspected, 20, 6, 5.8)}}, "c10 open A"},
		"what became far better is":         {seconds, []search{{step(confirmed, 10, 5, 6), step(confirmed, 20, 6, 1)}}, "c10 resolved"},
		"throughput that came back, too":    {throughput, []search{{step(confirmed, 10, 6, 5), step(confirmed, 20, 5, 9)}}, "c10 resolved"},
		"a return that is withheld is none": {seconds, []search{{step(confirmed, 10, 5, 6), step(stopwatt.Withheld, 20, 6, 5)}}, "c10 open"},
		"worse again is another one":        {seconds, []search{{step(confirmed, 10, 5, 6)}, {step(confirmed, 10, 5, 6), step(confirmed, 20, 6, 5), step(suspected, 30, 5, 6)}}, "c10 resolved A, c30 open"},
		"ever worse are two":                {seconds, []search{{step(confirmed, 10, 5, 6), step(confirmed, 20, 6, 7)}}, "c10 open, c20 open"},
		"a new one where a moved one was":   {seconds, []search{{step(suspected, 10, 5, 6)}, {step(suspected, 12, 5, 6)}, {step(suspected, 14, 5, 6)}, {step(suspected, 10, 5, 6), step(suspected, 14, 6, 7)}}, "c14 open A, c10 open"},
	} {
		of := stopwatt.Alert{Project: "p", Suite: "s", Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Metric: row.metric}
		var alerts []stopwatt.Alert
		first := ""
		for i, points := range row.searches {
			alerts = regression.FollowAlerts(alerts, of, stopwatt.ChangeSearch{Machine: "f", ChangePoints: points})
			if i == 0 && len(alerts) > 0 && len(row.searches) > 1 {
				first = alerts[0].ID
			}
		}
		var got []string
		ids := map[string]bool{}
		for _, alert := range alerts {
			text := fmt.Sprintf("%s %s", alert.Change.First.SHA, alert.State)
			if alert.ID == first {
				text += " A"
			}
			got = append(got, text)
			ids[alert.ID] = true
		}
		if strings.Join(got, ", ") != row.want || len(ids) != len(alerts) {
			t.Errorf("%s: %s, want %s, %d IDs", name, strings.Join(got, ", "), row.want, len(ids))
		}
	}
}
