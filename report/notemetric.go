package report

import (
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// metricTitle is what a metric is called in a note: "time", "energy, board". One that
// has no plain word of its own stands in a code span.
func metricTitle(metric stopwatt.Metric) string {
	meter, ok := stopwatt.MeterOf(metric.Name)
	switch {
	case metric.Name == "time":
		return "time"
	case ok && metric.Name == stopwatt.EnergyMetrics(meter)[energyGross].Name:
		return "energy, " + plainly(meter)
	case ok && metric.Name == stopwatt.EnergyMetrics(meter)[energyNet].Name:
		return "energy, " + plainly(meter) + ", net"
	}
	return codeWithin(metric.Name, 32)
}

// metricWords is what a metric is called in a sentence: "time", "board energy".
func metricWords(metric stopwatt.Metric) string {
	title := metricTitle(metric)
	if parts := strings.Split(title, ", "); parts[0] == "energy" {
		slices.Reverse(parts)
		return strings.Join(parts, " ")
	}
	return title
}

func metricNames(metrics []stopwatt.Metric) []string {
	var titles []string
	for _, metric := range metrics {
		titles = append(titles, metricWords(metric))
	}
	return titles
}

// columns are what a table of judged metrics has beside the case: the first metric, and
// the second, or all others stacked, so that a phone has room for them.
type columns struct {
	first  stopwatt.Metric
	others []stopwatt.Metric
}

// across takes time first, then the others in the order in which they are shown.
func across(metrics []stopwatt.Metric) columns {
	ordered := slices.Clone(metrics)
	slices.SortStableFunc(ordered, func(a, b stopwatt.Metric) int { return stopwatt.CompareMetrics(a.Name, b.Name) })
	if len(ordered) == 0 {
		return columns{}
	}
	return columns{ordered[0], ordered[1:]}
}

// metricsOf are those of all comparisons, now and earlier.
func metricsOf(all []standing) []stopwatt.Metric {
	var metrics []stopwatt.Metric
	add := func(metric stopwatt.Metric) {
		if !isAmong(metrics, metric) {
			metrics = append(metrics, metric)
		}
	}
	for _, s := range all {
		for _, c := range s.comparisons {
			add(c.Metric)
		}
		for _, e := range s.earlier {
			add(e.Comparison.Metric)
		}
	}
	return metrics
}

// heading is the first two lines of a table, whose first column is called so.
func (c columns) heading(first string) string {
	cells := []string{first, metricTitle(c.first)}
	switch len(c.others) {
	case 0:
	case 1:
		cells = append(cells, metricTitle(c.others[0]))
	default:
		cells = append(cells, "other metrics")
	}
	return row(cells...) + "\n|" + strings.Repeat(":--|", len(cells))
}

// row is one line of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// cells are those of a row beside its name, of what is said for each metric; a metric
// about which nothing is said gives "–".
func (c columns) cells(say func(stopwatt.Metric) string) []string {
	cells := []string{orAbsent(say(c.first))}
	if len(c.others) == 0 {
		return cells
	}
	var stacked []string
	for _, metric := range c.others {
		text := say(metric)
		if text != "" && len(c.others) > 1 {
			text = metricTitle(metric) + "<br>" + text
		}
		if text != "" {
			stacked = append(stacked, text)
		}
	}
	return append(cells, orAbsent(strings.Join(stacked, "<br>")))
}

func orAbsent(text string) string {
	if text == "" {
		return absent
	}
	return text
}
