package report

import (
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// courseOfValues is a course of a point a day.
func courseOfValues(values ...float64) stopwatt.Course {
	course := stopwatt.Course{Case: stopwatt.Case{Implementation: "go", Workload: "hello"}, Metric: "time", Commits: len(values)}
	for i, value := range values {
		course.Points = append(course.Points, stopwatt.CoursePoint{Position: i + 1, Time: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC), Value: value, N: 10, Commits: 1})
	}
	return course
}

func TestEveryAxisOfACourseHasNumbers(t *testing.T) {
	t.Parallel()
	metric, _ := stopwatt.MetricNamed("time")
	for _, row := range []struct {
		name   string
		values []float64
	}{
		{"values within a power of ten", []float64{6.5, 6.7, 7.8}},
		{"values over many", []float64{0.001, 0.2, 30}},
		{"one value alone", []float64{6.5}},
		{"the same value twice", []float64{6.5, 6.5}},
		{"values near zero", []float64{0.00001, 0.9}},
		{"nothing but zeros", []float64{0, 0}},
	} {
		for _, log := range []bool{false, true} {
			chart := ChartCourses(CourseView{ID: "c", Metric: metric, Log: log, Courses: []CourseLine{{Name: "go/hello", Course: courseOfValues(row.values...)}}})
			ticks := strings.Count(string(chart.Figure), `class="tick" x="0"`)
			if positive := row.values[0] > 0; ticks < 1 && (positive || !log) || strings.Contains(string(chart.Figure), "NaN") || strings.Contains(string(chart.Figure), "Inf") {
				t.Errorf("%s, logarithmic %v: %d numbers stand at the axis: %s", row.name, log, ticks, chart.Figure)
			}
		}
	}
}

func TestACourseIsLiftedWhereThereIsNoValue(t *testing.T) {
	t.Parallel()
	course := courseOfValues(1, 2, 3, 4, 5)
	course.Points[2].Absent = "the meter gave no reading"
	metric, _ := stopwatt.MetricNamed("time")
	chart := ChartCourses(CourseView{ID: "c", Metric: metric, Courses: []CourseLine{{Name: "go/hello", Course: course, Margins: []float64{1, 1, 1, 1, 1}}}})
	_, path, _ := strings.Cut(string(chart.Figure), `class="line c1" d="`)
	path, _, _ = strings.Cut(path, `"`)
	if strings.Count(path, "M") != 2 || strings.Count(path, "L") != 2 {
		t.Errorf("the line is not in two parts: %s", path)
	}
	if len(chart.Gaps) != 1 || chart.Gaps[0] != "go/hello: the meter gave no reading (1 commit)" {
		t.Errorf("the gap is told as %q", chart.Gaps)
	}
	if chart.Points[2].Y != "" || chart.Points[3].Value != "4.000 s" {
		t.Errorf("points are %+v", chart.Points)
	}
}

func TestABandReachesBelowZeroOnlyWhereValuesMay(t *testing.T) {
	t.Parallel()
	for metric, want := range map[string]float64{"time": 0, "energy_board_gross": 0, "energy_board": -2, "score_of_a_harness": -2} {
		line := CourseLine{Course: stopwatt.Course{Metric: metric, Points: []stopwatt.CoursePoint{{Value: 1, Commits: 1}}}, Margins: []float64{3}}
		if low, high := reach(line, 0); low != want || high != 4 {
			t.Errorf("%s: from %g to %g, want %g and 4", metric, low, high, want)
		}
	}
}

// Eight commits that one push has landed have one time: the change was marked at the
// first of them.
func TestAChangeIsMarkedAtItsCommitAlsoWhereManyHaveOneTime(t *testing.T) {
	t.Parallel()
	course := courseOfValues(1, 1, 1, 1, 1, 1, 2, 2, 2)
	for i := range course.Points {
		course.Points[i].SHA, course.Points[i].Position, course.Points[i].Time = strings.Repeat(string(rune('a'+i)), 40), i+1, course.Points[0].Time
	}
	other := course
	other.Case.Implementation = "rust"
	change := stopwatt.SeriesChange{Case: course.Case, Change: stopwatt.ChangePoint{State: stopwatt.Confirmed, First: stopwatt.CommitPlace{SHA: course.Points[6].SHA}}}
	change.Commit.Time = course.Points[0].Time
	for name, last := range map[string]int{"placed": 9, "of the last no place is known": 0} {
		course.Points[8].Position = last
		v := CourseView{ID: "c", Courses: []CourseLine{{Course: course}, {Course: other}}, Changes: []stopwatt.SeriesChange{change}}
		v.Metric, _ = stopwatt.MetricNamed("time")
		c := courseCanvas{view: v, scale: courseScale(v), across: courseAcrossOf(v)}
		share, within := c.placeOf(change)
		if !within || share != c.across.of(course.Points[6]) || share < 0.6 {
			t.Errorf("%s: at %g, %t, and its commit at %g", name, share, within, c.across.of(course.Points[6]))
		}
	}
}
