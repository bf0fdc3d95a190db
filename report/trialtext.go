package report

import (
	"cmp"
	"fmt"
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

// TrialText writes one trial of a run: what became of it, its figures, how power and
// all else that was sampled went while it lasted, and its latencies by percentile.
func TrialText(w io.Writer, run stopwatt.Run, t stopwatt.Trial, columns int) error {
	p := page{run: run, options: Options{Width: max(cmp.Or(columns, defaultWidth), smallestWidth)}}
	p.text(dotted(short(run.Suite), fmt.Sprintf("run %d", run.ID), Clean(run.Checkout.Commit.Short()), short(run.Machine.Name)))
	p.text(dotted(short(t.Case.String()), string(t.Revision), fmt.Sprintf("round %d", t.Round), fmt.Sprintf("trial %d", t.Position), string(t.Status),
		Seconds(t.Window.Duration().Seconds())))
	if t.Reason != "" {
		p.text("why     " + reasonShown(t.Reason))
	}
	for _, g := range []grid{trialFigures(t), trialCourses(t), trialLatencies(t)} {
		if len(g.rows) > 0 {
			p.block(g)
		}
	}
	for _, warning := range t.Warnings {
		p.note("%s.", Brief(warning))
	}
	for _, a := range t.Absent {
		p.note("%s is absent: %s.", short(a.Metric), Brief(a.Reason))
	}
	return p.write(w)
}

// trialFigures has a row for each metric.
func trialFigures(t stopwatt.Trial) grid {
	g := grid{corner: []string{"figure"}, columns: []gridColumn{{heading: []string{"value"}}}}
	for _, m := range t.Measurements {
		metric, known := t.Metric(m.Metric)
		if !known {
			metric = stopwatt.Metric{Name: m.Metric}
		}
		g.rows = append(g.rows, gridRow{name: []string{short(label(metric))}})
		g.columns[0].cells = append(g.columns[0].cells, []string{Value(metric, m.Value)})
	}
	return g
}

// trialCourses has a row for all that was sampled, with a sparkline over the window.
func trialCourses(t stopwatt.Trial) grid {
	g := grid{corner: []string{"over time"}, columns: []gridColumn{{heading: []string{"course"}}, {heading: []string{"from, to"}}, {heading: []string{"covered"}}}}
	for _, s := range t.Samples {
		c := courseOf("", s, t.Window, sparkWidth)
		if len(c.points) == 0 {
			continue
		}
		var points []stopwatt.SeriesPoint
		for _, point := range c.points {
			points = append(points, stopwatt.SeriesPoint{Value: point.value})
		}
		g.rows = append(g.rows, gridRow{name: []string{cut(sampledName(s), longestSeries)}})
		for i, cell := range []string{spark(points), sampledRange(s, c), fixed(100*s.Coverage(t.Window), 1) + " %"} {
			g.columns[i].cells = append(g.columns[i].cells, []string{cell})
		}
	}
	return g
}

// sampledName is what was sampled: the power of a meter, the CPU time of a container,
// or a column of vmstat.
func sampledName(s stopwatt.Samples) string {
	switch s.Quantity {
	case stopwatt.EnergyUsed, stopwatt.PowerDrawn:
		return short(s.Meter) + " power, gross"
	case stopwatt.CPUUsed:
		return short(s.Meter) + " CPUs"
	}
	return dotted(short(s.Meter), short(string(s.Quantity)))
}

// sampledRange is between which values it lay.
func sampledRange(s stopwatt.Samples, c course) string {
	switch s.Quantity {
	case stopwatt.EnergyUsed, stopwatt.PowerDrawn:
		return fmt.Sprintf("%s … %s W", significant(c.low, 3), significant(c.high, 3))
	case stopwatt.CPUUsed:
		return fmt.Sprintf("%s … %s", significant(c.low, 3), significant(c.high, 3))
	}
	return ranged(s.Quantity, c.low, c.high)
}

// trialLatencies has a row for each percentile.
func trialLatencies(t stopwatt.Trial) grid {
	g := grid{corner: []string{"latency"}, columns: []gridColumn{{heading: []string{"value"}}}}
	for _, p := range Percentiles(t.Latency) {
		g.rows = append(g.rows, gridRow{name: []string{p.Name}})
		g.columns[0].cells = append(g.columns[0].cells, []string{p.Value})
	}
	return g
}

type jsonTrialSamples struct {
	Meter    string    `json:"meter"`
	Quantity string    `json:"quantity"`
	Unit     string    `json:"unit"`
	Seconds  []float64 `json:"seconds"`
	Values   []float64 `json:"values"`
}

// TrialJSON writes one trial in the shape that docs/results.md describes, with its
// samples: seconds from the window's start, values in base units.
func TrialJSON(w io.Writer, t stopwatt.Trial) error {
	document := struct {
		jsonTrial
		Samples     []jsonTrialSamples `json:"samples"`
		Percentiles map[string]float64 `json:"latency_seconds,omitempty"`
	}{jsonTrial: jsonOfTrial(t), Samples: []jsonTrialSamples{}}
	for _, s := range t.Samples {
		by, unit := s.Quantity.Base()
		one := jsonTrialSamples{Meter: s.Meter, Quantity: string(s.Quantity), Unit: unit, Seconds: []float64{}, Values: []float64{}}
		for i := range min(len(s.Times), len(s.Values)) {
			one.Seconds = append(one.Seconds, float64(s.Times[i]-t.Window.Start)/1e9)
			one.Values = append(one.Values, float64(s.Values[i])/by)
		}
		document.Samples = append(document.Samples, one)
	}
	if t.Latency != nil && t.Latency.Count() > 0 {
		document.Percentiles = map[string]float64{"max": float64(t.Latency.Max()) / 1e9}
		for _, s := range distributionShares {
			if float64(t.Latency.Count())*(1-s.share) >= 1-1e-9 {
				document.Percentiles[s.name] = float64(t.Latency.Quantile(s.share)) / 1e9
			}
		}
	}
	return encode(w, document)
}
