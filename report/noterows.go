package report

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// rows writes the table of what matters most.
func (n *note) rows(told []standing) {
	shown := told[:min(len(told), n.room.rows)]
	if len(shown) == 0 {
		n.left(told, shown)
		return
	}
	beside := across(metricsOf(shown))
	n.lines("", beside.heading("case"))
	for _, s := range shown {
		cells := beside.cells(func(metric stopwatt.Metric) string { return n.cell(s, metric, len(beside.others) > 1) })
		n.lines(row(append([]string{n.caseCell(s)}, cells...)...))
	}
	n.left(told, shown)
}

// left says which cases there was no room for.
func (n *note) left(told, shown []standing) {
	if len(told) == len(shown) {
		return
	}
	var words []string
	count := map[string]int{}
	for _, s := range told[len(shown):] {
		if count[s.word()]++; count[s.word()] == 1 {
			words = append(words, s.word())
		}
	}
	for i, word := range words {
		words[i] = thousands(fmt.Sprint(count[word])) + " " + word
	}
	n.paragraph("Not in this table: " + strings.Join(words, ", ") + ".")
}

// caseCell is what became of a case, with its names stacked below.
func (n *note) caseCell(s standing) string {
	word := capital(s.word())
	if s.place() < 0 || s.rank() == slices.Index(ranks, stopwatt.Improved) {
		word = "**" + word + "**"
	}
	parts := []string{word, n.name(s.of.Implementation), n.name(s.of.Workload)}
	if len(n.of.Machines) > 1 {
		parts = append(parts, "on "+n.machine(s.machine))
	}
	return strings.Join(parts, "<br>")
}

// capital begins a word with a capital letter.
func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// cell stacks what is said of one metric. Where several share a cell, those that are
// unchanged are left out.
func (n *note) cell(s standing, metric stopwatt.Metric, shared bool) string {
	var parts []string
	for _, e := range s.earlier {
		if e.Comparison.Metric.Name == metric.Name {
			where := e.name()
			if n.room.links > 2 {
				where = link(where, e.JobURL)
			}
			parts = append(parts, figuresIn(e.Comparison), "in "+where+"; now:")
		}
	}
	for _, c := range s.comparisons {
		quiet := shared && (c.Verdict == stopwatt.Unchanged || c.Verdict == stopwatt.Identical)
		if c.Metric.Name == metric.Name && (!quiet || len(parts) > 0) {
			parts = append(parts, figuresIn(c))
		}
	}
	if len(parts) == 2 {
		parts[1] = strings.TrimSuffix(parts[1], "; now:")
	}
	return strings.Join(parts, "<br>")
}

// figuresIn stacks change, interval and values of a comparison.
func figuresIn(c stopwatt.Comparison) string {
	parts := []string{changeInBold(c)}
	if interval := ChangeInterval(c); interval != "" {
		parts = append(parts, interval)
	}
	if values := FromTo(c); values != "" {
		parts = append(parts, inCell(values))
	}
	return strings.Join(parts, "<br>")
}

// changeInBold is a change with its verdict: in bold where there is one, for else
// "+1.0 %" would be read as one.
func changeInBold(c stopwatt.Comparison) string {
	decided := c.Verdict == stopwatt.Regressed || c.Verdict == stopwatt.Improved
	text := Change(c)
	switch known := c.Estimate.Ratio.Known; {
	case !known:
		text = string(c.Verdict)
	case !decided:
		text += " " + string(c.Verdict)
	}
	if decided {
		text = "**" + text + "**"
	}
	if c.Accepted != nil {
		text += ", accepted"
	}
	return text
}

// inCell is a value with its unit, which a harness may have named.
func inCell(values string) string { return plainly(values) }

// quiet counts the cases about which there is nothing to say.
func (n *note) quiet(all []standing) string {
	count := map[stopwatt.Verdict]int{}
	told, metrics := 0, metricsOf(all)
	for _, s := range all {
		if s.tells() {
			told++
		} else {
			count[ranks[min(s.rank(), len(ranks)-1)]]++
		}
	}
	var parts []string
	add := func(verdict stopwatt.Verdict, what string) {
		if k := count[verdict]; k > 0 {
			more := map[bool]string{true: " more", false: ""}[told > 0 && len(parts) == 0]
			parts = append(parts, thousands(fmt.Sprint(k))+more+map[bool]string{true: " case ", false: " cases "}[k == 1]+what)
		}
	}
	if len(metrics) <= 2 {
		add(stopwatt.Unchanged, "unchanged in "+strings.Join(metricNames(across(metrics).all()), " and "))
	} else {
		add(stopwatt.Unchanged, "unchanged in "+plural(len(metrics), "metric"))
	}
	add(stopwatt.Identical, "identical in base and head, not measured again")
	add(stopwatt.New, "new, with nothing at the base to compare with")
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// all are the metrics of all columns.
func (c columns) all() []stopwatt.Metric {
	if c.first.Name == "" {
		return nil
	}
	return append([]stopwatt.Metric{c.first}, c.others...)
}

// confirmed says how the bold results were found.
func (n *note) confirmed() string {
	var found []string
	for _, m := range n.of.Machines {
		j := m.Results.Judgement
		if j == nil || !slices.ContainsFunc(j.Comparisons, func(c stopwatt.Comparison) bool { return c.Found != nil }) {
			continue
		}
		text := fmt.Sprintf("What is bold was found within %s and confirmed in %s, whose figures are shown.", plural(roundsOf(m), "round"), plural(j.Procedure.Confirm, "fresh pair"))
		if !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	if len(found) != 1 {
		return map[bool]string{true: "What is bold was found in the rounds and confirmed in fresh pairs, whose figures are shown."}[len(found) > 1]
	}
	return found[0]
}

// roundsOf is how many rounds a judgement rests on.
func roundsOf(m Measured) int {
	if j := m.Results.Judgement; j != nil && j.Look > 0 && j.Look <= len(j.Procedure.Looks) {
		return j.Procedure.Looks[j.Look-1].Rounds
	} else if j != nil && j.Stopped != "" { // before the first look: what was planned is not what was measured
		pairs := 0
		for _, c := range j.Comparisons {
			pairs = max(pairs, c.Estimate.N)
		}
		return pairs
	}
	return m.Results.Run.Rounds
}

// more says how many rounds would decide what is undecided.
func (n *note) more() string {
	most, without := 0, 0
	for _, m := range n.of.Machines {
		if m.Results.Judgement == nil {
			continue
		}
		for _, c := range m.Results.Judgement.Comparisons {
			most = max(most, c.More)
			if c.Verdict == stopwatt.Undecided && c.More == 0 {
				without++
			}
		}
	}
	switch {
	case most == 0:
		return ""
	case without > 0:
		return fmt.Sprintf("Some of what is undecided would take about %s, and some no number of them would decide.", plural(most, "more round"))
	}
	return fmt.Sprintf("What is undecided would take about %s.", plural(most, "more round"))
}

// smallest says which change could have been seen.
func (n *note) smallest() string {
	var parts []string
	for i, m := range n.of.Machines {
		if m.Results.Judgement == nil {
			continue
		}
		if seen := few(smallestSeen(*m.Results.Judgement, metricWords)); seen != "" {
			if n.several() {
				seen += " on " + n.machine(i)
			}
			parts = append(parts, seen)
		}
	}
	if parts == nil {
		return ""
	}
	return "Smallest change this run could see: " + strings.Join(parts[:min(4, len(parts))], "; ") + "."
}
