package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// CSV writes results in long form: a line for each case and metric, in base
// units and full precision, under a header line. The standard deviation of a
// single trial is empty. A case without any valid trial has one line without a
// metric, so that it is not lost.
func CSV(w io.Writer, results stopwatt.Results) error {
	records := [][]string{{
		"suite", "run", "commit", "machine", "workload", "implementation", "revision", "metric", "unit",
		"n", "mean", "sd", "median", "min", "max", "valid", "invalid", "reasons",
	}}
	run := results.Run
	for _, result := range results.Cases {
		about := []string{
			run.Suite, strconv.FormatInt(run.ID, 10), run.Checkout.Commit.SHA, run.Machine.Name,
			result.Case.Workload, result.Case.Implementation, string(result.Revision),
		}
		counts := []string{strconv.Itoa(result.Valid), strconv.Itoa(result.Invalid), reasonsOf(result)}
		for _, s := range result.Summaries {
			records = append(records, record(about, summaryFields(s), counts))
		}
		if len(result.Summaries) == 0 {
			records = append(records, record(about, []string{"", "", "0", "", "", "", "", ""}, counts))
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}

// summaryFields are the fields of CSV that a summary fills.
func summaryFields(s stopwatt.Summary) []string {
	sd := exact(s.SD)
	if s.N < 2 {
		sd = ""
	}
	return []string{
		s.Metric, unitName(s.Metric), strconv.Itoa(s.N),
		exact(s.Mean), sd, exact(s.Median), exact(s.Min), exact(s.Max),
	}
}

// TrialsCSV writes trials in long form: a line for each trial and metric, in
// base units and full precision, under a header line. A metric that a trial
// has no number for has a line with the reason; a trial without any metric has
// one line without.
func TrialsCSV(w io.Writer, run stopwatt.Run, trials []stopwatt.Trial) error {
	records := [][]string{{
		"run", "position", "round", "workload", "implementation", "revision", "started", "seconds",
		"status", "reason", "warnings", "metric", "unit", "value", "absent",
	}}
	for _, t := range trials {
		about := []string{
			strconv.FormatInt(run.ID, 10), strconv.Itoa(t.Position), strconv.Itoa(t.Round),
			t.Case.Workload, t.Case.Implementation, string(t.Revision),
			instant(t.Started), exact(t.Window.Duration().Seconds()),
			string(t.Status), t.Reason, strings.Join(t.Warnings, "; "),
		}
		for _, m := range t.Measurements {
			records = append(records, record(about, []string{m.Metric, unitName(m.Metric), exact(m.Value), ""}))
		}
		for _, a := range t.Absent {
			records = append(records, record(about, []string{a.Metric, unitName(a.Metric), "", a.Reason}))
		}
		if len(t.Measurements)+len(t.Absent) == 0 {
			records = append(records, record(about, []string{"", "", "", ""}))
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}

// record is one record made of parts.
func record(parts ...[]string) []string {
	var fields []string
	for _, part := range parts {
		fields = append(fields, part...)
	}
	return fields
}

// exact writes a number so that reading it gives the same number.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// instant writes a wall clock time, empty when there is none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// unitName is the base unit of a metric, empty when it is not known.
func unitName(metric string) string {
	known, _ := stopwatt.MetricNamed(metric)
	return known.Unit
}

// reasonsOf lists why trials did not count: "2 × wrong body; 1 × timeout".
func reasonsOf(result stopwatt.CaseResult) string {
	var reasons []string
	for _, r := range result.Reasons {
		reasons = append(reasons, strconv.Itoa(r.Count)+" × "+r.Reason)
	}
	return strings.Join(reasons, "; ")
}
