package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// remarks are what was not measured and why, and all that must be known to read the
// verdict: the most important first.
func (n *note) remarks() []string {
	var all []string
	for i, m := range n.of.Machines {
		on := ""
		if n.several() {
			on = "On " + n.machine(i) + ": "
		}
		for _, remark := range n.remarksOf(m) {
			all = append(all, on+remark)
		}
	}
	for _, m := range n.of.Missing {
		why := "its job stored no result"
		if m.Why != "" {
			why = plainly(short(m.Why))
		}
		all = append(all, "Nothing from "+n.name(m.Name)+": "+why+".")
	}
	if n.of.NotKept != "" {
		all = append(all, "History is not kept: "+plainly(short(n.of.NotKept))+".")
	}
	return all
}

// remarksOf are those of one machine.
func (n *note) remarksOf(m Measured) []string {
	all := slices.Concat(n.noBase(m), n.notJudged(m), n.notMeasured(m), n.failed(m), n.doubted(m))
	j := m.Results.Judgement
	if j != nil && j.Stopped != "" {
		all = append(all, "Stopped before everything was decided: "+plainly(short(j.Stopped))+".")
	}
	if len(m.Removed) > 0 {
		all = append(all, "Removed: "+n.caseNames(m.Removed)+" at the base, and not at the head.")
	}
	for _, change := range m.Changes {
		all = append(all, "The suite judges otherwise at the head, and was judged as the base has it: "+plainly(short(change))+".")
	}
	if j != nil {
		for _, remark := range j.Notes {
			all = append(all, "Beside the change: "+plainly(short(remark))+".")
		}
	}
	for _, remark := range m.Results.Run.Choice.Notes {
		all = append(all, "About the base: "+plainly(short(remark))+".")
	}
	return all
}

// noBase says that nothing can be called better or worse, and what there is instead.
func (n *note) noBase(m Measured) []string {
	if m.Results.Judgement != nil || m.unmeasurable() && m.NoBase == "" {
		return nil
	}
	text := "There is no baseline"
	if m.NoBase != "" {
		text += ": " + plainly(short(m.NoBase))
	}
	text += ". So nothing can be called better or worse."
	if measured := measuredCases(m.Results); measured > 0 {
		text += fmt.Sprintf(" Measured: %s at %s.", plural(measured, "case"), shaSpan(m.Results.Run.Checkout.Commit.SHA))
	}
	if len(m.Stored) > 0 {
		text += " Stored results stand beside it for reading only: another time, no verdict."
	}
	return []string{text}
}

// measuredCases counts the head's cases that have a valid trial.
func measuredCases(results stopwatt.Results) int {
	measured := 0
	for _, result := range results.Cases {
		if result.Valid > 0 && result.Revision != stopwatt.Base {
			measured++
		}
	}
	return measured
}

// notJudged says of each metric about which there is no verdict why.
func (n *note) notJudged(m Measured) []string {
	var all []string
	for _, metric := range nothingWorseBut(m) {
		count := 0
		for _, c := range m.Results.Judgement.Comparisons {
			if c.Metric.Name == metric.Name && c.Verdict != stopwatt.Identical && c.Verdict != stopwatt.New {
				count++
			}
		}
		text := fmt.Sprintf("Not judged: %s, 0 of %s.", metricWords(metric), plural(count, "comparison"))
		if why := withoutNumber(m.Results, metric); why != "" {
			text += " " + why
		}
		if meter, ok := stopwatt.MeterOf(metric.Name); ok {
			for _, known := range m.Results.Run.Meters {
				if known.Name == meter && known.Absent != "" {
					text += " The meter could not be read: " + plainly(short(known.Absent)) + "."
				}
			}
			text += " On the machine, `stopwatt doctor` says more."
		}
		all = append(all, text)
	}
	return all
}

// withoutNumber counts the trials without a number for a metric, by reason.
func withoutNumber(results stopwatt.Results, metric stopwatt.Metric) string {
	trials := 0
	var reasons []tally
	for _, result := range results.Cases {
		trials += result.Valid
		reasons = append(reasons, absences(result, metric.Name)...)
	}
	var parts []string
	for _, reason := range kinds(reasons) {
		parts = append(parts, fmt.Sprintf("%s in %d of %s", plainly(reason.text), reason.count, plural(trials, "trial")))
	}
	if parts == nil {
		return ""
	}
	return "No number: " + strings.Join(parts, "; ") + "."
}

// notMeasured says which cases could not be begun.
func (n *note) notMeasured(m Measured) []string {
	var all []string
	for _, u := range m.Unmeasured {
		if u.Case.Implementation == "" {
			all = append(all, "Nothing can be said of this change: "+code(short(u.Why))+".")
			continue
		}
		all = append(all, "Not measured: "+n.caseName(u.Case)+atRevision(u.Revision)+", "+code(short(u.Why))+".")
	}
	return all
}

// failed says of which cases trials failed, and why. Those that failed alike are told
// of once.
func (n *note) failed(m Measured) []string {
	var all []string
	alike := map[string][]stopwatt.Case{}
	for _, result := range m.Results.Cases {
		if result.Invalid == 0 || result.Part {
			continue
		}
		text := fmt.Sprintf("%s, %d of %s", atRevision(result.Revision), result.Invalid, plural(result.Valid+result.Invalid, "trial"))
		if len(result.Reasons) > 0 {
			text += ": " + code(reasonShown(result.Reasons[0].Reason))
		}
		if more := len(result.Reasons) - 1; more > 0 {
			text += " and " + plural(more, "other reason")
		}
		if alike[text] == nil {
			all = append(all, text)
		}
		alike[text] = append(alike[text], result.Case)
	}
	for i, text := range all {
		cases := alike[text]
		all[i] = "Failed: " + n.caseNames(cases) + map[bool]string{true: ", each"}[len(cases) > 1] + text + "."
	}
	return all
}

// atRevision says at which side, where it is the base.
func atRevision(revision stopwatt.Revision) string {
	if revision == stopwatt.Base {
		return " at the base"
	}
	return ""
}

// doubted are the doubts about what the table tells, each once.
func (n *note) doubted(m Measured) []string {
	var texts []string
	about := map[string][]stopwatt.Comparison{}
	for _, s := range standingsOf(m) {
		for _, c := range s.comparisons {
			if !s.tells() || c.Verdict == stopwatt.Unchanged {
				continue
			}
			for _, doubt := range c.Doubts {
				text := plainly(DoubtText(doubt))
				if about[text] == nil {
					texts = append(texts, text)
				}
				about[text] = append(about[text], c)
			}
		}
	}
	for i, text := range texts {
		texts[i] = "About " + n.comparisonNames(about[text]) + ": " + text + "."
	}
	return texts
}

// comparisonNames names comparisons case by case, not all of many.
func (n *note) comparisonNames(comparisons []stopwatt.Comparison) string {
	const most = 3
	var cases []stopwatt.Case
	metrics := map[stopwatt.Case][]string{}
	for _, c := range comparisons {
		if metrics[c.Case] == nil {
			cases = append(cases, c.Case)
		}
		metrics[c.Case] = append(metrics[c.Case], metricWords(c.Metric))
	}
	var names []string
	for _, c := range cases[:min(most, len(cases))] {
		in := plural(len(metrics[c]), "metric")
		if len(metrics[c]) <= most {
			in = strings.Join(metrics[c], " and ")
		}
		names = append(names, n.caseName(c)+" in "+in)
	}
	text := strings.Join(names, ", ")
	if more := len(cases) - most; more > 0 {
		text += " and " + plural(more, "more case")
	}
	return text
}

// caseNames are the names of cases, not all of many.
func (n *note) caseNames(cases []stopwatt.Case) string {
	const most = 3
	var names []string
	for _, c := range cases[:min(most, len(cases))] {
		names = append(names, n.caseName(c))
	}
	text := strings.Join(names, ", ")
	if more := len(cases) - most; more > 0 {
		text += " and " + plural(more, "more case")
	}
	return text
}

// accepted says who meant what became worse, and why.
func (n *note) accepted() {
	type word struct{ reason, by, commit string }
	var words []word
	about := map[word][]stopwatt.Comparison{}
	hear := func(c stopwatt.Comparison) {
		if c.Accepted == nil {
			return
		}
		w := word{c.Accepted.Reason, c.Accepted.By, c.Accepted.Commit}
		if about[w] == nil {
			words = append(words, w)
		}
		about[w] = append(about[w], c)
	}
	for _, m := range n.of.Machines {
		for _, s := range standingsOf(m) {
			for _, c := range s.comparisons {
				hear(c)
			}
			for _, e := range s.earlier {
				hear(e.Comparison)
			}
		}
	}
	var lines []string
	for _, w := range words[:min(len(words), max(1, n.room.rows))] {
		text := "Accepted: " + n.comparisonNames(about[w]) + ", because " + n.name(cmp.Or(w.reason, "no reason is given"))
		if w.by != "" {
			text += ", by " + n.name(w.by)
		}
		if w.commit != "" {
			text += ", in " + n.commitLink(w.commit)
		}
		lines = append(lines, text+".")
	}
	if more := len(words) - len(lines); more > 0 {
		lines = append(lines, plural(more, "more acceptance")+".")
	}
	n.paragraph(lines...)
}
