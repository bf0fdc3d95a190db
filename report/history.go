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

// A Traced is a series with what was searched of it, on each machine.
type Traced struct {
	Series   stopwatt.Series
	Searches []stopwatt.ChangeSearch
	Orders   []stopwatt.OrderChange // of a relation
}

// A History is what is told of the past of a suite.
type History struct {
	Suite  string
	Metric stopwatt.Metric
	Traced []Traced
	// Machines are their names, by the fingerprints that searches carry.
	Machines map[string]string
	// Stretch says in words which stretch of history is shown; empty: all of it.
	Stretch string
	// Landings are the commits among which the changes lie, in the order of history;
	// none where nobody knows them.
	Landings []stopwatt.Landing
	// Outside counts the measured commits that the default branch does not hold.
	Outside int
}

// sparkWidth is how many columns a sparkline takes.
const sparkWidth = 16

// longestSeries is the widest name of a series that leaves room for its figures; a
// longer one is cut, and whole in the other formats.
const longestSeries = 28

// HistoryText writes a line for each series: its newest level, its course, and the
// last change of it.
func HistoryText(w io.Writer, h History, columns int) error {
	p := historyPage(h, columns)
	g := grid{corner: []string{cut(dotted(short(h.Suite), label(h.Metric)), longestSeries)}, columns: []gridColumn{
		{heading: []string{"now"}}, {heading: []string{"commits"}}, {heading: []string{"course"}}, {heading: []string{"last change"}},
	}}
	for _, traced := range h.Traced {
		for _, search := range traced.Searches {
			g.rows = append(g.rows, gridRow{name: []string{cut(short(traced.Series.Case.String()), longestSeries)}})
			for i, cell := range []string{
				h.value(traced, search.Points[len(search.Points)-1].Value), fmt.Sprint(len(search.Points)), spark(search.Points), lastChange(search),
			} {
				g.columns[i].cells = append(g.columns[i].cells, []string{cell})
			}
		}
	}
	if len(g.rows) == 0 {
		p.text(h.title() + ": " + h.nothing())
		return p.write(w)
	}
	p.lines = append(p.lines, g.render(p.options.Width)...)
	p.note("Last change: how much, since which commit; ? : suspected, not confirmed. --changes tells all.")
	h.notes(&p)
	return p.write(w)
}

// ChangesText writes the change points of each series, the newest first, and where
// the order of two implementations changed.
func ChangesText(w io.Writer, h History, columns int) error {
	p := historyPage(h, columns)
	count := 0
	for _, traced := range h.Traced {
		for _, search := range traced.Searches {
			for _, c := range slices.Backward(search.ChangePoints) {
				count++
				p.lines = append(p.lines, h.changeLines(traced, search, c, p.options.Width)...)
			}
		}
		for _, order := range traced.Orders {
			p.lines = append(p.lines, wrap(h.orderText(traced, order), p.options.Width, 2)...)
		}
	}
	if count == 0 {
		p.text(fmt.Sprintf("%s: no change found in %s", h.title(), seriesCount(len(h.Traced))))
	}
	h.notes(&p)
	return p.write(w)
}

// seriesCount counts series, whose plural is no other word.
func seriesCount(n int) string { return thousands(fmt.Sprint(n)) + " series" }

func historyPage(h History, columns int) page {
	return page{options: Options{Width: max(cmp.Or(columns, defaultWidth), smallestWidth)}}
}

// title names suite and metric, and which stretch of history is shown.
func (h History) title() string { return dotted(short(h.Suite), label(h.Metric), h.Stretch) }

// nothing says that there is nothing to show.
func (h History) nothing() string {
	if h.Stretch != "" {
		return "nothing was measured of the default branch there"
	}
	return "nothing was measured of the default branch yet; stopwatt run stores a commit"
}

// value is one value of a series; of a relation it has no unit.
func (h History) value(of Traced, value float64) string {
	if of.Series.Against != "" {
		return plainRatio(value) + "×"
	}
	return Value(h.Metric, value)
}

// lastChange is the newest change point of a search, in a few words.
func lastChange(search stopwatt.ChangeSearch) string {
	for _, c := range slices.Backward(search.ChangePoints) {
		if c.State == stopwatt.Confirmed || c.State == stopwatt.Suspected {
			return changeText(c) + " " + commitName(c.First) + map[bool]string{true: unknown}[c.State == stopwatt.Suspected]
		}
	}
	return "none"
}

// changeText is how large a change is.
func changeText(c stopwatt.ChangePoint) string {
	if c.Ratio.Known {
		return signedPercent(c.Ratio.Value)
	}
	return map[bool]string{true: "more", false: "less"}[c.Shift > 0]
}

// changeLines tell one change point.
func (h History) changeLines(of Traced, search stopwatt.ChangeSearch, c stopwatt.ChangePoint, columns int) []string {
	title := fmt.Sprintf("%s  %s %s  %s", c.State, short(of.Series.Case.String()), h.metricOf(of), changeText(c))
	if c.Ratio.Bounded {
		title += fmt.Sprintf(" (%s … %s)", strings.TrimSuffix(signedPercent(c.Ratio.Low), " %"), signedPercent(c.Ratio.High))
	}
	title += fmt.Sprintf("  %s → %s", h.value(of, c.Before.Mean), h.value(of, c.After.Mean))
	lines := wrap(title, columns, 2)
	where := fmt.Sprintf("since %s: after %s up to %s, %s; %s since, %s before", commitName(c.First), commitName(c.Past), commitName(c.Reached),
		plural(max(c.Reached.Position-c.Past.Position, 1), "commit"), plural(c.After.N, "measured commit"), plainNumber(c.Before.N))
	if name := h.Machines[search.Machine]; name != "" {
		where += "; " + short(name)
	}
	switch c.Withheld {
	case stopwatt.ControlShifted:
		where += "; the control, which never changes, shifted there too"
	case stopwatt.EpochChanged:
		where += "; kernel, governor or Docker changed there too"
	}
	lines = append(lines, indented(wrap(where, columns-2, 2))...)
	return append(lines, indented(h.landingLines(c, columns-2))...)
}

// metricOf is what a series is of: a metric, or its ratio to another implementation.
func (h History) metricOf(of Traced) string {
	if of.Series.Against != "" {
		return label(h.Metric) + " ÷ " + short(of.Series.Against)
	}
	return label(h.Metric)
}

// orderText says that two implementations changed places.
func (h History) orderText(of Traced, c stopwatt.OrderChange) string {
	return fmt.Sprintf("%s  %s and %s changed places by %s since %s: %s → %s", c.State, short(of.Series.Case.String()), short(of.Series.Against),
		label(h.Metric), commitName(c.First), plainRatio(c.Before.Value)+"×", plainRatio(c.After.Value)+"×")
}

// notes say what the lines rest on.
func (h History) notes(p *page) {
	if h.Stretch != "" {
		p.note("Shown: %s; searched: all.", h.Stretch)
	}
	p.note("Change points: docs/changes.md. Means of the valid trials of finished runs of the default branch, one machine a line.")
	if h.Outside > 0 {
		p.note("Left out: %s that the default branch does not hold.", plural(h.Outside, "measured commit"))
	}
}

func plainNumber(n int) string { return thousands(fmt.Sprint(n)) }

// commitName is the beginning of a commit's SHA; the beginning of history has none.
func commitName(c stopwatt.CommitPlace) string {
	if c.SHA == "" {
		return "the first"
	}
	return Clean(c.SHA[:min(8, len(c.SHA))])
}

// spark draws a course in eight heights, the newest point on the right. More points
// than columns are pooled to their means.
func spark(points []stopwatt.SeriesPoint) string {
	heights := []rune("▁▂▃▄▅▆▇█")
	columns := min(len(points), sparkWidth)
	values := make([]float64, columns)
	for i := range values {
		from, to := i*len(points)/columns, (i+1)*len(points)/columns
		for _, point := range points[from:to] {
			values[i] += point.Value / float64(to-from)
		}
	}
	low, high := slices.Min(values), slices.Max(values)
	var out strings.Builder
	for _, value := range values {
		height := 0
		if high > low {
			height = int(math.Round((value - low) / (high - low) * float64(len(heights)-1)))
		}
		out.WriteRune(heights[height])
	}
	return out.String()
}
