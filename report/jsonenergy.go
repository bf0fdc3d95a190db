package report

import (
	"io"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// metersFormat names the shape that MetersJSON writes; see jsonFormat.
const metersFormat = "stopwatt.meters/1"

// Parts of results.json that tell of energy, and the documented shape of
// `stopwatt compare --meters --format json` (docs/results.md).
type (
	jsonMeter struct {
		Name    string  `json:"name"`
		Source  string  `json:"source,omitempty"`
		Renewal float64 `json:"renewal_seconds,omitempty"`
		Absent  string  `json:"absent,omitempty"`
	}
	jsonIdle struct {
		Place   string          `json:"place"`
		Started *time.Time      `json:"started,omitempty"`
		Seconds float64         `json:"seconds"`
		Powers  []jsonIdlePower `json:"powers"`
	}
	jsonIdlePower struct {
		Meter    string   `json:"meter"`
		Watts    *float64 `json:"watts"` // null where it is not known
		Error    *float64 `json:"standard_error"`
		Absent   string   `json:"absent,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}
	jsonMeters struct {
		Format     string              `json:"format"`
		Run        int64               `json:"run"`
		Suite      string              `json:"suite"`
		Covers     string              `json:"covers"` // net or gross
		Meters     []jsonMeter         `json:"meters"`
		Workloads  []jsonMeterWorkload `json:"workloads"`
		Comparable int                 `json:"comparable_workloads"`
		Alike      int                 `json:"alike_workloads"`
	}
	jsonMeterWorkload struct {
		Workload string         `json:"workload"`
		Rows     []jsonMeterRow `json:"rows"`
		Swaps    []jsonSwap     `json:"swaps"`
	}
	jsonMeterRow struct {
		Implementation string              `json:"implementation"`
		Energies       []jsonSummary       `json:"energies"`
		Absent         []jsonAbsence       `json:"absent,omitempty"`
		Ratios         map[string]*float64 `json:"ratios"` // of the first meter to this one
	}
	jsonSwap struct {
		Implementations [2]string              `json:"implementations"`
		Joules          map[string][2]*float64 `json:"joules"`
		Near            bool                   `json:"near"`
	}
)

func jsonOfMeters(meters []stopwatt.Meter) []jsonMeter {
	var out []jsonMeter
	for _, m := range meters {
		out = append(out, jsonMeter{m.Name, m.Source, m.Renewal.Seconds(), m.Absent})
	}
	return out
}

func jsonOfIdle(windows []stopwatt.IdleWindow) []jsonIdle {
	var out []jsonIdle
	for _, window := range windows {
		idle := jsonIdle{Place: string(window.Place), Started: moment(window.Started), Seconds: window.Window.Duration().Seconds(), Powers: []jsonIdlePower{}}
		for _, p := range window.Powers {
			power := jsonIdlePower{Meter: p.Meter, Absent: p.Absent, Warnings: p.Warnings}
			if p.Absent == "" {
				power.Watts, power.Error = finite(p.Watts), finite(p.Error)
			}
			idle.Powers = append(idle.Powers, power)
		}
		out = append(out, idle)
	}
	return out
}

// MetersJSON writes the same as Meters, in the shape that docs/results.md
// describes.
func MetersJSON(w io.Writer, run stopwatt.Run, c stopwatt.MeterContrast) error {
	document := jsonMeters{
		Format: metersFormat, Run: run.ID, Suite: run.Suite, Covers: coverage(c), Meters: jsonOfMeters(c.Meters),
		Workloads: []jsonMeterWorkload{}, Comparable: c.Comparable, Alike: c.Alike,
	}
	for _, block := range c.Workloads {
		workload := jsonMeterWorkload{Workload: block.Workload, Rows: []jsonMeterRow{}, Swaps: []jsonSwap{}}
		for _, row := range block.Rows {
			workload.Rows = append(workload.Rows, jsonOfMeterRow(c, row))
		}
		for _, s := range block.Swaps {
			swap := jsonSwap{Implementations: s.Implementations, Joules: map[string][2]*float64{}, Near: s.Near}
			for i, meter := range s.Meters {
				swap.Joules[meter] = [2]*float64{finite(s.Means[i][0]), finite(s.Means[i][1])}
			}
			workload.Swaps = append(workload.Swaps, swap)
		}
		document.Workloads = append(document.Workloads, workload)
	}
	return encode(w, document)
}

func jsonOfMeterRow(c stopwatt.MeterContrast, row stopwatt.MeterRow) jsonMeterRow {
	out := jsonMeterRow{Implementation: row.Implementation, Energies: []jsonSummary{}, Ratios: map[string]*float64{}}
	for _, metric := range c.Metrics() {
		if s, has := row.Result.Summary(metric.Name); has {
			out.Energies = append(out.Energies, jsonOfSummary(s, metric.Unit))
		}
		for _, a := range row.Result.Absent {
			if a.Metric == metric.Name {
				out.Absent = append(out.Absent, jsonAbsence(a))
			}
		}
	}
	for i, ratio := range row.Ratios {
		out.Ratios[c.Meters[i+1].Name] = nil
		if ratio.Known {
			out.Ratios[c.Meters[i+1].Name] = finite(ratio.Value)
		}
	}
	return out
}
