package web

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
)

// coursePoints is how many points a drawn course has at most: one for every three
// pixels of a wide screen. mostCourses is how many are drawn over each other: no
// more colours can be told apart.
const (
	coursePoints = 400
	mostCourses  = 7
)

// A seriesPage answers how a metric went, and where it changed.
type seriesPage struct {
	frame
	Suite    stopwatt.SuiteName
	Heading  string
	Leads    []leadShown // one for each case
	Chart    report.CourseChart
	Points   []pointShown
	Changes  []changeShown // the newest first
	Why      string        // there is no chart
	Cases    []caseChoice
	Metrics  []choice
	Machines []choice
	Profiles []choice
	Against  []choice
	Bands    []choice
	Units    []choice
	Log      bool
	From, To string
	Zooms    []link
	CSV      string
	Grid     string
	Badge    string
	Here     string // the same page without from and to, for zooming
}

// A leadShown is the answer of one case, in words.
type leadShown struct {
	Name   string
	Color  int
	Now    string
	When   string
	Change *changeShown // the last one that stands; nil when none does
}

// A caseChoice is a case that may be drawn.
type caseChoice struct {
	Value, Name string
	Chosen      bool
}

// A pointShown is a point in the list of points.
type pointShown struct {
	report.CoursePlace
	CommitLink, MergeRequestLink, RunLink string
	When                                  string // for zooming
}

// A seriesAsked is what a request asks of series.
type seriesAsked struct {
	contents stopwatt.SuiteContents
	metric   stopwatt.Metric
	query    stopwatt.CourseQuery
	log      bool
	band     string
	unit     string
	ByTime   bool
}

// The bands that a course may have.
const (
	bandInterval = "interval"
	bandSD       = "sd"
	bandNone     = "none"
)

var bandNames = map[string]string{bandInterval: "band: 95 % interval of the mean", bandSD: "band: ± one standard deviation of the trials", bandNone: ""}

// seriesAsked reads what is asked of series.
func (s *Server) seriesAsked(r *http.Request) (seriesAsked, error) {
	contents, err := s.suiteAsked(r)
	if err != nil {
		return seriesAsked{}, err
	}
	a := seriesAsked{contents: contents, log: r.FormValue("scale") == "log", band: cmp.Or(r.FormValue("band"), bandInterval), unit: r.FormValue("unit"), ByTime: r.FormValue("x") == "time"}
	if _, known := bandNames[a.band]; !known {
		return a, wrongly("There is no band %q; there are interval, sd and none.", a.band)
	}
	if a.metric, err = metricAsked(r, contents); err != nil {
		return a, err
	}
	if err := report.CheckUnit(a.unit, []stopwatt.Metric{a.metric}); err != nil {
		return a, askedWrongly{err}
	}
	a.query = stopwatt.CourseQuery{Suite: contents.Suite, Profile: r.FormValue("profile"), Metric: a.metric.Name, Machine: machineAsked(r, contents), Against: r.FormValue("against"), Most: coursePoints}
	if a.query.Against != "" && !slices.Contains(implementations(contents), a.query.Against) {
		return a, wrongly("There is no implementation %q; there are %s.", a.query.Against, strings.Join(implementations(contents), ", "))
	}
	if a.query.Cases, err = casesAsked(r, contents); err != nil {
		return a, err
	}
	return a, s.stretchAsked(r, &a.query)
}

// stretchAsked reads from when to when.
func (s *Server) stretchAsked(r *http.Request, query *stopwatt.CourseQuery) error {
	place := stopwatt.RunPlace{Suite: query.Suite, Profile: query.Profile, Machine: query.Machine}
	var err error
	if query.From, err = s.timeAsked(r.Context(), place, r.FormValue("from"), false); err != nil {
		return err
	}
	query.To, err = s.timeAsked(r.Context(), place, r.FormValue("to"), true)
	if err == nil && !query.To.IsZero() && query.To.Before(query.From) {
		return wrongly("That stretch ends before it begins.")
	}
	return err
}

// casesAsked are the cases that a request names, else the first of the suite.
func casesAsked(r *http.Request, c stopwatt.SuiteContents) ([]stopwatt.Case, error) {
	var cases []stopwatt.Case
	for _, name := range r.Form["case"] {
		one, has := caseNamed(c, name)
		if !has {
			return nil, wrongly("There is no case %q in this suite.", name)
		}
		if !slices.Contains(cases, one) {
			cases = append(cases, one)
		}
	}
	if len(cases) == 0 && len(c.Cases) > 0 {
		cases = c.Cases[:1]
	}
	if len(cases) > mostCourses {
		return nil, wrongly("At most %d cases can be drawn over each other.", mostCourses)
	}
	return cases, nil
}

// series shows courses over each other.
func (s *Server) series(w http.ResponseWriter, r *http.Request) error {
	a, err := s.seriesAsked(r)
	if err != nil {
		return err
	}
	c := a.contents
	p := seriesPage{frame: s.frame(r, seriesTitle(a), crumb{c.Suite.Suite, suiteAddress(c.Suite, "profile", a.query.Profile)}), Suite: c.Suite,
		Log: a.log, From: r.FormValue("from"), To: r.FormValue("to")}
	p.JSON = with(r, "/api/v1/suites/"+strings.TrimPrefix(suitePath(c.Suite), "/s/")+"/series")
	p.CSV, p.Here = with(r, suitePath(c.Suite)+"/series.csv"), with(r, r.URL.EscapedPath(), "from", "", "to", "")
	p.Grid = suiteAddress(c.Suite, "profile", a.query.Profile, "metric", a.metric.Name, "machine", a.query.Machine)
	p.offer(a)
	courses, err := s.Archive.Courses(r.Context(), a.query)
	if err != nil {
		return err
	}
	changes, err := s.Archive.Changes(r.Context(), a.query)
	if err != nil {
		return err
	}
	p.tell(a, courses, changes, s.Now())
	if len(a.query.Cases) == 1 {
		p.Badge = address("/badges/"+strings.TrimPrefix(suitePath(c.Suite), "/s/")+".svg", "project", c.Suite.Project, "case", a.query.Cases[0].String(), "metric", a.metric.Name)
	}
	p.Zooms = zooms(r, s.Now())
	s.writePage(w, http.StatusOK, "series", p)
	return nil
}

// seriesTitle names what is drawn.
func seriesTitle(a seriesAsked) string {
	if len(a.query.Cases) == 1 {
		return report.Label(a.metric) + " of " + a.query.Cases[0].String()
	}
	return report.Label(a.metric) + " of " + report.Count(len(a.query.Cases), "case")
}

// offer fills the form.
func (p *seriesPage) offer(a seriesAsked) {
	c := a.contents
	for _, one := range c.Cases {
		if one.Implementation != a.query.Against {
			p.Cases = append(p.Cases, caseChoice{one.String(), report.Clean(one.String()), slices.Contains(a.query.Cases, one)})
		}
	}
	p.Metrics = choices(metricNames(c), a.metric.Name, func(name string) string { m, _ := metricOf(c, name); return report.Label(m) })
	p.Machines, p.Profiles = machineChoices(c, a.query.Machine), profileChoices(c, a.query.Profile)
	p.Against = choices(append([]string{""}, implementations(c)...), a.query.Against, func(name string) string {
		return cmp.Or(report.Clean(name), "nothing: values")
	})
	p.Bands = choices([]string{bandInterval, bandSD, bandNone}, a.band, func(name string) string {
		return cmp.Or(strings.TrimPrefix(bandNames[name], "band: "), "none")
	})
	p.Units = choices(append([]string{""}, report.UnitNames(a.metric)...), a.unit, func(u string) string { return cmp.Or(u, "one that suits") })
}

// tell draws courses and says what is to be said of them.
func (p *seriesPage) tell(a seriesAsked, courses []stopwatt.Course, changes []stopwatt.SeriesChange, now time.Time) {
	machine := ""
	for _, m := range p.Machines {
		if m.Chosen {
			machine = m.Name
		}
	}
	view := report.CourseView{ID: "chart", Metric: a.metric, Unit: a.unit, Log: a.log, ByTime: a.ByTime, Changes: changes}
	if a.query.Against == "" {
		view.Band = bandNames[a.band]
	}
	for _, course := range courses {
		view.Courses = append(view.Courses, lineOf(course, a.band))
	}
	p.Chart = report.ChartCourses(view)
	p.Heading = view.Metric.What
	if p.Chart.Empty {
		p.Why = whyNoCourse(a, courses, machine)
	}
	for _, change := range slices.Backward(changes) {
		p.Changes = append(p.Changes, changeOf(change, machine, a.contents.ProjectURL))
	}
	for i, course := range courses {
		p.Leads = append(p.Leads, leadOf(a, course, i, p.Chart, p.Changes))
	}
	for _, place := range p.Chart.Points {
		p.Points = append(p.Points, pointShown{place, commitAddress(a.contents.ProjectURL, place.Point.SHA), mergeRequestAddress(a.contents.ProjectURL, place.Point.MergeRequest),
			runAddress(place.Point.Run), place.Point.Time.UTC().Format(time.RFC3339)})
	}
	slices.Reverse(p.Points) // the newest is what people look for
}

// lineOf gives a course its band. Of ratios nobody knows the spread.
func lineOf(course stopwatt.Course, band string) report.CourseLine {
	line := report.CourseLine{Name: course.Case.String(), Course: course}
	if band == bandNone || course.Against != "" {
		return line
	}
	for _, p := range course.Points {
		margin := p.SD
		if band == bandInterval {
			margin = regression.MeanMargin(p.SD, p.N)
		}
		line.Margins = append(line.Margins, margin)
	}
	return line
}

// whyNoCourse says why there is nothing to draw.
func whyNoCourse(a seriesAsked, courses []stopwatt.Course, machine string) string {
	where := ""
	if machine != "" {
		where = " on " + machine
	}
	for _, course := range courses {
		for _, p := range slices.Backward(course.Points) {
			if p.Absent != "" {
				return fmt.Sprintf("%s: not read%s since %s at the latest: %s", report.Label(a.metric), where, course.Points[0].Time.UTC().Format("2 January 2006"), report.Brief(p.Absent))
			}
		}
	}
	if !a.query.From.IsZero() || !a.query.To.IsZero() {
		return "No commit of that time was measured" + where + "."
	}
	return fmt.Sprintf("No finished run of the default branch, from a clean checkout, has %s of this%s. Runs of merge requests, of changed trees and imported ones are kept, and are no history.", report.Label(a.metric), where)
}

// leadOf says where a course stands.
func leadOf(a seriesAsked, course stopwatt.Course, line int, chart report.CourseChart, changes []changeShown) leadShown {
	lead := leadShown{Name: report.Clean(course.Case.String()), Color: line%mostCourses + 1, Now: "–"}
	for _, place := range chart.Points {
		if place.Line == line && place.Y != "" {
			lead.Now, lead.When = place.Value, date(place.Point.Time)
		}
	}
	for i, change := range changes {
		if change.Case == course.Case && (change.Change.State == stopwatt.Confirmed || change.Change.State == stopwatt.Suspected) {
			lead.Change = &changes[i]
			break
		}
	}
	return lead
}

// zooms lead to stretches of the past.
func zooms(r *http.Request, now time.Time) []link {
	path := r.URL.EscapedPath()
	links := []link{{"all", with(r, path, "from", "", "to", "")}}
	for _, step := range []struct {
		name string
		days int
	}{{"a year", 365}, {"3 months", 91}, {"a month", 30}} {
		links = append(links, link{step.name, with(r, path, "from", date(now.AddDate(0, 0, -step.days)), "to", "")})
	}
	return links
}

// seriesCSV is a line for each point that is drawn, in full precision.
func (s *Server) seriesCSV(w http.ResponseWriter, r *http.Request) error {
	a, courses, err := s.courses(r)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	lines := csv.NewWriter(&out)
	records := [][]string{{"implementation", "workload", "metric", "unit", "against", "machine", "epoch", "position", "commit", "committed_at", "run", "value", "sd", "n", "commits", "low", "high", "absent"}}
	for _, course := range courses {
		for _, p := range course.Points {
			value, sd := exact(p.Value), exact(p.SD)
			if p.Absent != "" {
				value, sd = "", ""
			}
			unit := a.metric.Unit
			if course.Against != "" {
				unit = "1"
			}
			records = append(records, []string{course.Case.Implementation, course.Case.Workload, a.metric.Name, unit, course.Against, course.Machine, p.Epoch,
				strconv.Itoa(p.Position), p.SHA, p.Time.UTC().Format(time.RFC3339), strconv.FormatInt(p.Run, 10), value, sd, strconv.Itoa(p.N),
				strconv.Itoa(p.Commits), exact(p.Low), exact(p.High), p.Absent})
		}
	}
	if err := lines.WriteAll(records); err != nil {
		return err
	}
	return send(w, "text/csv; charset=utf-8", out.Bytes())
}

// exact writes a number in full.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// courses are what a request asks for, thinned as the page has them.
func (s *Server) courses(r *http.Request) (seriesAsked, []stopwatt.Course, error) {
	a, err := s.seriesAsked(r)
	if err != nil {
		return a, nil, err
	}
	courses, err := s.Archive.Courses(r.Context(), a.query)
	return a, courses, err
}
