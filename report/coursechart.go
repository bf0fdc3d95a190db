package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Measures of a chart of courses. Across it is measured in percent of whatever
// width there is, so that text keeps its size on a phone and on a wide screen; down
// in pixels.
const (
	courseHeight = 280.0
	courseTop    = 30.0 // room for the names of changes
	courseAxis   = 24.0
	courseAcross = 1000.0 // units of the stretched drawing
	mostDots     = 240    // points that are drawn as dots too
)

// A CourseView is what a chart of courses shows.
type CourseView struct {
	ID      string // unique on the page
	Metric  stopwatt.Metric
	Unit    string // asked for; empty: one that suits
	Log     bool
	Courses []CourseLine
	Changes []stopwatt.SeriesChange
	// ByTime places points by their times; else by their commits' order.
	ByTime bool
	Band   string // what the bands are, for the legend; empty: there are none
}

// A CourseLine is one course with its name and, for each point, how far its band
// reaches to each side.
type CourseLine struct {
	Name    string
	Course  stopwatt.Course
	Margins []float64 // base unit; nil: no band
}

// A CourseChart is a chart of courses: the figure, and each point in words, with
// its place in the figure.
type CourseChart struct {
	Figure template.HTML
	Unit   string
	Points []CoursePlace
	Gaps   []string // why there is nothing, in words
	Empty  bool
}

// A CoursePlace is a point of a chart.
type CoursePlace struct {
	Line  int // index in CourseView.Courses
	Color int
	Name  string
	X     string // percent of the width
	Y     string // pixels from the top; empty when there is no value
	Value string // with its unit; the reason when there is none
	Point stopwatt.CoursePoint
}

// The parts of a chart as its template reads them.
type (
	courseFigure struct {
		ID, Heading, Direction, Title, Summary, Band, About string
		Height, Bottom, Across                              string
		Legend                                              []legend
		Up, Ticks                                           []tick
		Bands, Lines                                        []timeLine
		Gaps                                                []timeGap
		Epochs                                              string
		EpochMarks                                          []courseMark
		Changes                                             []courseMark
		Dots                                                []courseDot
	}
	courseMark struct{ X, Percent, Text, Why, Anchor, Y string }
	courseDot  struct {
		X, Y  string
		Color int
	}
)

//go:embed figures.html.tmpl
var figuresTemplate string

var htmlFigures = template.Must(template.New("figures").Parse(figuresTemplate))

// figure writes one of our own templates; they take no foreign markup, so the only
// error is a programmer's.
func figure(name string, of any) template.HTML {
	var out bytes.Buffer
	if err := htmlFigures.ExecuteTemplate(&out, name, of); err != nil {
		panic("report: " + err.Error())
	}
	return template.HTML(out.String())
}

// ChartCourses draws courses over each other.
func ChartCourses(v CourseView) CourseChart {
	c := courseCanvas{view: v, scale: courseScale(v), across: courseAcrossOf(v)}
	c.up = c.upAxis()
	out := CourseChart{Unit: c.scale.unit.name, Points: c.places(), Gaps: c.gapWords()}
	if !slices.ContainsFunc(out.Points, func(p CoursePlace) bool { return p.Y != "" }) {
		out.Empty = true
		return out
	}
	f := courseFigure{
		ID: v.ID, Heading: c.heading(), Direction: direction(v.Metric), Band: v.Band, About: c.about(),
		Title: c.heading() + " over commits", Summary: c.summary(),
		Height: place(courseTop + courseHeight + courseAxis), Bottom: place(courseTop + courseHeight), Across: place(courseAcross),
		Up: c.upTicks(), Ticks: c.acrossTicks(), Gaps: c.gaps(), Changes: c.changes(),
	}
	for i, line := range v.Courses {
		color := i%(barColors-1) + 1
		f.Legend = append(f.Legend, legend{Clean(line.Name), c.legendSays(line), color})
		f.Lines = append(f.Lines, timeLine{color, c.path(line)})
		if line.Margins != nil {
			f.Bands = append(f.Bands, timeLine{color, c.band(line)})
		}
	}
	f.EpochMarks = c.epochs()
	for _, mark := range f.EpochMarks {
		f.Epochs += "M" + mark.X + " 0V" + f.Bottom
	}
	if len(out.Points) <= mostDots {
		for _, p := range out.Points {
			if p.Y != "" {
				f.Dots = append(f.Dots, courseDot{p.X, p.Y, p.Color})
			}
		}
	}
	out.Figure = figure("course", f)
	return out
}

// A courseCanvas knows where things lie.
type courseCanvas struct {
	view   CourseView
	scale  scale
	across courseAxisOf
	up     axis // in the scale's unit, or its logarithm
}

// courseScale chooses the unit of all courses together. A relation has none.
func courseScale(v CourseView) scale {
	metric := v.Metric
	var summaries []stopwatt.Summary
	for _, line := range v.Courses {
		if line.Course.Against != "" {
			metric = stopwatt.Metric{Unit: "1"}
		}
		for _, p := range line.Course.Points {
			if p.Absent == "" {
				summaries = append(summaries, stopwatt.Summary{Mean: p.Value, Median: p.Value})
			}
		}
	}
	s := scaleOf(metric, v.Unit, summaries)
	if metric.Unit == "1" && metric.Name == "" {
		s.decimals = max(s.decimals, 3)
	}
	return s
}

// value writes a value with its unit.
func (c courseCanvas) value(value float64) string {
	if c.relation() {
		return c.scale.write(value) + "×"
	}
	return c.scale.unit.with(c.scale.write(value))
}

// relation tells whether ratios are drawn.
func (c courseCanvas) relation() bool {
	return len(c.view.Courses) > 0 && c.view.Courses[0].Course.Against != ""
}

// heading names metric and unit.
func (c courseCanvas) heading() string {
	if c.relation() {
		return label(c.view.Metric) + " ÷ that of " + short(c.view.Courses[0].Course.Against)
	}
	return heading(c.view.Metric, c.scale.unit)
}

// about says what a reader may be wrong about.
func (c courseCanvas) about() string {
	var parts []string
	if c.view.Log {
		parts = append(parts, "logarithmic axis")
	} else if c.up.low > 0 {
		parts = append(parts, "the axis does not begin at 0")
	}
	for _, line := range c.view.Courses {
		for _, p := range line.Course.Points {
			if p.Commits > 1 {
				return dotted(append(parts, "long: neighbours are drawn as one, their median, with a band from the smallest to the largest; zoom for each")...)
			}
		}
	}
	return dotted(parts...)
}

// legendSays is the newest value of a course.
func (c courseCanvas) legendSays(line CourseLine) string {
	for _, p := range slices.Backward(line.Course.Points) {
		if p.Absent == "" {
			return c.value(p.Value)
		}
	}
	return absent
}

// summary says every course in words.
func (c courseCanvas) summary() string {
	var words []string
	for _, line := range c.view.Courses {
		var first, last *stopwatt.CoursePoint
		low, high := math.Inf(1), math.Inf(-1)
		for i, p := range line.Course.Points {
			if p.Absent != "" {
				continue
			}
			if first == nil {
				first = &line.Course.Points[i]
			}
			last = &line.Course.Points[i]
			low, high = min(low, p.Value), max(high, p.Value)
		}
		if first == nil {
			words = append(words, short(line.Name)+": nothing was measured")
			continue
		}
		words = append(words, fmt.Sprintf("%s: %s at the beginning, %s at the end, between %s and %s, %s", short(line.Name),
			c.value(first.Value), c.value(last.Value), c.value(low), c.value(high), plural(line.Course.Commits, "commit")))
	}
	for _, change := range c.view.Changes {
		words = append(words, fmt.Sprintf("%s change of %s by %s at %s", change.Change.State, short(change.Case.String()), changeText(change.Change), commitName(change.Change.First)))
	}
	return strings.Join(words, "; ") + "."
}

// values go through each drawn value with how far its band reaches.
func (c courseCanvas) values(do func(value, low, high float64)) {
	for _, line := range c.view.Courses {
		for i, p := range line.Course.Points {
			if p.Absent == "" {
				low, high := reach(line, i)
				do(p.Value, low, high)
			}
		}
	}
}

// placeOf is where a change lies: at its commit, or, where neighbours are drawn as one,
// where its time does.
func (c courseCanvas) placeOf(change stopwatt.SeriesChange) (share float64, within bool) {
	for _, line := range c.view.Courses {
		for _, p := range line.Course.Points {
			if p.SHA == change.Change.First.SHA && p.SHA != "" {
				return c.across.of(p), true
			}
		}
	}
	return c.across.at(change.Commit.Time)
}
