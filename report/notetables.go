package report

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// folded writes something that is shown when somebody asks for it. The summary is
// ours: no Markdown is rendered in it.
func (n *note) folded(summary string, write func()) {
	n.lines("", "<details><summary>"+summary+"</summary>", "")
	write()
	n.lines("</details>")
}

// wholeTables fold away every case of each machine.
func (n *note) wholeTables() {
	for i, m := range n.of.Machines {
		if m.Results.Judgement == nil {
			n.unjudgedTable(i, m)
		} else {
			n.wholeTable(i, m)
		}
	}
}

// wholeTable folds away all comparisons of a machine.
func (n *note) wholeTable(machine int, m Measured) {
	j := *m.Results.Judgement
	cases := told(j, true)
	if len(cases) == 0 {
		return
	}
	var metrics []stopwatt.Metric
	for _, c := range j.Comparisons {
		if !isAmong(metrics, c.Metric) {
			metrics = append(metrics, c.Metric)
		}
	}
	beside := across(metrics)
	summary := map[bool]string{true: "The one case", false: fmt.Sprintf("All %d cases", len(cases))}[len(cases) == 1]
	if j.Family > 0 {
		summary += fmt.Sprintf(": %s, judged together", plural(j.Family, "comparison"))
	}
	n.folded(summary+n.whichMachine(machine), func() {
		n.onMachine(machine)
		n.table(beside, cases, func(of judged, metric stopwatt.Metric) string { return wholeCell(m, of, metric) })
		n.lines("", strings.Join(n.wholeNotes(m), "<br>\n"))
	})
}

// table writes a row for each case that there is room for, and how many are left out.
func (n *note) table(beside columns, cases []judged, say func(judged, stopwatt.Metric) string) {
	n.lines(beside.heading("case"))
	shown := cases[:min(len(cases), n.room.whole)]
	for _, of := range shown {
		cells := beside.cells(func(metric stopwatt.Metric) string { return say(of, metric) })
		n.lines(row(append([]string{n.name(of.of.Implementation) + "<br>" + n.name(of.of.Workload)}, cells...)...))
	}
	if left := len(cases) - len(shown); left > 0 {
		n.lines("", fmt.Sprintf("Left out here: %s; the report has all.", plural(left, "more case")))
	}
}

// whichMachine tells machines apart in a summary, where no name may stand.
func (n *note) whichMachine(index int) string {
	if len(n.of.Machines) < 2 {
		return ""
	}
	return fmt.Sprintf("; machine %d of %d", index+1, len(n.of.Machines))
}

// onMachine names the machine of a folded table, where there are several.
func (n *note) onMachine(index int) {
	if n.several() {
		n.lines("On "+n.machine(index)+":", "")
	}
}

// wholeCell is one comparison, values first.
func wholeCell(m Measured, of judged, metric stopwatt.Metric) string {
	for _, c := range of.comparisons {
		if c.Metric.Name != metric.Name {
			continue
		}
		if c.Verdict == stopwatt.Identical {
			return "identical" + storedText(m, c.Case, metric)
		}
		parts := []string{changeInBold(c)}
		if values := FromTo(c); values != "" {
			parts = []string{inCell(values), changeInBold(c)}
		}
		if interval := ChangeInterval(c); interval != "" {
			parts = append(parts, interval)
		}
		return strings.Join(parts, "<br>")
	}
	return ""
}

// storedText is what the latest stored run says of a case that was not measured.
func storedText(m Measured, of stopwatt.Case, metric stopwatt.Metric) string {
	for _, stored := range m.Stored {
		if stored.Case != of {
			continue
		}
		for _, s := range stored.Summaries {
			if s.Metric == metric.Name {
				return fmt.Sprintf("<br>stored: %s<br>in run %d", inCell(Value(metric, s.Median)), stored.Run)
			}
		}
	}
	return ""
}

// wholeNotes say what the figures of the folded table are.
func (n *note) wholeNotes(m Measured) []string {
	j := *m.Results.Judgement
	notes := []string{"Medians, base → head; the change is that of the pairs, with its 95 % interval.", plainly(procedureNote(j))}
	if slices.ContainsFunc(j.Comparisons, func(c stopwatt.Comparison) bool { return c.Metric.Unit == "J" }) {
		notes = append(notes, energyJudged(m.Results.Run))
	}
	if len(m.Stored) > 0 {
		notes = append(notes, "What is stored is of the same image on this machine, for reading only.")
	}
	return notes
}

// unjudgedTable folds away what was measured where there was nothing to judge it by.
func (n *note) unjudgedTable(machine int, m Measured) {
	var cases []judged
	var metrics []stopwatt.Metric
	results := map[stopwatt.Case]stopwatt.CaseResult{}
	for _, result := range m.Results.Cases {
		if result.Revision == stopwatt.Base || result.Valid == 0 {
			continue
		}
		cases = append(cases, judged{of: result.Case})
		results[result.Case] = result
		workload, _ := m.Results.Run.Settings.Workload(result.Case.Workload)
		for _, threshold := range m.Results.Run.Thresholds(workload) {
			if metric, known := m.Results.Metric(threshold.Judged()); known && !isAmong(metrics, metric) && occursIn(result, metric) {
				metrics = append(metrics, metric)
			}
		}
	}
	if len(cases) == 0 || len(metrics) == 0 {
		return
	}
	n.folded("What was measured: "+plural(len(cases), "case")+n.whichMachine(machine), func() {
		n.onMachine(machine)
		n.table(across(metrics), cases, func(of judged, metric stopwatt.Metric) string {
			s, has := results[of.of].Summary(metric.Name)
			if !has {
				return ""
			}
			return inCell(Value(metric, s.Median)) + storedText(m, of.of, metric)
		})
		n.lines("", "Medians of the valid trials. No verdict: there was no base to measure beside.")
	})
}

// contrasts fold away how the implementations stand to their baseline.
func (n *note) contrasts() {
	for i, m := range n.of.Machines {
		c := m.Contrast
		beside := contrastMetrics(c)
		if len(c.Workloads) == 0 || len(c.Implementations) < 2 || len(beside) == 0 {
			continue
		}
		rows := slices.DeleteFunc(slices.Clone(contrastRows(c)), func(r stopwatt.MeanRow) bool { return !anyKnown(r, beside) })
		if len(rows) == 0 {
			continue // the baseline was not measured, for it is identical in base and head
		}
		n.folded("Implementations against the baseline, at this head"+n.whichMachine(i), func() {
			n.onMachine(i)
			cells := []string{"against " + n.name(c.Baseline)}
			for _, at := range beside {
				cells = append(cells, metricTitle(c.Metrics[at]))
			}
			n.lines(row(cells...), "|"+strings.Repeat(":--|", len(cells)))
			for _, r := range rows[:min(len(rows), n.room.whole)] {
				cells := []string{n.name(r.Implementation)}
				for _, at := range beside {
					cells = append(cells, ratioCell(r, at, len(c.Workloads)))
				}
				n.lines(row(cells...))
			}
			if left := len(rows) - n.room.whole; left > 0 {
				n.lines("", fmt.Sprintf("Left out here: %s; the report has all.", plural(left, "more implementation")))
			}
			n.lines("", contrastNote(c))
		})
	}
}

// contrastMetrics are the places of the two metrics that a reader looks for: time, and
// energy where there is any.
func contrastMetrics(c stopwatt.Contrast) []int {
	if len(c.Metrics) == 0 {
		return nil
	}
	first := max(0, slices.IndexFunc(c.Metrics, func(m stopwatt.Metric) bool { return m.Name == "time" }))
	second := slices.IndexFunc(c.Metrics, func(m stopwatt.Metric) bool { return m.Unit == "J" })
	if second < 0 {
		second = slices.IndexFunc(c.Metrics, func(m stopwatt.Metric) bool { return strings.HasPrefix(m.Name, "cpu_") })
	}
	if second < 0 || second == first {
		return []int{first}
	}
	return []int{first, second}
}

// contrastRows are the means, or where there is one workload its rows.
func contrastRows(c stopwatt.Contrast) []stopwatt.MeanRow {
	if len(c.Workloads) > 1 {
		return c.Means
	}
	var rows []stopwatt.MeanRow
	for _, r := range c.Workloads[0].Rows {
		if r.Implementation != c.Baseline {
			rows = append(rows, stopwatt.MeanRow{Implementation: r.Implementation, Ratios: r.Ratios})
		}
	}
	return rows
}

// anyKnown tells whether one of these metrics of a row has a ratio.
func anyKnown(r stopwatt.MeanRow, metrics []int) bool {
	return slices.ContainsFunc(metrics, func(at int) bool { return at < len(r.Ratios) && r.Ratios[at].Known })
}

// ratioCell is a change against the baseline, and of how many workloads it is the mean
// where that is not all.
func ratioCell(r stopwatt.MeanRow, metric, workloads int) string {
	if metric >= len(r.Ratios) || metric < len(r.Counts) && r.Counts[metric] == 0 {
		return absent
	}
	ratio := r.Ratios[metric]
	if !ratio.Known {
		return unknown
	}
	text := nearSign(ratio) + signedPercent(ratio.Value)
	if metric < len(r.Counts) && r.Counts[metric] < workloads {
		text += fmt.Sprintf("<br>of %s", plural(r.Counts[metric], "workload"))
	}
	return text
}

// contrastNote says what the ratios are.
func contrastNote(c stopwatt.Contrast) string {
	about := "Change against the baseline's mean, for reading: no verdict."
	if len(c.Workloads) > 1 {
		about = fmt.Sprintf("Change against the baseline's mean, %s mean of %s, for reading: no verdict.", c.Mean, plural(len(c.Workloads), "workload"))
	}
	if hasEnergy(c.Metrics) {
		about += " Energy net is without idle power."
	}
	return about + " ≈: the trials show no difference."
}
