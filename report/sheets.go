package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	_ "embed"

	"gitlab.com/stopwatt/stopwatt"
)

// A Grids is what Terminal shows as grids, fit to be written in other forms too:
// a contrast of implementations, or runs on several machines side by side.
type Grids struct {
	run stopwatt.Run
	// several is true when it is of several runs, which the lines about it name.
	several bool
	about   []string // lines under the suite's name
	sheets  []sheet  // for reading
	numbers []sheet  // for programs: of one metric each
	notes   []string
}

// GridsOf lays a contrast out, a grid for each metric. It fails when the unit fits
// no metric.
func GridsOf(run stopwatt.Run, c stopwatt.Contrast, o Options) (Grids, error) {
	if err := CheckUnit(o.Unit, c.Metrics); err != nil {
		return Grids{}, err
	}
	if o.As == "" {
		o.As = AsValue
	}
	g := Grids{run: run, about: []string{dotted(counted(run, c), idleLine(run))}, sheets: sheetsOf(c, o), numbers: sheetsByMetric(c, o)}
	if o.As != AsValue && len(c.Workloads) > 1 {
		g.notes = append(g.notes, meanNote(c))
	}
	g.notes = append(g.notes, standNotes(run, c, "")...)
	if o.As == AsValue {
		o.As = asMeans
	}
	g.notes = append(g.notes, doubts(c, o.As)...)
	return g, nil
}

// asMeans are values without all that belongs to them.
const asMeans As = "means"

// Markdown writes the grids as tables. Foreign text stands in code spans.
func (g Grids) Markdown(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n", code(g.run.Suite))
	if !g.several {
		fmt.Fprintf(&out, "\n%s\n", markdownHeadline(g.run))
	}
	for _, line := range g.about {
		fmt.Fprintf(&out, "\n%s\n", code(line))
	}
	for _, s := range g.sheets {
		fmt.Fprintf(&out, "\n%s\n\n| %s |", code(s.title), s.corner)
		for _, name := range s.columns {
			fmt.Fprintf(&out, " %s |", code(name))
		}
		out.WriteString("\n|:--|" + strings.Repeat("--:|", len(s.columns)) + "\n")
		for _, row := range s.rows {
			fmt.Fprintf(&out, "| %s |", markdownName(row))
			for _, cell := range row.cells {
				fmt.Fprintf(&out, " %s |", cell.text)
			}
			out.WriteString("\n")
		}
	}
	if g.notes != nil {
		out.WriteString("\n")
	}
	for _, note := range g.notes {
		fmt.Fprintf(&out, "- %s\n", code(note))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func markdownName(row sheetRow) string {
	switch {
	case row.isSum:
		return "**" + row.name + "**"
	case row.group != "":
		return code(row.group) + "<br>" + code(row.name)
	}
	return code(row.name)
}

// CSV writes a grid for each metric, one below the other, each row under the names
// of its columns, in full precision. What has no number is empty.
func (g Grids) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	for i, s := range g.numbers {
		if i > 0 {
			if err := out.Write(nil); err != nil { // an empty line between two
				return err
			}
		}
		if err := out.WriteAll(s.records()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// records are a sheet's lines in CSV.
func (s sheet) records() [][]string {
	grouped := false
	for _, row := range s.rows {
		grouped = grouped || row.group != ""
	}
	header := []string{"metric", "unit", s.corner}
	if grouped {
		header = []string{"metric", "unit", "workload", s.corner}
	}
	records := [][]string{append(header, s.columns...)}
	for _, row := range s.rows {
		record := []string{s.metric, s.unit}
		if grouped {
			record = append(record, row.group)
		}
		record = append(record, row.name)
		for _, cell := range row.cells {
			number := ""
			if cell.number != nil {
				number = exact(*cell.number)
			}
			record = append(record, number)
		}
		records = append(records, record)
	}
	return records
}

// gridsFormat names the shape that Grids.JSON writes.
const gridsFormat = "stopwatt.grids/1"

// These types are the documented shape (docs/results.md).
type (
	jsonGrids struct {
		Format string     `json:"format"`
		Suite  string     `json:"suite"`
		Run    int64      `json:"run,omitempty"`
		Grids  []jsonGrid `json:"grids"`
		Notes  []string   `json:"notes"`
	}
	jsonGrid struct {
		Title   string        `json:"title"`
		Metric  string        `json:"metric,omitempty"`
		Unit    string        `json:"unit,omitempty"`
		Columns []string      `json:"columns"`
		Rows    []jsonGridRow `json:"rows"`
	}
	jsonGridRow struct {
		Group  string     `json:"group,omitempty"`
		Name   string     `json:"name"`
		Mean   bool       `json:"mean,omitempty"`
		Values []*float64 `json:"values"`
	}
)

// JSON writes a grid for each metric in full precision; what has no number is
// null.
func (g Grids) JSON(w io.Writer) error {
	document := jsonGrids{Format: gridsFormat, Suite: g.run.Suite, Run: g.run.ID, Grids: []jsonGrid{}, Notes: append([]string{}, g.notes...)}
	for _, s := range g.numbers {
		grid := jsonGrid{Title: s.title, Metric: s.metric, Unit: s.unit, Columns: s.columns, Rows: []jsonGridRow{}}
		for _, row := range s.rows {
			out := jsonGridRow{Group: row.group, Name: row.name, Mean: row.isSum, Values: []*float64{}}
			for _, cell := range row.cells {
				out.Values = append(out.Values, cell.number)
			}
			grid.Rows = append(grid.Rows, out)
		}
		document.Grids = append(document.Grids, grid)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

var (
	//go:embed grids.html.tmpl
	gridsTemplate string

	htmlGrids = template.Must(template.New("grids").Parse(gridsTemplate))
)

// An htmlGrid is a sheet as its template reads it, all names safe to read.
type htmlGrid struct {
	Title, Corner string
	Columns       []string
	Rows          []htmlGridRow
}

type htmlGridRow struct {
	Group, Name string
	IsSum       bool
	Cells       []string
}

// HTML writes one page of the grids that needs nothing but itself.
func (g Grids) HTML(w io.Writer) error {
	document := struct {
		Policy   string
		Style    template.CSS // our own file, no part of which is foreign
		Title    string
		Headline []string
		About    []string
		Grids    []htmlGrid
		Notes    []string
	}{policy(), template.CSS(pageStyle), Clean(g.run.Suite), nil, g.about, nil, g.notes}
	if !g.several {
		document.Headline = whichRun(g.run)
	}
	for _, s := range g.sheets {
		grid := htmlGrid{Title: s.title, Corner: s.corner}
		for _, name := range s.columns {
			grid.Columns = append(grid.Columns, Clean(name))
		}
		for _, row := range s.rows {
			out := htmlGridRow{Group: Clean(row.group), Name: Clean(row.name), IsSum: row.isSum}
			for _, cell := range row.cells {
				out.Cells = append(out.Cells, cell.text)
			}
			grid.Rows = append(grid.Rows, out)
		}
		document.Grids = append(document.Grids, grid)
	}
	if err := htmlGrids.Execute(w, document); err != nil {
		return fmt.Errorf("write the HTML page: %w", err)
	}
	return nil
}

// Terminal writes the grids for a terminal of so many columns.
func (g Grids) Terminal(w io.Writer, o Options) error {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, smallestWidth)
	page := page{run: g.run, options: o}
	if g.several {
		page.text(short(g.run.Suite))
	} else {
		page.text(headline(g.run))
	}
	for _, line := range g.about {
		page.text(line)
	}
	page.grids(g.sheets)
	for _, note := range g.notes {
		page.note("%s", note)
	}
	return page.write(w)
}
