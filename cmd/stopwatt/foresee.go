package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// A past is what is known from an earlier run on this machine of how long a
// case's window lasted.
type past struct {
	window   time.Duration // the mean
	requests float64       // in it, the mean; 0 when none were counted
}

// A history is an earlier run.
type history struct {
	run  int64 // 0: there is none
	of   map[stopwatt.Case]past
	lack string // why there is none
}

// energyTexts says which meters a run would have, and which of its windows are
// too short for them: a line each.
func (d *desk) energyTexts(ctx context.Context, planned plannedRun) ([]string, error) {
	file, err := d.machineFile()
	if err != nil {
		return nil, err
	}
	meters := meter.Foresee(meter.Host{Root: d.getenv("STOPWATT_METERS_ROOT")}, file, planned.file.suite.Meters.Every)
	if len(meters) == 0 {
		return nil, nil
	}
	earlier := history{}
	if slices.ContainsFunc(planned.cases, func(c stopwatt.Case) bool { return expected(planned.file.suite, c, earlier) == 0 }) {
		earlier = d.history(ctx, planned)
	}
	return foresee(planned.file.suite, planned.cases, meters, earlier), nil
}

// history reads what an earlier run of the suite on this machine tells. A
// database that is not there is not made for it.
func (d *desk) history(ctx context.Context, planned plannedRun) history {
	if !d.remembers() {
		return history{lack: "no run is stored yet"}
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return history{lack: err.Error()}
	}
	defer release()
	id, err := store.FindRun(ctx, storage.RunQuery{
		Project: planned.checkout.project, Suite: planned.file.suite.Name, Machine: storage.Fingerprint(meter.Host{}.Machine().Identity),
	})
	if errors.Is(err, storage.ErrNotFound) {
		return history{lack: "no run of this suite on this machine is stored yet"}
	}
	var results stopwatt.Results
	if err == nil {
		results, err = store.Results(ctx, id)
	}
	if err != nil {
		return history{lack: err.Error()}
	}
	return history{run: id, of: pasts(results)}
}

// remembers tells whether there is a database already.
func (d *desk) remembers() bool {
	return d.database != "" || d.getenv("STOPWATT_DATABASE") != "" || embedded.Inhabited(d.databaseFolder())
}

// pasts takes the lengths of windows out of results.
func pasts(results stopwatt.Results) map[stopwatt.Case]past {
	of := map[stopwatt.Case]past{}
	for _, result := range results.Cases {
		var known past
		for _, summary := range result.Summaries {
			switch summary.Metric {
			case "time":
				known.window = time.Duration(summary.Mean * float64(time.Second))
			case "requests":
				known.requests = summary.Mean
			}
		}
		of[result.Case] = known
	}
	return of
}

// expected is how long the window of a case will last; 0 when nobody knows.
func expected(suite stopwatt.Suite, each stopwatt.Case, earlier history) time.Duration {
	workload, _ := suite.Workload(each.Workload)
	load, known := workload.Load, earlier.of[each]
	switch {
	case workload.HTTP == nil:
		return known.window
	case load.For > 0:
		return load.For
	case known.requests > 0:
		return time.Duration(float64(known.window) * float64(load.Users*load.Requests) / known.requests)
	}
	return 0
}

// foresee says of each meter whether the windows of a run are long enough for
// it, and what would do where they are not.
func foresee(suite stopwatt.Suite, cases []stopwatt.Case, meters []stopwatt.Meter, earlier history) []string {
	var texts []string
	for _, m := range meters {
		switch {
		case m.Absent != "":
			texts = append(texts, fmt.Sprintf("%s: its energy will be absent: %s", m.Name, m.Absent))
		case m.Renewal == 0:
			texts = append(texts, fmt.Sprintf("%s: how often it renews its value is known only when it is read; %d renewals in a window are needed", m.Name, stopwatt.LeastRenewals))
		default:
			texts = append(texts, foreseen(suite, cases, m, earlier)...)
		}
	}
	return texts
}

// foreseen says the same of one meter whose renewals are known.
func foreseen(suite stopwatt.Suite, cases []stopwatt.Case, m stopwatt.Meter, earlier history) []string {
	var texts []string
	var unknown, shortest stopwatt.Case
	strangers, least := 0, time.Duration(math.MaxInt64)
	for _, each := range cases {
		window := expected(suite, each, earlier)
		switch {
		case window == 0:
			unknown = each
			strangers++
		case window < m.Least():
			texts = append(texts, tooShort(suite, each, m, window))
		case window < least:
			shortest, least = each, window
		}
	}
	begins := fmt.Sprintf("%s renews its value every %s: a window of %s has the %d renewals that are needed", m.Name, m.Renewal, duration(m.Least()), stopwatt.LeastRenewals)
	if shortest != (stopwatt.Case{}) && len(texts) == 0 {
		begins = fmt.Sprintf("%s renews its value every %s: the shortest window, of %s (%s), has %d renewals, enough (%d needed)",
			m.Name, m.Renewal, shortest, duration(least), least/m.Renewal, stopwatt.LeastRenewals)
	}
	texts = append([]string{begins}, texts...)
	if strangers > 0 {
		texts = append(texts, fmt.Sprintf("%s: how long the windows of %s last (%s) is not known before they are measured: %s",
			m.Name, plural(strangers, "case"), unknown, cmp.Or(earlier.lack, "the latest run on this machine has none of them")))
	}
	return texts
}

// spare is how much longer than needed a window is asked to be, for the next
// one may be quicker.
const spare = 1.1

// tooShort says that a window has too few renewals, and what would do.
func tooShort(suite stopwatt.Suite, each stopwatt.Case, m stopwatt.Meter, window time.Duration) string {
	workload, _ := suite.Workload(each.Workload)
	needed := spare * m.Least().Seconds()
	remedy := "let what it runs last longer"
	if workload.HTTP != nil {
		remedy = fmt.Sprintf("say for: %.0fs", math.Ceil(needed))
	}
	if requests := workload.Load.Requests; workload.HTTP != nil && requests > 0 {
		remedy = fmt.Sprintf("raise requests to %d or %s", roundUp(float64(requests)*needed/window.Seconds()), remedy)
	}
	return fmt.Sprintf("%s (%s) would have %d renewals of %s, %d needed: %s; its energy will be absent",
		each, duration(window), window/m.Renewal, m.Name, stopwatt.LeastRenewals, remedy)
}

// roundUp rounds up to two digits.
func roundUp(n float64) int {
	step := math.Pow(10, max(math.Floor(math.Log10(n))-1, 0))
	return int(math.Ceil(n/step) * step)
}
