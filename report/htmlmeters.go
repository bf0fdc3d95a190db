package report

import (
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// htmlMeters are the energy meters side by side.
type htmlMeters struct {
	Covers    string // net or gross
	Ratio     string // what the ratios are of, where all are of the same
	Notes     []string
	Workloads []htmlMeterWorkload
}

type htmlMeterWorkload struct {
	Name string
	Rows []htmlMeterRow
}

// An htmlMeterRow is one case: what each meter says, and what the first divided
// by each other is.
type htmlMeterRow struct {
	Name             string
	Color            int
	Note             string
	Absent           string // why there is nothing
	Energies, Ratios []labelled
}

// labelled is a figure and what it is of; no label where the column says it.
type labelled struct{ Label, Figure string }

// htmlMetersOf lays meters side by side; nil when there are not two.
func htmlMetersOf(c stopwatt.MeterContrast) *htmlMeters {
	if len(c.Meters) < 2 {
		return nil
	}
	out := &htmlMeters{Covers: coverage(c), Ratio: "ratio", Notes: append([]string{sentence(alike(c))}, swapsIn(c)...)}
	if len(c.Meters) == 2 {
		out.Ratio = over(c, 0)
	}
	if sources := sourcesOf(c); sources != "" {
		out.Notes = append(out.Notes, sources+".")
	}
	for _, block := range c.Workloads {
		workload := htmlMeterWorkload{Name: Clean(block.Workload)}
		for i, row := range block.Rows {
			workload.Rows = append(workload.Rows, htmlMeterRowOf(c, row, i%barColors))
		}
		out.Workloads = append(out.Workloads, workload)
	}
	return out
}

func htmlMeterRowOf(c stopwatt.MeterContrast, row stopwatt.MeterRow, color int) htmlMeterRow {
	out := htmlMeterRow{Name: Clean(row.Implementation), Color: color, Note: fmt.Sprintf("n %d", row.Result.Valid)}
	if row.Result.Valid == 0 {
		out.Absent = whyInvalid(row.Result)
		return out
	}
	for m, metric := range c.Metrics() {
		text := absent
		if s, has := row.Result.Summary(metric.Name); has {
			scale := meterScale(c, metric, "")
			f := scale.figures(s)
			text = scale.unit.with(f.value + " ± " + f.spread)
		}
		out.Energies = append(out.Energies, labelled{Clean(c.Meters[m].Name), text})
		if m > 0 {
			ratio := labelled{over(c, m-1), meterRatio(row, m-1)}
			if len(c.Meters) == 2 {
				ratio.Label = ""
			}
			out.Ratios = append(out.Ratios, ratio)
		}
	}
	return out
}
