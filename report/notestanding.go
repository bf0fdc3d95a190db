package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A standing is how a case stands on one machine: what is said of it now, and what
// an earlier measurement has found.
type standing struct {
	judged
	earlier  []Earlier // for the worse then, and not now
	machine  int
	repeated []Earlier // for the worse then, and again now
}

// standingsOf are the cases of one machine, as they were judged. Comparisons of a
// metric that could not be judged at all are told once, not case by case.
func standingsOf(m Measured) []standing {
	var all []standing
	at := map[stopwatt.Case]int{}
	of := func(c stopwatt.Case) *standing {
		if _, seen := at[c]; !seen {
			at[c] = len(all)
			all = append(all, standing{judged: judged{of: c}})
		}
		return &all[at[c]]
	}
	if j := m.Results.Judgement; j != nil {
		without := unjudged(*j)
		for _, c := range j.Comparisons {
			if s := of(c.Case); !isAmong(without, c.Metric) {
				s.comparisons = append(s.comparisons, c)
			}
		}
	}
	for _, e := range m.Earlier {
		if s := of(e.Comparison.Case); s.verdictOf(e.Comparison.Metric) == stopwatt.Regressed {
			s.repeated = append(s.repeated, e)
		} else {
			s.earlier = append(s.earlier, e)
		}
	}
	return slices.DeleteFunc(all, func(s standing) bool { return len(s.comparisons) == 0 && len(s.earlier) == 0 })
}

// verdictOf is what is said of one metric now.
func (s standing) verdictOf(metric stopwatt.Metric) stopwatt.Verdict {
	for _, c := range s.comparisons {
		if c.Metric.Name == metric.Name {
			return c.Verdict
		}
	}
	return ""
}

// unjudged are the metrics of which no comparison was judged, although the cases were
// measured: a meter that could not be read.
func unjudged(j stopwatt.Judgement) []stopwatt.Metric {
	measured := map[stopwatt.Case]bool{}
	judged := map[string]bool{}
	for _, c := range j.Comparisons {
		measured[c.Case] = measured[c.Case] || c.Estimate.N > 0
	}
	var metrics []stopwatt.Metric
	for _, c := range j.Comparisons {
		switch {
		case c.Verdict == stopwatt.Identical, c.Verdict == stopwatt.New:
			continue
		case c.Verdict != stopwatt.Missing && c.Verdict != stopwatt.NotJudged, !measured[c.Case]:
			judged[c.Metric.Name] = true
		}
		if !isAmong(metrics, c.Metric) {
			metrics = append(metrics, c.Metric)
		}
	}
	return slices.DeleteFunc(metrics, func(m stopwatt.Metric) bool { return judged[m.Name] })
}

func isAmong(metrics []stopwatt.Metric, metric stopwatt.Metric) bool {
	return slices.ContainsFunc(metrics, func(m stopwatt.Metric) bool { return m.Name == metric.Name })
}

// worse tells whether a change for the worse is left that nobody accepted.
func (s standing) worse() bool {
	return slices.ContainsFunc(s.comparisons, isWorse) ||
		slices.ContainsFunc(s.earlier, func(e Earlier) bool { return e.Comparison.Accepted == nil })
}

func isWorse(c stopwatt.Comparison) bool {
	return c.Verdict == stopwatt.Regressed && c.Accepted == nil
}

// word is what a case's standing is called: "regressed", "faster but hungrier",
// "regressed earlier", "regressed, accepted".
func (s standing) word() string {
	word := ""
	if len(s.comparisons) > 0 {
		word = s.verdict()
	}
	switch {
	case s.rank() > 0 && len(s.earlier) > 0:
		word = "regressed before"
	case s.rank() > 0:
		return word
	}
	if !s.worse() {
		word += ", accepted"
	}
	return word
}

// place is where a standing comes among others: what nobody accepted first.
func (s standing) place() int {
	switch {
	case s.worse():
		return -2
	case s.rank() == 0 || len(s.earlier) > 0:
		return -1
	}
	return s.rank()
}

// tells is false of a case in which nothing happened.
func (s standing) tells() bool { return len(s.earlier) > 0 || s.judged.tells() }

// told are the standings that have something to say, the worst first, and all.
func (n *note) told() (told, all []standing) {
	for i, m := range n.of.Machines {
		for _, s := range standingsOf(m) {
			s.machine = i
			all = append(all, s)
		}
	}
	for _, s := range all {
		if s.tells() {
			told = append(told, s)
		}
	}
	slices.SortStableFunc(told, func(a, b standing) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(b.size(), a.size()))
	})
	return told, all
}

// heading is the verdict of the whole note, in one line.
func (n *note) heading() string {
	if len(n.of.Machines) == 1 && len(n.of.Missing) == 0 {
		return n.headingOf(n.of.Machines[0])
	}
	var parts []string
	shown := min(4, max(1, n.room.remarks))
	for i, m := range n.of.Machines {
		if i < shown {
			parts = append(parts, n.headingOf(m)+" on "+n.machine(i))
		}
	}
	if more := len(n.of.Machines) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more machines", more))
	}
	switch missing := n.of.Missing; len(missing) {
	case 0:
	case 1:
		parts = append(parts, "nothing from "+n.name(missing[0].Name))
	default:
		parts = append(parts, fmt.Sprintf("nothing from %d machines", len(missing)))
	}
	if parts == nil {
		return "nothing was measured"
	}
	return strings.Join(parts, "; ")
}

// machine names one of several.
func (n *note) machine(index int) string {
	return n.name(cmp.Or(n.of.Machines[index].Results.Run.Machine.Name, "a machine without a name"))
}

// headingOf is the verdict of one machine.
func (n *note) headingOf(m Measured) string {
	text := standingsText(m)
	if without := metricNames(nothingWorseBut(m)); without != nil {
		text += "; " + few(without) + " not judged"
	}
	if again := againText(m); again != "" {
		text += " (" + again + ")"
	}
	if m.Results.Run.Status == stopwatt.Aborted {
		text += "; the run was stopped"
	}
	return text
}

// nothingWorseBut are the metrics that the verdict says nothing about.
func nothingWorseBut(m Measured) []stopwatt.Metric {
	if m.Results.Judgement == nil {
		return nil
	}
	return unjudged(*m.Results.Judgement)
}

// standingsText counts the cases by how they stand: "1 regressed, 1 undecided".
func standingsText(m Measured) string {
	all := standingsOf(m)
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(a.place(), b.place()) })
	var words []string
	count := map[string]int{}
	worst, told := len(ranks), 0
	for _, s := range all {
		if !s.tells() {
			continue
		}
		told++
		worst = min(worst, s.place())
		if count[s.word()]++; count[s.word()] == 1 {
			words = append(words, s.word())
		}
	}
	for i, word := range words {
		words[i] = thousands(fmt.Sprint(count[word])) + " " + word
	}
	text := strings.Join(words, ", ")
	nothing := worst >= slices.Index(ranks, stopwatt.New) || worst == slices.Index(ranks, stopwatt.Improved) && !hasDoubtful(all)
	switch {
	case m.unmeasurable():
		return "could not be measured"
	case m.Results.Judgement == nil && told == 0:
		return "no baseline yet"
	case len(all) == 0 && len(nothingWorseBut(m)) > 0: // there is something to compare with
		return "no verdict"
	case len(all) == 0 || told == 0 && allNew(all):
		return "nothing to compare with"
	case nothing && told > 0:
		return "nothing worse, " + text
	case nothing:
		return "nothing worse" + inMetrics(m)
	}
	return text
}

// hasDoubtful tells whether a case could have become worse without being seen to.
func hasDoubtful(all []standing) bool {
	return slices.ContainsFunc(all, func(s standing) bool {
		return slices.ContainsFunc(s.comparisons, func(c stopwatt.Comparison) bool {
			return c.Verdict == stopwatt.Undecided || c.Verdict == stopwatt.Missing || c.Verdict == stopwatt.NotJudged
		})
	})
}

func allNew(all []standing) bool {
	return !slices.ContainsFunc(all, func(s standing) bool { return s.rank() != slices.Index(ranks, stopwatt.New) })
}

// inMetrics says of which metrics nothing is worse, where that is not of all.
func inMetrics(m Measured) string {
	without := nothingWorseBut(m)
	if len(without) == 0 {
		return ""
	}
	var with []stopwatt.Metric
	for _, c := range m.Results.Judgement.Comparisons {
		if !isAmong(without, c.Metric) && !isAmong(with, c.Metric) {
			with = append(with, c.Metric)
		}
	}
	return " in " + few(metricNames(with))
}

// againText says of a measurement that was repeated what the earlier one said.
func againText(m Measured) string {
	jobs := map[bool][]string{}
	for _, s := range standingsOf(m) {
		for _, e := range append(slices.Clone(s.earlier), s.repeated...) {
			same := slices.ContainsFunc(s.repeated, func(r Earlier) bool { return r.Job == e.Job && r.Run == e.Run })
			if name := e.name(); !slices.Contains(jobs[same], name) {
				jobs[same] = append(jobs[same], name)
			}
		}
	}
	if len(jobs) == 0 {
		if m.Attempt > 1 {
			return ordinal(m.Attempt) + " measurement"
		}
		return ""
	}
	text := cmp.Or(ordinal(m.Attempt), "another") + " measurement"
	if same := jobs[true]; same != nil {
		text += "; " + few(same) + " said the same"
	}
	if other := jobs[false]; other != nil {
		text += "; " + few(other) + " found what this one did not"
	}
	return text
}

// few joins what there is, three of many.
func few(parts []string) string {
	const most = 3
	if len(parts) <= most {
		return strings.Join(parts, " and ")
	}
	return strings.Join(parts[:most], ", ") + fmt.Sprintf(" and %d more", len(parts)-most)
}

// name is how an earlier measurement is called.
func (e Earlier) name() string {
	if e.Job > 0 {
		return fmt.Sprintf("job %d", e.Job)
	}
	return fmt.Sprintf("run %d", e.Run)
}

// ordinal is which measurement it is; empty for the first.
func ordinal(n int) string {
	switch {
	case n < 2:
		return ""
	case n < 6:
		return []string{"second", "third", "fourth", "fifth"}[n-2]
	}
	return fmt.Sprintf("%dth", n)
}
