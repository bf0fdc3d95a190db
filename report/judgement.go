package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Judgement writes what head against base was judged, for a terminal: the answer
// in one line, then the cases that matter with their figures, those about which
// there is nothing to say as a count, then what all of it rests on. With All in the
// options every comparison has its lines. No line is wider than the terminal.
func Judgement(w io.Writer, run stopwatt.Run, j stopwatt.Judgement, o JudgementOptions) error {
	o.Width = max(cmp.Or(o.Width, defaultWidth), smallestWidth)
	p := page{run: run, options: Options{Width: o.Width}}
	p.text(againstLine(run))
	p.text(Answer(j))
	for _, of := range told(j, o.All) {
		p.lines = append(p.lines, "")
		p.lines = append(p.lines, judgedCase(of, o.Width)...)
	}
	if quiet := quietCount(j); quiet != "" && !o.All {
		p.lines = append(p.lines, "")
		p.text(fmt.Sprintf("%s stopwatt compare %d --all lists them.", quiet, run.ID))
	}
	p.lines = append(p.lines, "")
	for _, note := range restsOn(run, j) {
		p.text(note)
	}
	return p.write(w)
}

// JudgementOptions say how a judgement is shown.
type JudgementOptions struct {
	Width int  // of the terminal, in columns; 0: 80
	All   bool // the unchanged and the identical too, each on its own
}

// againstLine says what was measured against what.
func againstLine(run stopwatt.Run) string {
	parts := whichRun(run)
	return dotted(append([]string{short(run.Suite)}, append(parts, "against "+checkout(run.Against))...)...)
}

// Answer is a judgement in one line: "1 regressed, 1 faster but hungrier, 3
// unchanged".
func Answer(j stopwatt.Judgement) string {
	var parts []string
	count := func(n int, what string) {
		if n > 0 {
			parts = append(parts, thousands(fmt.Sprint(n))+" "+what)
		}
	}
	trades := j.Trades()
	count(j.Count(stopwatt.Regressed)-traded(trades, stopwatt.Regressed), "regressed")
	for _, trade := range trades {
		parts = append(parts, "1 "+tradeText(trade))
	}
	count(j.Count(stopwatt.Improved)-traded(trades, stopwatt.Improved), "improved")
	count(j.Count(stopwatt.Undecided), "undecided")
	count(j.Count(stopwatt.Missing), "missing")
	count(j.Count(stopwatt.New), "new")
	count(j.Count(stopwatt.NotJudged), "not judged")
	count(j.Count(stopwatt.Unchanged), "unchanged")
	count(j.Count(stopwatt.Identical), "identical")
	if len(parts) == 0 {
		return "nothing was judged"
	}
	text := strings.Join(parts, ", ")
	if nothingWorse(j) {
		text = "nothing worse: " + text
	}
	return text
}

// nothingWorse tells whether everything that could have become worse was judged,
// and is not.
func nothingWorse(j stopwatt.Judgement) bool {
	for _, verdict := range []stopwatt.Verdict{stopwatt.Regressed, stopwatt.Undecided, stopwatt.Missing, stopwatt.NotJudged} {
		if j.Count(verdict) > 0 {
			return false
		}
	}
	return j.Count(stopwatt.New) < len(j.Comparisons)
}

// traded counts the comparisons with this verdict that belong to a trade.
func traded(trades []stopwatt.Trade, verdict stopwatt.Verdict) int {
	n := 0
	for _, trade := range trades {
		if verdict == stopwatt.Regressed {
			n += len(trade.Worse)
		} else {
			n += len(trade.Better)
		}
	}
	return n
}

// tradeText says what became better and what worse: "faster but hungrier".
func tradeText(trade stopwatt.Trade) string {
	return changeWord(trade.Better[0]) + " but " + changeWord(trade.Worse[0])
}

// changeWord is what a comparison's change is called, by its direction.
func changeWord(c stopwatt.Comparison) string {
	less, more := changeWords(c.Metric)
	if c.Estimate.Ratio.Value < 1 {
		return less
	}
	return more
}

// changeWords are what having less and more of a judged metric is called.
func changeWords(metric stopwatt.Metric) (less, more string) {
	if metric.Unit == "J" || metric.Unit == "W" {
		return "thriftier", "hungrier"
	}
	return words(metric)
}

// A judged is a case with its comparisons.
type judged struct {
	of          stopwatt.Case
	comparisons []stopwatt.Comparison
}

// told are the cases that have something to say, what is worst first.
func told(j stopwatt.Judgement, all bool) []judged {
	var cases []judged
	at := map[stopwatt.Case]int{}
	for _, c := range j.Comparisons {
		if _, seen := at[c.Case]; !seen {
			at[c.Case] = len(cases)
			cases = append(cases, judged{of: c.Case})
		}
		cases[at[c.Case]].comparisons = append(cases[at[c.Case]].comparisons, c)
	}
	if !all {
		cases = slices.DeleteFunc(cases, func(of judged) bool { return !of.tells() })
	}
	slices.SortStableFunc(cases, func(a, b judged) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.size(), a.size()))
	})
	return cases
}

// ranks are the verdicts in the order in which they matter to a reader.
var ranks = []stopwatt.Verdict{stopwatt.Regressed, stopwatt.Improved, stopwatt.Undecided, stopwatt.Missing,
	stopwatt.NotJudged, stopwatt.New, stopwatt.Unchanged, stopwatt.Identical}

// rank is that of the case's weightiest verdict.
func (of judged) rank() int {
	rank := len(ranks)
	for _, c := range of.comparisons {
		rank = min(rank, slices.Index(ranks, c.Verdict))
	}
	return rank
}

// size is the largest change of the case that its rank rests on.
func (of judged) size() float64 {
	size := 0.0
	for _, c := range of.comparisons {
		if c.Estimate.Ratio.Known && c.Verdict == ranks[min(of.rank(), len(ranks)-1)] {
			size = max(size, math.Abs(math.Log(c.Estimate.Ratio.Value)))
		}
	}
	return size
}

// tells is false of a case in which nothing happened.
func (of judged) tells() bool {
	return slices.ContainsFunc(of.comparisons, func(c stopwatt.Comparison) bool {
		return c.Verdict != stopwatt.Unchanged && c.Verdict != stopwatt.Identical && c.Verdict != stopwatt.New
	})
}

// title is what became of the case, and its name.
func (of judged) title() string { return of.verdict() + "  " + short(of.of.String()) }

// verdict is what became of the case, in a word or three.
func (of judged) verdict() string {
	verdict := string(of.comparisons[0].Verdict)
	if rank := of.rank(); rank < len(ranks) {
		verdict = string(ranks[rank])
	}
	for _, trade := range (stopwatt.Judgement{Comparisons: of.comparisons}).Trades() {
		verdict = tradeText(trade)
	}
	return verdict
}

// judgedCase is a case's title and a line or two for each of its comparisons.
func judgedCase(of judged, columns int) []string {
	lines := wrap(of.title(), columns, 2)
	var rows [][]string
	var names []string
	for _, c := range of.comparisons {
		rows, names = append(rows, comparisonCells(c)), append(names, label(c.Metric))
	}
	for i := range rows {
		rows[i][0] = left(rows[i][0], longest(names))
	}
	for i, row := range align(rows, "  ") {
		if width(row) > columns-2 {
			lines = append(lines, indented(wrap(strings.Join(rows[i], "  "), columns-2, 2))...)
		} else {
			lines = append(lines, "  "+strings.TrimRight(row, " "))
		}
		for _, more := range remarks(of.comparisons[i]) {
			lines = append(lines, indented(indented(wrap(more, columns-4, 0)))...)
		}
	}
	return lines
}

func indented(lines []string) []string {
	for i, line := range lines {
		lines[i] = "  " + line
	}
	return lines
}

// comparisonCells are metric, change, interval, values and verdict.
func comparisonCells(c stopwatt.Comparison) []string {
	return []string{label(c.Metric), Change(c), ChangeInterval(c), FromTo(c), string(c.Verdict)}
}

// Change is a comparison's change in percent with what it means: "+8.3 % slower".
// It is "–" where there is none.
func Change(c stopwatt.Comparison) string {
	ratio := c.Estimate.Ratio
	if !ratio.Known {
		return absent
	}
	text := signedPercent(ratio.Value)
	if c.Verdict == stopwatt.Regressed || c.Verdict == stopwatt.Improved {
		text += " " + changeWord(c)
	}
	return text
}

// ChangeInterval is the interval of a change: "+7.4 … +9.2 %"; empty where there
// is none.
func ChangeInterval(c stopwatt.Comparison) string {
	ratio := c.Estimate.Ratio
	if !ratio.Bounded {
		return ""
	}
	return strings.TrimSuffix(signedPercent(ratio.Low), " %") + " … " + signedPercent(ratio.High)
}

// FromTo is base and head in one unit: "6.76 → 7.32 s"; empty where nothing was
// measured.
func FromTo(c stopwatt.Comparison) string {
	if c.Estimate.N == 0 {
		return ""
	}
	base, head := c.Estimate.Base, c.Estimate.Head
	u := suitable(c.Metric, min(math.Abs(base), math.Abs(head)), max(math.Abs(base), math.Abs(head)))
	decimals := max(decimalsFor(base/u.size, 3), 1)
	if base == math.Trunc(base) && head == math.Trunc(head) && u.size == 1 {
		decimals = 0 // counts
	}
	return fixed(base/u.size, decimals) + " → " + u.with(fixed(head/u.size, decimals))
}

// signedPercent is a ratio as a change: "+8.3 %", "−0.04 %".
func signedPercent(ratio float64) string {
	change := (ratio - 1) * 100
	decimals := 1
	switch size := math.Abs(change); {
	case size >= 999.5:
		decimals = 0
	case size < 0.095 && size > 0:
		decimals = 2
	}
	text := fixed(change, decimals) + " %"
	if change > 0 && strings.Trim(text, "0. %") != "" {
		text = "+" + text
	}
	return text
}

// remarks are what is to be said of a comparison beside its figures.
func remarks(c stopwatt.Comparison) []string {
	var all []string
	if c.Verdict == stopwatt.Undecided && c.More > 0 {
		all = append(all, fmt.Sprintf("about %d more %s would decide", c.More, strings.TrimLeft(plural(c.More, "round"), "0123456789, ")))
	}
	if c.Accepted != nil {
		all = append(all, acceptedText(*c.Accepted))
	}
	for _, doubt := range c.Doubts {
		all = append(all, DoubtText(doubt))
	}
	return all
}

// acceptedText says who meant a change for the worse, and why.
func acceptedText(a stopwatt.Acceptance) string {
	text := "accepted: " + Clean(a.Reason)
	if a.By != "" {
		text += ", by " + Clean(a.By)
	}
	if a.Commit != "" {
		text += " in " + Clean(stopwatt.Commit{SHA: a.Commit}.Short())
	}
	return text
}

// quietCount is how many cases have nothing to tell.
func quietCount(j stopwatt.Judgement) string {
	quiet := map[stopwatt.Verdict]int{}
	for _, of := range told(j, true) {
		if !of.tells() {
			quiet[ranks[of.rank()]]++
		}
	}
	var parts []string
	for _, verdict := range []stopwatt.Verdict{stopwatt.New, stopwatt.Unchanged, stopwatt.Identical} {
		if n := quiet[verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", plural(n, "case"), map[stopwatt.Verdict]string{
				stopwatt.New:       "new: nothing at the base to compare with",
				stopwatt.Unchanged: "unchanged",
				stopwatt.Identical: "identical in base and head, not measured",
			}[verdict]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// restsOn are the sentences about what a judgement rests on.
func restsOn(run stopwatt.Run, j stopwatt.Judgement) []string {
	notes := []string{procedureNote(j)}
	if p := j.Procedure; len(p.Looks) > 0 && j.Family > 0 && !p.Reachable(j.Family) {
		notes = append(notes, fmt.Sprintf("%s can tell nothing of %s judged together: it takes --rounds %d.",
			plural(p.Rounds(), "round"), plural(j.Family, "comparison"), p.Reach(j.Family)))
	}
	if smallest := SmallestSeen(j); smallest != "" {
		notes = append(notes, "Smallest change this run could see: "+smallest+".")
	}
	if n := len(j.Removed); n > 0 {
		notes = append(notes, fmt.Sprintf("%s of the base removed: %s.", plural(n, "case"), caseList(j.Removed)))
	}
	if j.Stopped != "" {
		notes = append(notes, "Stopped before everything was decided: "+Clean(j.Stopped)+".")
	}
	for _, note := range j.Notes {
		notes = append(notes, strings.TrimSuffix(Clean(note), ".")+".")
	}
	if slices.ContainsFunc(j.Comparisons, func(c stopwatt.Comparison) bool { return c.Metric.Unit == "J" }) {
		notes = append(notes, energyJudged(run))
	}
	return notes
}

// caseList lists cases, the first few of many.
func caseList(cases []stopwatt.Case) string {
	const few = 8
	var names []string
	for _, c := range cases[:min(len(cases), few)] {
		names = append(names, Clean(c.String()))
	}
	if more := len(cases) - few; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// energyJudged says which energy was judged.
func energyJudged(run stopwatt.Run) string {
	if run.Settings.Judge.Net {
		return "Energy is net: idle power is taken off."
	}
	return "Energy is gross: idle power is in it."
}

// procedureNote says how the verdicts came about.
func procedureNote(j stopwatt.Judgement) string {
	switch {
	case len(j.Procedure.Looks) == 0:
		return "Two runs at two times: Mann and Whitney's shift with its 95 % interval."
	case j.Family == 0 && j.Over() && slices.ContainsFunc(j.Comparisons, func(c stopwatt.Comparison) bool { return c.Estimate.N > 0 }):
		return "Nothing was judged; 95 % intervals of the paired trials' ratios."
	case j.Family == 0 && j.Over():
		return "No case was measured at both base and head."
	case j.Look == 0:
		return fmt.Sprintf("Not judged yet: the first look comes after %s.", plural(firstLook(j), "round"))
	}
	text := fmt.Sprintf("Judged after %s, %s together; 95 %% intervals of the paired trials' ratios.",
		plural(j.Procedure.Looks[j.Look-1].Rounds, "round"), plural(j.Family, "comparison"))
	if slices.ContainsFunc(j.Comparisons, func(c stopwatt.Comparison) bool { return c.Found != nil }) {
		text += fmt.Sprintf(" What is called regressed or improved was found in these and confirmed in %d fresh pairs, whose figures are shown.", j.Procedure.Confirm)
	}
	return text
}

func firstLook(j stopwatt.Judgement) int {
	if len(j.Procedure.Looks) == 0 {
		return 0
	}
	return j.Procedure.Looks[0].Rounds
}
