package report

import (
	"io"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// mostTogether is how many commits a table of implementations shows: the newest.
const mostTogether = 30

// A group is the series of one workload on one machine.
type group struct {
	workload, machine string
	names             []string // of implementations
	searches          []stopwatt.ChangeSearch
	of                []Traced // beside searches
}

// groups are the series of a history by workload and machine, or each on its own.
func (h History) groups(together bool) []group {
	var all []group
	for _, traced := range h.Traced {
		for _, search := range traced.Searches {
			c := traced.Series.Case
			at := slices.IndexFunc(all, func(g group) bool { return together && g.workload == c.Workload && g.machine == search.Machine })
			if at < 0 {
				at, all = len(all), append(all, group{workload: c.Workload, machine: search.Machine})
			}
			g := &all[at]
			g.names, g.searches, g.of = append(g.names, c.Implementation), append(g.searches, search), append(g.of, traced)
		}
	}
	return all
}

// title names what a group shows.
func (h History) groupTitle(g group, together bool) string {
	of := short(g.workload)
	if !together {
		of = short(g.of[0].Series.Case.String())
	}
	return dotted(of, h.metricOf(g.of[0]), short(h.Machines[g.machine]))
}

// HistoryTogether writes a table for each workload and machine: a row for each commit,
// the newest first, and a column for each implementation.
func HistoryTogether(w io.Writer, h History, columns int) error {
	p := historyPage(h, columns)
	groups := h.groups(true)
	if len(groups) == 0 {
		p.text(h.title() + ": " + h.nothing())
		return p.write(w)
	}
	older := 0
	for i, g := range groups {
		if i > 0 {
			p.lines = append(p.lines, "")
		}
		p.text(h.groupTitle(g, true))
		commits := commitsOf(g)
		older = max(older, len(commits)-mostTogether)
		p.lines = append(p.lines, h.togetherGrid(g, commits[max(len(commits)-mostTogether, 0):]).render(p.options.Width)...)
	}
	if older > 0 {
		p.note("The newest %d commits; --since, --until and A..B show others, --format csv all.", mostTogether)
	}
	h.notes(&p)
	return p.write(w)
}

// commitsOf are the commits that any series of a group has, the oldest first.
func commitsOf(g group) []stopwatt.SeriesPoint {
	var all []stopwatt.SeriesPoint
	for _, search := range g.searches {
		all = append(all, search.Points...)
	}
	slices.SortStableFunc(all, func(a, b stopwatt.SeriesPoint) int { return a.Position - b.Position })
	return slices.CompactFunc(all, func(a, b stopwatt.SeriesPoint) bool { return a.Position == b.Position })
}

// togetherGrid has the newest commit first.
func (h History) togetherGrid(g group, commits []stopwatt.SeriesPoint) grid {
	out := grid{corner: []string{"commit"}}
	for _, commit := range slices.Backward(commits) {
		out.rows = append(out.rows, gridRow{name: []string{Clean(commit.SHA[:min(8, len(commit.SHA))]) + "  " + commit.Time.Format("2006-01-02")}})
	}
	for i, name := range shorten(g.names, nameColumns) {
		values := map[int]float64{}
		for _, point := range g.searches[i].Points {
			values[point.Position] = point.Value
		}
		column := gridColumn{heading: []string{name}}
		for _, commit := range slices.Backward(commits) {
			cell := absent
			if value, has := values[commit.Position]; has {
				cell = h.value(g.of[i], value)
			}
			column.cells = append(column.cells, []string{cell})
		}
		out.columns = append(out.columns, column)
	}
	return out
}
