package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Widths of the terminal's table, in columns.
const (
	defaultWidth = 80
	// smallestWidth is the least that tables are drawn for: a name beside the
	// widest figures. A narrower terminal breaks their lines.
	smallestWidth = 60
	// longestName leaves room for the widest figures beside the longest name,
	// in the smallest width.
	longestName = 24
)

// Options say how a Contrast is shown.
type Options struct {
	As    As     // empty: AsValue
	Unit  string // shown instead of the one that suits, by the metrics that it fits; empty: none asked
	Width int    // of the terminal, in columns; 0: 80; less than 60 is taken as 60
	// Transpose turns grids: workloads side by side, implementations below each other.
	Transpose bool
	Next      string // what to type next, in one line; empty: nothing is said
}

// Terminal writes a contrast as a table for a terminal: what was run, the mean
// of all workloads, then every workload, then what the figures rest on and what
// could not be said. No line is wider than the terminal, Options.Next excepted,
// which is to be pasted; foreign text can carry no control sequence into it. It
// fails when the unit fits no metric, and when w fails.
func Terminal(w io.Writer, run stopwatt.Run, c stopwatt.Contrast, o Options) error {
	if err := CheckUnit(o.Unit, c.Metrics); err != nil {
		return err
	}
	if o.As == "" {
		o.As = AsValue
	}
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, smallestWidth)
	page := page{run: run, contrast: c, options: o}
	page.names = shorten(c.Implementations, longestName)
	page.workloads = shorten(workloadsOf(c), longestName)
	page.text(headline(run))
	page.text(dotted(counted(run, c), idleLine(run)))
	if o.As == AsValue {
		page.values()
	} else {
		page.sheets()
	}
	page.footnotes()
	return page.write(w)
}

// A page is a terminal's output while it is written.
type page struct {
	run       stopwatt.Run
	contrast  stopwatt.Contrast
	options   Options
	names     []string // of the implementations, as shown
	workloads []string // their names, as shown
	lines     []string
	notes     []string
}

// text adds a paragraph, unless it is empty.
func (p *page) text(text string) {
	if text == "" {
		return
	}
	p.lines = append(p.lines, wrap(text, p.options.Width, 2)...)
}

// block adds a grid after a blank line.
func (p *page) block(g grid) {
	p.lines = append(p.lines, "")
	p.lines = append(p.lines, g.render(p.options.Width)...)
}

// note keeps a footnote for the end. Each is said once; an empty one is none.
func (p *page) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" && !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// workloadsOf lists the workloads' names.
func workloadsOf(c stopwatt.Contrast) []string {
	var names []string
	for _, block := range c.Workloads {
		names = append(names, block.Workload)
	}
	return names
}

// longer notes which shown names stand for which longer ones.
func (p *page) longer(names, shown []string) {
	p.note("%s", strings.Join(listShortened(names, shown), ", "))
}

// footnotes adds what the figures rest on and what could not be said.
func (p *page) footnotes() {
	for _, note := range standNotes(p.run, p.contrast, "; --gross leaves it in") {
		p.note("%s", note)
	}
	if hasEnergy(p.contrast.Metrics) {
		p.note("%s", metersNote(p.contrast.Meters, "stopwatt compare --meters"))
	}
	if note := driverNote(p.run, workloadsOf(p.contrast)); note != "" {
		p.note("%s", note)
	}
	for _, w := range doubts(p.contrast, p.options.As) {
		p.note("%s", w)
	}
	p.longer(workloadsOf(p.contrast), p.workloads)
}

// write writes the page: its lines, the notes, and what to type next.
func (p *page) write(w io.Writer) error {
	if len(p.notes) > 0 {
		p.lines = append(p.lines, "")
	}
	for _, note := range p.notes {
		p.text(note)
	}
	if p.options.Next != "" {
		p.lines = append(p.lines, "", Clean(p.options.Next))
	}
	_, err := io.WriteString(w, strings.Join(p.lines, "\n")+"\n")
	return err
}
