package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gitlab.com/stopwatt/stopwatt"
)

// Places in stopwatt.EnergyMetrics.
const (
	energyNet = iota
	energyGross
	energyUncertainty
	energyPerRequest
	energyPower
	energyPerRepetition
)

// covers says what a metric of energy covers, net or gross; empty of one whose
// name says it, and of all others.
func covers(metric stopwatt.Metric) string {
	meter, ok := stopwatt.MeterOf(metric.Name)
	if !ok {
		return ""
	}
	switch all := stopwatt.EnergyMetrics(meter); metric.Name {
	case all[energyNet].Name, all[energyPerRequest].Name, all[energyPerRepetition].Name:
		return "net"
	case all[energyPower].Name:
		return "gross"
	}
	return ""
}

// label is a metric's name as it stands over figures, with what it covers.
func label(metric stopwatt.Metric) string {
	return strings.TrimSpace(metric.Name + " " + covers(metric))
}

// idleLine says what the machine drew while idle: "idle: board 4.19 W, cpu 1.31
// W"; empty when nobody knows.
func idleLine(run stopwatt.Run) string {
	if text := idleTexts(run, nil); text != "" {
		return "idle: " + text
	}
	return ""
}

// idleTexts lists the idle powers of these meters, nil: of all.
func idleTexts(run stopwatt.Run, of map[string]bool) string {
	var parts []string
	for _, idle := range run.IdlePowers() {
		if idle.Absent == "" && (of == nil || of[idle.Meter]) {
			parts = append(parts, short(idle.Meter)+" "+Value(stopwatt.Metric{Unit: "W"}, idle.Watts))
		}
	}
	return strings.Join(parts, ", ")
}

// energyNotes say of a contrast what its energy covers, what makes it less sure,
// and which meter gave none. Hint says how to see gross energy.
func energyNotes(run stopwatt.Run, metrics []stopwatt.Metric, hint string) []string {
	net, gross, meters := false, false, map[string]bool{}
	for _, metric := range metrics {
		if meter, ok := stopwatt.MeterOf(metric.Name); ok {
			meters[meter] = true
			net = net || covers(metric) == "net"
			gross = gross || metric == stopwatt.EnergyMetrics(meter)[energyGross] || covers(metric) == "gross"
		}
	}
	idle := idleTexts(run, meters)
	if idle != "" {
		idle = " (" + idle + ")"
	}
	var notes []string
	switch {
	case net && gross:
		notes = append(notes, fmt.Sprintf("Net energy has idle power%s taken off; gross energy and power have it in them.", idle))
	case net:
		notes = append(notes, fmt.Sprintf("Energy is net: idle power%s is taken off%s.", idle, hint))
	case gross:
		notes = append(notes, fmt.Sprintf("Energy is gross: idle power%s is in it.", idle))
	}
	return append(append(notes, idleDoubts(run, meters)...), unread(run)...)
}

// idleDoubts are the warnings on the idle power of meters, and why it is not
// known.
func idleDoubts(run stopwatt.Run, meters map[string]bool) []string {
	var notes []string
	for _, idle := range run.IdlePowers() {
		if !meters[idle.Meter] {
			continue
		}
		if idle.Absent != "" {
			notes = append(notes, fmt.Sprintf("Idle power of %s is not known, and so no net energy: %s.", short(idle.Meter), short(idle.Absent)))
		}
		for _, warning := range idle.Warnings {
			if note := sentence(short(warning)); !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// unread says which meters gave no energy at all, and why.
func unread(run stopwatt.Run) []string {
	var notes []string
	for _, meter := range run.Meters {
		if meter.Absent != "" {
			notes = append(notes, fmt.Sprintf("No energy by %s: %s.", short(meter.Name), short(meter.Absent)))
		}
	}
	return notes
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// hasEnergy tells whether one of the metrics is of energy.
func hasEnergy(metrics []stopwatt.Metric) bool {
	return slices.ContainsFunc(metrics, func(m stopwatt.Metric) bool { _, is := stopwatt.MeterOf(m.Name); return is })
}

// metersNote says in a line how the meters stand to each other, and by which
// command more is said; empty where there are not two.
func metersNote(c stopwatt.MeterContrast, more string) string {
	if len(c.Meters) < 2 {
		return ""
	}
	var parts []string
	for other := range c.Meters[1:] {
		if text := ratioRange(c, other); text != "" {
			parts = append(parts, text)
		}
	}
	return sentence(strings.Join(append(parts, alike(c)), "; ") + " (" + more + ")")
}

// ratioRange says between what the first meter divided by another one lies.
func ratioRange(c stopwatt.MeterContrast, other int) string {
	var low, high stopwatt.Ratio
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			ratio := row.Ratios[other]
			if ratio.Known && (!low.Known || ratio.Value < low.Value) {
				low = ratio
			}
			if ratio.Known && (!high.Known || ratio.Value > high.Value) {
				high = ratio
			}
		}
	}
	name := over(c, other)
	switch from, to := plainRatio(low.Value), plainRatio(high.Value); {
	case !low.Known:
		return ""
	case from == to:
		return name + " is " + from
	default:
		return fmt.Sprintf("%s is %s to %s", name, from, to)
	}
}

// over names the first meter divided by another one: "board ÷ cpu".
func over(c stopwatt.MeterContrast, other int) string {
	return Clean(c.Meters[0].Name) + " ÷ " + short(c.Meters[other+1].Name)
}

// alike says whether the meters order the implementations alike.
func alike(c stopwatt.MeterContrast) string {
	meters := fmt.Sprintf("the %d meters", len(c.Meters))
	if len(c.Meters) == 2 {
		meters = "the two meters"
	}
	if c.Comparable == 0 {
		return "no workload has two implementations with a number of each meter"
	}
	return fmt.Sprintf("%s order the implementations alike in %d of %s", meters, c.Alike, plural(c.Comparable, "workload"))
}
