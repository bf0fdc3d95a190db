package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// AfterMergeOf is what is told to a merge request about the default branch, once it
// has been merged.
type AfterMergeOf struct {
	Suite   string
	Branch  string // the default branch
	Project string // URL below which its commits are found
	// Commit is what the merge request brought to the branch.
	Commit string
	Seen   []SeenChange
	Bytes  int // as that of NoteOf
}

// A SeenChange is a change point whose commits may be those of the merge request.
type SeenChange struct {
	Case    stopwatt.Case
	Metric  stopwatt.Metric
	Against string // of a relation, the other implementation
	Machine string
	Change  stopwatt.ChangePoint
	Chart   string // URL
}

// mostSeen is how many changes are told of one by one.
const mostSeen = 20

// AfterMerge is the Markdown of a note about change points: one line in the heading
// that says how far they have come, and one item for each, the surest first.
func AfterMerge(of AfterMergeOf) string {
	seen := slices.Clone(of.Seen)
	slices.SortStableFunc(seen, func(a, b SeenChange) int { return cmp.Compare(stateRank(a), stateRank(b)) })
	head := "### stopwatt " + codeWithin(of.Suite, 60) + ": " + afterHeading(seen, codeWithin(cmp.Or(of.Branch, "the default branch"), 60)) + "\n\n"
	for most := min(len(seen), mostSeen); ; most-- {
		body := head
		for _, s := range seen[:most] {
			body += "- " + of.item(s) + "\n"
		}
		if left := len(seen) - most; left > 0 {
			body += "- Left out here: " + plural(left, "more change") + ".\n"
		}
		if most == 0 || len(body) <= cmp.Or(of.Bytes, DefaultNoteBytes) {
			return body
		}
	}
}

// states are those of change points, the surest first.
var states = []stopwatt.ChangeState{stopwatt.Confirmed, stopwatt.Suspected, stopwatt.Withheld, stopwatt.Withdrawn}

func stateRank(s SeenChange) int { return slices.Index(states, s.Change.State) }

// afterHeading counts the changes by their states.
func afterHeading(seen []SeenChange, branch string) string {
	var parts []string
	for _, state := range states {
		count := 0
		for _, s := range seen {
			if s.Change.State == state {
				count++
			}
		}
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, state))
		}
	}
	switch {
	case parts == nil:
		return "no change is seen on " + branch + " after the merge"
	case stateRank(seen[0]) == slices.Index(states, stopwatt.Withdrawn):
		return "no longer seen on " + branch + " after the merge"
	}
	return "seen on " + branch + " after the merge: " + strings.Join(parts, ", ")
}

// item is one change: how sure it is, what changed, and which commits may have done it.
func (of AfterMergeOf) item(s SeenChange) string {
	c := s.Change
	text := fmt.Sprintf("**%s**: %s", capital(string(c.State)), codeWithin(s.Case.Implementation, 60)+" "+codeWithin(s.Case.Workload, 60))
	text += ", " + metricWords(s.Metric)
	if s.Against != "" {
		text += " ÷ that of " + codeWithin(s.Against, 60)
	}
	if c.State == stopwatt.Withdrawn {
		text += ", was " + s.change()
	} else {
		text += " **" + s.change() + "**"
	}
	if about := s.about(); about != "" {
		text += " (" + about + ")"
	}
	text += ", since " + of.since(c) + "." + s.certainty()
	if s.Machine != "" {
		text += " On " + codeWithin(s.Machine, 60) + "."
	}
	if address(s.Chart) != "" {
		text += " " + link("Chart", s.Chart)
	}
	return text
}

// change is how large it is, in a word and a sign: "+2.1 % hungrier".
func (s SeenChange) change() string {
	less, more := changeWords(s.Metric)
	if s.Against != "" {
		less, more = "less", "more"
	}
	word := map[bool]string{true: more, false: less}[s.Change.Shift > 0]
	if !s.Change.Ratio.Known {
		return word
	}
	return signedPercent(s.Change.Ratio.Value) + " " + word
}

// about are the interval of the change, and the levels.
func (s SeenChange) about() string {
	var parts []string
	if r := s.Change.Ratio; r.Bounded {
		parts = append(parts, strings.TrimSuffix(signedPercent(r.Low), " %")+" … "+signedPercent(r.High))
	}
	if s.Against == "" {
		parts = append(parts, inCell(FromTo(stopwatt.Comparison{Metric: s.Metric, Estimate: stopwatt.Estimate{N: 1, Base: s.Change.Before.Mean, Head: s.Change.After.Mean}})))
	}
	return strings.Join(parts, "; ")
}

// since names the commits that may have done it.
func (of AfterMergeOf) since(c stopwatt.ChangePoint) string {
	commits := max(c.Reached.Position-c.Past.Position, 1)
	reached := of.place(c.Reached)
	switch {
	case commits == 1 && c.Reached.SHA == of.Commit && of.Commit != "":
		return "this merge request: " + reached
	case commits == 1:
		return reached
	case c.Past.SHA == "":
		return fmt.Sprintf("this merge request or another of the first %d commits, up to %s", commits, reached)
	}
	return fmt.Sprintf("this merge request or another of %d commits: after %s, up to %s", commits, of.place(c.Past), reached)
}

// place links a commit of the branch.
func (of AfterMergeOf) place(c stopwatt.CommitPlace) string {
	if !isSHA.MatchString(c.SHA) || of.Project == "" {
		return shaSpan(c.SHA)
	}
	return link(shaSpan(c.SHA), strings.TrimRight(of.Project, "/")+"/-/commit/"+c.SHA)
}

// certainty says what a state rests on.
func (s SeenChange) certainty() string {
	c := s.Change
	switch {
	case c.State == stopwatt.Confirmed:
		return " Confirmed by " + plural(c.After.N, "measured commit") + " since, beside " + plural(c.Before.N, "commit") + " before."
	case c.State == stopwatt.Suspected:
		return " Suspected: " + plural(c.After.N, "measured commit") + " since; more will confirm or withdraw it."
	case c.State == stopwatt.Withdrawn:
		return " Withdrawn: it is no longer found, now that more commits have been measured."
	case c.Withheld == stopwatt.ControlShifted:
		return " Withheld: the control, which never changes, shifted there too."
	}
	return " Withheld: kernel, governor or Docker changed there too."
}
