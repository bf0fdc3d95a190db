package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

var (
	//go:embed page.html.tmpl
	pageTemplate string
	//go:embed page.css
	pageStyle string

	htmlPage = template.Must(template.New("page").Parse(pageTemplate))
)

// An htmlDocument is all that the page's template needs, written out: it
// decides nothing and computes nothing.
type htmlDocument struct {
	Policy     string
	Style      template.CSS // our own file, no part of which is foreign
	Title      string
	Headline   []string
	Counted    string
	Judgement  *htmlJudgement // nil where there is no base
	Baseline   string
	OfWhat     string
	Answers    []answer
	Workloads  []htmlWorkload
	Notes      []string
	Provenance []Fact
	Meters     *htmlMeters // nil when there are not two
	Idle       []htmlIdle
	Driver     []string // what it takes by itself
	Trials     []htmlTrial
	TrialsSum  string
	TrialsNote string // which of them are drawn over time
}

type htmlWorkload struct {
	ID   string
	Name string
	Load string
	// Failures are the cases without any valid trial.
	Failures []htmlRow
	Charts   []chart
	Tables   []htmlMetric
}

// An htmlMetric is one metric's rows in a workload's table of numbers.
type htmlMetric struct {
	Heading   string
	Direction string
	Rows      []htmlRow
}

type htmlRow struct {
	Name       string
	Color      int
	IsBaseline bool
	Absent     string
	Figures    figuresShown
}

// figuresShown are a row's figures as the template reads them.
type figuresShown struct {
	Value, Spread, Median, Ratio, Min, Max string
	N                                      int
}

// HTML writes one page that needs nothing but itself: no request, no script.
// It opens with the answer; charts, numbers, provenance and trials follow.
func HTML(w io.Writer, results stopwatt.Results, c stopwatt.Contrast, trials []stopwatt.Trial) error {
	list, drawn := trialsShown(trials)
	document := htmlDocument{
		Policy:     policy(),
		Style:      template.CSS(pageStyle),
		Title:      Clean(results.Run.Suite),
		Headline:   whichRun(results.Run),
		Counted:    dotted(counted(results.Run, c), idleLine(results.Run)),
		Judgement:  htmlJudgementOf(results),
		Baseline:   Clean(c.Baseline),
		OfWhat:     ofWhat(c),
		Answers:    answersShown(c),
		Notes:      slices.Concat(htmlNotes(c), standNotes(results.Run, c, ""), doubts(c, AsValue)),
		Provenance: provenance(results.Run),
		Meters:     htmlMetersOf(c.Meters),
		Idle:       idleShown(results.Run),
		Driver:     driverShares(results.Run, workloadsOf(c)),
		Trials:     list,
		TrialsSum:  counted(results.Run, c),
		TrialsNote: drawn,
	}
	for i := range c.Workloads {
		own := narrowed(c, i)
		document.Workloads = append(document.Workloads, htmlWorkloadOf(results.Run, own, own.Workloads[0], fmt.Sprintf("w%d", i+1)))
	}
	if err := htmlPage.Execute(w, document); err != nil {
		return fmt.Errorf("write the HTML page: %w", err)
	}
	return nil
}

// policy lets the page load nothing and run nothing; its one style sheet is
// named by hash.
func policy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

// answersShown are the answers with names made safe to read.
func answersShown(c stopwatt.Contrast) []answer {
	answers := answersOf(c)
	for i := range answers {
		a := &answers[i]
		a.Index %= barColors
		a.Implementation = Clean(a.Implementation)
		a.From.Workload, a.To.Workload = Clean(a.From.Workload), Clean(a.To.Workload)
	}
	return answers
}

// htmlNotes say what the figures are.
func htmlNotes(c stopwatt.Contrast) []string {
	notes := []string{fmt.Sprintf("Bars are means from zero; lines on them are ± one sample standard deviation of the n trials. "+
		"× is the mean divided by that of %s, whose mean the dashed line marks.", Clean(c.Baseline))}
	if len(c.Workloads) > 1 {
		notes = append(notes, meanNote(c))
	}
	return notes
}

// htmlWorkloadOf makes charts and numbers of one workload.
func htmlWorkloadOf(run stopwatt.Run, c stopwatt.Contrast, block stopwatt.WorkloadContrast, id string) htmlWorkload {
	out := htmlWorkload{ID: id, Name: Clean(block.Workload), Load: loadOf(run, block.Workload)}
	for i, row := range block.Rows {
		if row.Result.Valid == 0 {
			out.Failures = append(out.Failures, htmlRow{Name: Clean(row.Implementation), Color: i % barColors, Absent: whyInvalid(row.Result)})
		}
	}
	for m := range c.Metrics {
		if dead(block) {
			break
		}
		out.Charts = append(out.Charts, chartOf(c, block, m, fmt.Sprintf("%sm%d", id, m+1)))
		out.Tables = append(out.Tables, htmlMetricOf(c, block, m))
	}
	return out
}

// htmlMetricOf makes the numbers of the metric at index.
func htmlMetricOf(c stopwatt.Contrast, block stopwatt.WorkloadContrast, index int) htmlMetric {
	metric := c.Metrics[index]
	scale, written := figuresOf(c, block, index, "")
	table := htmlMetric{Heading: heading(metric, scale.unit), Direction: direction(metric)}
	for i, row := range block.Rows {
		shown := htmlRow{Name: Clean(row.Implementation), Color: i % barColors, IsBaseline: row.Implementation == c.Baseline}
		if s, has := row.Result.Summary(metric.Name); has {
			f := written[i]
			shown.Figures = figuresShown{f.value, f.spread, f.median, f.ratio, scale.write(s.Min), scale.write(s.Max), f.n}
		} else {
			shown.Absent = whyRowAbsent(row.Result, metric.Name)
		}
		table.Rows = append(table.Rows, shown)
	}
	return table
}
