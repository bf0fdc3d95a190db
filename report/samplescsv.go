package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
)

// sampled tells whether there are samples of trials or of idle windows.
func sampled(run stopwatt.Run, trials []stopwatt.Trial) bool {
	for _, t := range trials {
		if len(t.Samples) > 0 {
			return true
		}
	}
	for _, window := range run.Idle {
		if len(window.Samples) > 0 {
			return true
		}
	}
	return false
}

// SamplesCSV writes what was read again and again: a line for each reading of a
// trial or of an idle window, in base units and full precision, with the seconds
// since the window began (before it, they are negative). A gap is a line without
// a value, with the time until which it lasted and the reason.
func SamplesCSV(w io.Writer, run stopwatt.Run, trials []stopwatt.Trial) error {
	out := csv.NewWriter(w)
	// What Write fails with, Flush keeps for Error.
	_ = out.Write([]string{"run", "trial", "meter", "quantity", "unit", "seconds", "value", "until", "reason"})
	id := strconv.FormatInt(run.ID, 10)
	for i, window := range run.Idle {
		writeSamples(out, []string{id, fmt.Sprintf("idle-%d", i+1)}, window.Window, window.Samples)
	}
	for _, t := range trials {
		writeSamples(out, []string{id, strconv.Itoa(t.Position)}, t.Window, t.Samples)
	}
	out.Flush()
	return out.Error()
}

// writeSamples writes those of one window.
func writeSamples(out *csv.Writer, about []string, window stopwatt.Window, all []stopwatt.Samples) {
	seconds := func(at int64) string { return exact(float64(at-window.Start) / 1e9) }
	for _, s := range all {
		by, unit := s.Quantity.Base()
		of := record(about, []string{s.Meter, string(s.Quantity), unit})
		for i := range min(len(s.Times), len(s.Values)) {
			_ = out.Write(record(of, []string{seconds(s.Times[i]), exact(float64(s.Values[i]) / by), "", ""}))
		}
		for _, gap := range s.Gaps {
			_ = out.Write(record(of, []string{seconds(gap.From), "", seconds(gap.To), gap.Reason}))
		}
	}
}
