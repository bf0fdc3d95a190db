package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
)

// sparkPoints is how many points a spark has: more are none that can be seen.
const sparkPoints = 48

// A suitePage is the grid of a suite: implementations by workloads.
type suitePage struct {
	frame
	Suite    stopwatt.SuiteName
	Run      *runShown // nil when there is none
	Why      string    // there is none
	Grid     report.CellGrid
	Blocks   []blockShown
	Metrics  []choice
	Forms    []choice
	Machines []choice
	Profiles []choice
	Units    []choice
	Means    []choice
	At       string
	CSV      string
	Links    []link
	compareForms
}

// compareForms ask for two sides.
type compareForms struct {
	CompareTo         string
	A, B              string
	Baselines, Others []choice
}

type link struct{ Name, To string }

// A blockShown is one workload's cells with their sparks and links.
type blockShown struct {
	report.CellBlock
	Cells []cellShown
	Link  string // all implementations over each other
}

type cellShown struct {
	report.Cell
	Spark template.HTML
	Link  string
}

// A gridAsked is what a grid is asked for.
type gridAsked struct {
	contents stopwatt.SuiteContents
	metric   stopwatt.Metric
	place    stopwatt.RunPlace
	as       report.As
	baseline string
	unit     string
	mean     stopwatt.MeanKind
}

// gridAsked reads what a request asks of a grid.
func (s *Server) gridAsked(r *http.Request) (gridAsked, error) {
	contents, err := s.suiteAsked(r)
	if err != nil {
		return gridAsked{}, err
	}
	g := gridAsked{contents: contents, unit: r.FormValue("unit"), baseline: r.FormValue("baseline"), mean: stopwatt.MeanKind(cmp.Or(r.FormValue("mean"), string(stopwatt.Arithmetic)))}
	if g.metric, err = metricAsked(r, contents); err != nil {
		return g, err
	}
	if g.as, err = report.ParseAs(r.FormValue("as")); err != nil {
		return g, askedWrongly{err}
	}
	g.place = stopwatt.RunPlace{Suite: contents.Suite, Profile: r.FormValue("profile"), Machine: machineAsked(r, contents)}
	if at := r.FormValue("at"); at != "" {
		if !shaLike.MatchString(at) {
			return g, wrongly("%q names no commit: write seven digits of its SHA at least.", at)
		}
		g.place.Commit = strings.ToLower(at)
	}
	return g, nil
}

// laid finds the run of a grid and lays it beside its baseline.
func (s *Server) laid(ctx context.Context, g gridAsked) (stopwatt.Results, stopwatt.Contrast, error) {
	run, err := s.Archive.RunAt(ctx, g.place)
	if err != nil {
		return stopwatt.Results{}, stopwatt.Contrast{}, err
	}
	results, err := s.Archive.Results(ctx, run)
	if err != nil {
		return stopwatt.Results{}, stopwatt.Contrast{}, err
	}
	contrast, err := regression.Lay(results, g.baseline, []stopwatt.Metric{g.metric}, g.mean)
	if err != nil {
		return results, contrast, askedWrongly{err}
	}
	return results, contrast, nil
}

// suite shows a suite's grid.
func (s *Server) suite(w http.ResponseWriter, r *http.Request) error {
	g, err := s.gridAsked(r)
	if err != nil {
		return err
	}
	c := g.contents
	p := suitePage{frame: s.frame(r, c.Suite.Suite), Suite: c.Suite, At: r.FormValue("at")}
	p.JSON = with(r, "/api/v1/suites/"+strings.TrimPrefix(suitePath(c.Suite), "/s/")+"/grid")
	p.CSV = with(r, suitePath(c.Suite)+"/grid.csv")
	p.Metrics = choices(metricNames(c), g.metric.Name, func(name string) string { m, _ := metricOf(c, name); return report.Label(m) })
	p.Forms = choices([]string{"value", "ratio", "times", "percent"}, string(g.as), func(as string) string {
		return map[string]string{"value": "value and ratio", "ratio": "ratio", "times": "times", "percent": "percent"}[as]
	})
	p.CompareTo, p.Baselines = suitePath(c.Suite)+"/compare", choices(implementations(c), cmp.Or(g.baseline, c.Baseline), itself)
	p.Others = otherChoices(c, cmp.Or(g.baseline, c.Baseline))
	p.Machines, p.Profiles = machineChoices(c, g.place.Machine), profileChoices(c, g.place.Profile)
	p.Units = choices(append([]string{""}, report.UnitNames(g.metric)...), g.unit, func(u string) string { return cmp.Or(u, "one that suits") })
	p.Means = choices([]string{string(stopwatt.Arithmetic), string(stopwatt.Geometric)}, string(g.mean), itself)
	p.Links = metricLinks(r, c, g.metric)
	results, contrast, err := s.laid(r.Context(), g)
	if errors.Is(err, stopwatt.ErrNotFound) {
		p.Why = whyNoRun(g)
		s.writePage(w, http.StatusOK, "suite", p)
		return nil
	}
	if err != nil {
		return err
	}
	line, err := s.Archive.Line(r.Context(), results.Run.ID)
	if err != nil {
		return err
	}
	shown := runOf(line)
	p.Run = &shown
	p.Grid = report.CellsOf(results.Run, contrast, report.Options{As: g.as, Unit: g.unit})
	if line.Against == "" {
		p.B = shortSHA(line.Commit.SHA)
	}
	if p.Blocks, err = s.blocks(r.Context(), g, p.Grid, line); err != nil {
		return err
	}
	s.writePage(w, http.StatusOK, "suite", p)
	return nil
}

// otherChoices offers the implementations; the first that is not the one is chosen.
func otherChoices(c stopwatt.SuiteContents, one string) []choice {
	names := implementations(c)
	other := slices.IndexFunc(names, func(name string) bool { return name != one })
	if other < 0 {
		return choices(names, "", itself)
	}
	return choices(names, names[other], itself)
}

// metricLinks lead to what people look at first: time and energy.
func metricLinks(r *http.Request, c stopwatt.SuiteContents, chosen stopwatt.Metric) []link {
	var links []link
	for _, m := range c.Metrics {
		meter, ofMeter := stopwatt.MeterOf(m.Name)
		if m.Name == chosen.Name || m.Name != "time" && m.Name != "throughput" && (!ofMeter || m.Name != "energy_"+meter && m.Name != "energy_"+meter+"_gross") && !slices.Contains(c.Judged, m.Name) {
			continue
		}
		links = append(links, link{report.Label(m), with(r, suitePath(c.Suite), "metric", m.Name, "unit", "")})
	}
	return links
}

// whyNoRun says why a grid is empty.
func whyNoRun(g gridAsked) string {
	machine := ""
	for _, m := range g.contents.Machines {
		if m.Fingerprint == g.place.Machine {
			machine = " on " + report.Clean(m.Name)
		}
	}
	switch {
	case g.place.Commit != "":
		return "No finished run of commit " + g.place.Commit + " is stored" + machine + "."
	case g.place.Profile != "":
		return "No finished run with the profile " + report.Clean(g.place.Profile) + " is stored" + machine + "."
	}
	return "No finished run is stored" + machine + "."
}

// blocks put the sparks and links into the cells.
func (s *Server) blocks(ctx context.Context, g gridAsked, grid report.CellGrid, line stopwatt.RunLine) ([]blockShown, error) {
	query := stopwatt.CourseQuery{Suite: g.contents.Suite, Profile: g.place.Profile, Metric: g.metric.Name, Machine: line.Machine, Most: sparkPoints}
	if line.Default && !line.Dirty {
		query.To = line.Commit.Time // a grid of the past knows nothing of later
	}
	courses, err := s.Archive.Courses(ctx, query)
	if err != nil {
		return nil, err
	}
	of := map[stopwatt.Case]stopwatt.Course{}
	for _, course := range courses {
		of[course.Case] = course
	}
	var blocks []blockShown
	for _, block := range grid.Blocks {
		shown := blockShown{CellBlock: block}
		ask := []string{"profile", g.place.Profile, "metric", g.metric.Name, "machine", line.Machine}
		all := slices.Clone(ask)
		for _, cell := range block.Cells {
			name := cell.Case.String()
			shown.Cells = append(shown.Cells, cellShown{cell, report.Spark(g.metric, of[cell.Case]), seriesAddress(g.contents.Suite, append(slices.Clone(ask), "case", name)...)})
			all = append(all, "case", name)
		}
		shown.Link = seriesAddress(g.contents.Suite, all...)
		blocks = append(blocks, shown)
	}
	return blocks, nil
}

// suiteCSV is the numbers of exactly what the grid shows.
func (s *Server) suiteCSV(w http.ResponseWriter, r *http.Request) error {
	return s.writeGrid(w, r, "text/csv; charset=utf-8", report.Grids.CSV)
}

// apiGrid is the same as JSON.
func (s *Server) apiGrid(w http.ResponseWriter, r *http.Request) error {
	return s.writeGrid(w, r, "application/json", report.Grids.JSON)
}

func (s *Server) writeGrid(w http.ResponseWriter, r *http.Request, kind string, write func(report.Grids, io.Writer) error) error {
	g, err := s.gridAsked(r)
	if err != nil {
		return err
	}
	results, contrast, err := s.laid(r.Context(), g)
	if err != nil {
		return err
	}
	grids, err := report.GridsOf(results.Run, contrast, report.Options{As: g.as, Unit: g.unit})
	if err != nil {
		return askedWrongly{err}
	}
	var out bytes.Buffer
	if err := write(grids, &out); err != nil {
		return err
	}
	return send(w, kind, out.Bytes())
}
