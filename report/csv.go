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
			records = append(records, record(about, summaryFields(s, unitName(results.Metric(s.Metric))), counts))
		}
		if len(result.Summaries) == 0 {
			records = append(records, record(about, []string{"", "", "0", "", "", "", "", ""}, counts))
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}

// summaryFields are the fields of CSV that a summary fills.
func summaryFields(s stopwatt.Summary, unit string) []string {
	sd := exact(s.SD)
	if s.N < 2 {
		sd = ""
	}
	return []string{
		s.Metric, unit, strconv.Itoa(s.N),
		exact(s.Mean), sd, exact(s.Median), exact(s.Min), exact(s.Max),
	}
}

// TrialsCSV writes trials in long form: a line for each trial and metric, in
// base units and full precision, under a header line. A metric that a trial
// has no number for has a line with the reason; a trial without any metric has
// one line without. What a harness measured by itself follows its trial, under the
// workloads of its parts.
func TrialsCSV(w io.Writer, run stopwatt.Run, trials []stopwatt.Trial) error {
	records := [][]string{{
		"run", "position", "round", "workload", "implementation", "revision", "started", "seconds",
		"status", "reason", "warnings", "metric", "unit", "value", "absent",
	}}
	for _, t := range trials {
		of := func(part stopwatt.Part) {
			about := []string{
				strconv.FormatInt(run.ID, 10), strconv.Itoa(t.Position), strconv.Itoa(t.Round),
				part.Case.Workload, part.Case.Implementation, string(t.Revision),
				instant(t.Started), exact(t.Window.Duration().Seconds()),
				string(t.Status), t.Reason, strings.Join(t.Warnings, "; "),
			}
			for _, fields := range partFields(t, part) {
				records = append(records, record(about, fields))
			}
		}
		of(stopwatt.Part{Case: t.Case, Measurements: t.Measurements, Absent: t.Absent})
		for _, part := range t.Parts {
			of(part)
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}

// partFields are the fields of CSV that the metrics of a trial, or of one of its
// parts, fill.
func partFields(t stopwatt.Trial, part stopwatt.Part) [][]string {
	var all [][]string
	for _, m := range part.Measurements {
		all = append(all, []string{m.Metric, unitName(t.Metric(m.Metric)), exact(m.Value), ""})
	}
	for _, a := range part.Absent {
		all = append(all, []string{a.Metric, unitName(t.Metric(a.Metric)), "", a.Reason})
	}
	if all == nil {
		return [][]string{{"", "", "", ""}}
	}
	return all
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
func unitName(metric stopwatt.Metric, known bool) string { return metric.Unit }

// reasonsOf lists why trials did not count: "2 × wrong body; 1 × timeout".
func reasonsOf(result stopwatt.CaseResult) string {
	var reasons []string
	for _, r := range result.Reasons {
		reasons = append(reasons, strconv.Itoa(r.Count)+" × "+r.Reason)
	}
	return strings.Join(reasons, "; ")
}
