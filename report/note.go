package report

import (
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// DefaultNoteBytes is the budget of a note. GitLab takes a million characters and
// renders long before that slowly; nobody reads more than this.
const DefaultNoteBytes = 60_000

// NoteOf is all that the note of one suite on one merge request tells.
type NoteOf struct {
	Suite     string
	SuiteFile string     // as it is given to `stopwatt run`; empty: the usual one
	Machines  []Measured // several only where one closing job tells of them all
	// Missing are the machines that were to measure, and of which nothing was stored.
	Missing []MissingMachine
	Links   Links  // of what all machines have in common
	NotKept string // why history is not kept; empty: it is
	Bytes   int    // the most that the body may have, 2,000 at least; 0: DefaultNoteBytes
}

// Measured is what one machine has to say.
type Measured struct {
	// Results are those of the head, with their judgement; without one there was no
	// base, and NoBase says why.
	Results  stopwatt.Results
	Contrast stopwatt.Contrast // of the head's implementations; empty: none is shown
	NoBase   string
	// Attempt counts how often this pipeline has measured the same, from 1; 0: not
	// known.
	Attempt int
	Earlier []Earlier
	Removed []stopwatt.Case // cases of the base that the head lacks
	// Changes say in what the suite of the head differs from that of the base in how
	// it judges: judge, plan, expect.
	Changes    []string
	Stored     []Stored
	Unmeasured []Unmeasured
	Links      Links // of its own job
}

// Earlier is a change for the worse that an earlier measurement of the same head
// confirmed. It stays in the note: nobody measures until it is gone.
type Earlier struct {
	Run, Job   int64 // 0: not known
	JobURL     string
	Comparison stopwatt.Comparison
}

// Stored is what a stored run says of a case that was not measured again. It is
// for reading only.
type Stored struct {
	Case      stopwatt.Case
	Run       int64
	Summaries []stopwatt.Summary
}

// Unmeasured is a case of which no trial could be begun, and why.
type Unmeasured struct {
	Case     stopwatt.Case // Workload is empty where it is all of them, and Implementation too where it is the whole suite
	Revision stopwatt.Revision
	Why      string
}

// unmeasurable tells whether the whole suite could not be measured.
func (m Measured) unmeasurable() bool {
	return m.Results.Judgement == nil && slices.ContainsFunc(m.Unmeasured, func(u Unmeasured) bool { return u.Case == stopwatt.Case{} })
}

// Unmeasurable tells whether nothing is known of a machine's cases, or of any machine.
func (of NoteOf) Unmeasurable() bool {
	return len(of.Machines) == 0 || slices.ContainsFunc(of.Machines, Measured.unmeasurable)
}

// A MissingMachine was to measure, and nothing came of it.
type MissingMachine struct {
	Name string
	Why  string // empty: nobody knows
}

// Links are addresses that a note leads to. Those that are empty are left out.
type Links struct {
	Report, Job, History string
	Project              string // of the forge, below which its commits are found
}

// Note is the Markdown of a note: the verdict first, then at most five rows, then what
// was not measured, then what all of it rests on; what is long is folded. When it
// is over its budget, whole rows are left out, and how many is said. Foreign text
// stands in code spans, and no line begins with it.
func Note(of NoteOf) string {
	budget := of.Bytes
	if budget == 0 {
		budget = DefaultNoteBytes
	}
	body := ""
	for _, room := range rooms {
		n := note{of: of, room: room}
		if body = n.body(); len(body) <= budget {
			break
		}
	}
	return body
}

// Worse tells whether something regressed that nobody accepted, now or in an earlier
// measurement of the same head.
func (of NoteOf) Worse() bool {
	for _, m := range of.Machines {
		for _, s := range standingsOf(m) {
			if s.worse() {
				return true
			}
		}
	}
	return false
}

// A room says how much may be told.
type room struct {
	rows     int // of the table that is not folded
	whole    int // of each folded table
	remarks  int
	names    int // columns of a name
	links    int
	commands bool // how to accept, how to repeat
}

// rooms are tried one after the other, until the note is within its budget.
var rooms = []room{
	{5, 200, 20, 80, 5, true}, {5, 100, 20, 80, 5, true}, {5, 50, 16, 80, 5, true}, {5, 25, 12, 60, 5, true}, {5, 10, 8, 60, 5, true},
	{5, 0, 6, 60, 5, true}, {5, 0, 4, 40, 5, true}, {3, 0, 3, 32, 3, true}, {2, 0, 2, 24, 2, true}, {1, 0, 1, 24, 1, true},
	{1, 0, 0, 16, 1, false}, {0, 0, 0, 16, 1, false}, {0, 0, 0, 12, 0, false},
}

// A note is a body that is being written.
type note struct {
	of   NoteOf
	room room
	out  strings.Builder
}

func (n *note) body() string {
	told, all := n.told()
	n.lines("### stopwatt " + n.name(n.of.Suite) + ": " + n.heading())
	if n.calm(told) {
		bases := n.bases()
		if !n.several() {
			bases = []string{strings.Join(bases, " · ")}
		}
		n.paragraph(append([]string{joined(n.quiet(all), n.smallest())}, bases...)...)
		return n.out.String()
	}
	n.rows(told)
	if n.room.remarks > 0 {
		n.paragraph(n.quiet(all), n.confirmed(), n.more(), n.smallest())
		n.accepted()
	}
	n.list(n.remarks())
	n.paragraph(n.bases()...)
	if n.room.whole > 0 && (len(told) > 0 || n.hasNoBase()) {
		n.wholeTables()
		n.contrasts()
	}
	if n.room.commands {
		n.commands(told)
	}
	return n.out.String()
}

// calm tells whether three lines say all there is.
func (n *note) calm(told []standing) bool {
	for _, m := range n.of.Machines {
		if m.Results.Judgement == nil || len(nothingWorseBut(m)) > 0 {
			return false
		}
	}
	return len(n.of.Machines) > 0 && len(told) == 0 && len(n.remarks()) == 0
}

// hasNoBase tells whether a machine has figures without a verdict.
func (n *note) hasNoBase() bool {
	return slices.ContainsFunc(n.of.Machines, func(m Measured) bool { return m.Results.Judgement == nil })
}

func (n *note) lines(lines ...string) {
	for _, line := range lines {
		n.out.WriteString(line + "\n")
	}
}

// paragraph writes the lines that there are, set off by an empty one. Of them each
// but the last ends with a break, so that they stay lines.
func (n *note) paragraph(lines ...string) {
	var kept []string
	for _, line := range lines {
		if line != "" {
			kept = append(kept, line)
		}
	}
	if kept != nil {
		n.lines("", strings.Join(kept, "<br>\n"))
	}
}

// list writes remarks as a list, as many as there is room for.
func (n *note) list(remarks []string) {
	if len(remarks) == 0 {
		return
	}
	n.lines("")
	shown := min(len(remarks), n.room.remarks)
	for _, remark := range remarks[:shown] {
		n.lines("- " + remark)
	}
	if left := len(remarks) - shown; left > 0 {
		n.lines("- Left out here: " + plural(left, map[bool]string{true: "remark", false: "further remark"}[shown == 0]) + "; the report has all.")
	}
}

// name is a foreign name as there is room for it.
func (n *note) name(text string) string { return codeWithin(text, n.room.names) }

// caseName is both names of a case, each in its own span.
func (n *note) caseName(c stopwatt.Case) string {
	if c.Workload == "" {
		return n.name(c.Implementation)
	}
	return n.name(c.Implementation) + " " + n.name(c.Workload)
}

// several tells whether machines must be told apart.
func (n *note) several() bool { return len(n.of.Machines)+len(n.of.Missing) > 1 }

// joined joins the sentences that there are.
func joined(sentences ...string) string {
	var kept []string
	for _, sentence := range sentences {
		if sentence != "" {
			kept = append(kept, sentence)
		}
	}
	return strings.Join(kept, " ")
}
