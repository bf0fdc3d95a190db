package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
)

// HistoryCSV writes a line for each point, in full precision.
func HistoryCSV(w io.Writer, h History) error {
	out := csv.NewWriter(w)
	records := [][]string{{"suite", "implementation", "workload", "metric", "unit", "against", "machine", "fingerprint", "epoch", "position", "commit", "committed_at", "value", "n"}}
	for _, traced := range h.Traced {
		unit := h.Metric.Unit
		if traced.Series.Against != "" {
			unit = "1"
		}
		for _, search := range traced.Searches {
			for _, point := range search.Points {
				records = append(records, []string{h.Suite, traced.Series.Case.Implementation, traced.Series.Case.Workload, h.Metric.Name, unit, traced.Series.Against,
					h.Machines[search.Machine], search.Machine, point.Epoch, strconv.Itoa(point.Position), point.SHA, instant(point.Time), exact(point.Value), strconv.Itoa(point.N)})
			}
		}
	}
	return out.WriteAll(records)
}

// ChangesCSV writes a line for each change point, in full precision, with its first
// commit and who brought that.
func ChangesCSV(w io.Writer, h History) error {
	out := csv.NewWriter(w)
	records := [][]string{{"suite", "implementation", "workload", "metric", "unit", "against", "machine", "fingerprint", "state", "withheld",
		"first", "after", "up_to", "before", "now", "ratio", "low", "high", "p", "author", "merger", "subject", "merge_request"}}
	for _, traced := range h.Traced {
		unit := h.Metric.Unit
		if traced.Series.Against != "" {
			unit = "1"
		}
		for _, search := range traced.Searches {
			for _, c := range search.ChangePoints {
				records = append(records, append([]string{
					h.Suite, traced.Series.Case.Implementation, traced.Series.Case.Workload, h.Metric.Name, unit, traced.Series.Against,
					h.Machines[search.Machine], search.Machine}, h.changeRecord(c)...))
			}
		}
	}
	return out.WriteAll(records)
}

// changeRecord is what a line of ChangesCSV says of the change itself.
func (h History) changeRecord(c stopwatt.ChangePoint) []string {
	ratio, low, high := "", "", ""
	if c.Ratio.Known {
		ratio = exact(c.Ratio.Value)
	}
	if c.Ratio.Bounded {
		low, high = exact(c.Ratio.Low), exact(c.Ratio.High)
	}
	var brought stopwatt.Landing
	for _, landing := range h.Landings {
		if landing.Position == c.First.Position {
			brought = landing
		}
	}
	return []string{string(c.State), string(c.Withheld), c.First.SHA, c.Past.SHA, c.Reached.SHA, exact(c.Before.Mean), exact(c.After.Mean), ratio, low, high, exact(c.P),
		brought.Commit.Author, brought.Merger, brought.Commit.Subject, brought.MergeRequest}
}
