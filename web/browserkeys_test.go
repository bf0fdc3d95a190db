package web

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gitlab.com/stopwatt/stopwatt"
)

// coursesAsked asks for one course, as a page does.
func coursesAsked(suite stopwatt.SuiteName, of stopwatt.Case, metric string) stopwatt.CourseQuery {
	return stopwatt.CourseQuery{Suite: suite, Metric: metric, Machine: boardFingerprint, Cases: []stopwatt.Case{of}, Most: coursePoints}
}

// linear fails unless heights follow values by one straight line, downwards.
func linear(t *testing.T, course stopwatt.Course, dots []dot) {
	t.Helper()
	var values, heights []float64
	for i, p := range course.Points {
		if p.Absent == "" {
			y, err := strconv.ParseFloat(dots[i].Cy, 64)
			if err != nil {
				t.Fatal(err)
			}
			values, heights = append(values, p.Value), append(heights, y)
		}
	}
	least, most := 0, 0
	for i := range values {
		if values[i] < values[least] {
			least = i
		}
		if values[i] > values[most] {
			most = i
		}
	}
	slope := (heights[most] - heights[least]) / (values[most] - values[least])
	if slope >= 0 {
		t.Fatalf("more is drawn lower: %g pixels for each unit", slope)
	}
	for i := range values {
		if want := heights[least] + slope*(values[i]-values[least]); math.Abs(heights[i]-want) > 0.02 {
			t.Errorf("%g is drawn at %g, should be at %g", values[i], heights[i], want)
		}
	}
}

// keysReachEverything goes through pages by the tab key alone.
func keysReachEverything(t *testing.T, browser context.Context, home string, pages map[string]string) {
	b := openTab(t, browser)
	b.look(allLooks[0])
	for _, name := range []string{"overview", "suite", "series", "compare", "run", "trial", "machine"} {
		b.run(chromedp.Navigate(home + pages[name]))
		stops := tell[int](b, interactive)
		reached := map[string]bool{}
		for range stops + 1 {
			b.run(chromedp.KeyEvent(kb.Tab))
			reached[tell[string](b, `document.activeElement.dataset.stop ?? ""`)] = true
		}
		for i := range stops {
			if !reached[strconv.Itoa(i)] {
				t.Errorf("%s: the tab key does not reach %s", name, tell[string](b, `document.querySelector("[data-stop='`+strconv.Itoa(i)+`']").outerHTML.slice(0, 120)`))
			}
		}
	}
	b.run(chromedp.Navigate(home+pages["series"]), chromedp.Focus(".plot"), chromedp.KeyEvent(kb.ArrowLeft))
	newest := pastOf(plainNames).runs[commitsMeasured-1].line.Commit
	if reading := tell[string](b, `document.querySelector(".reading").textContent`); !strings.Contains(reading, newest.Short()) {
		t.Errorf("the first key shows %q, not the newest commit %s", reading, newest.Short())
	}
	b.run(chromedp.KeyEvent(kb.Home))
	oldest := pastOf(plainNames).runs[0].line.Commit
	if reading := tell[string](b, `document.querySelector(".reading").textContent`); !strings.Contains(reading, oldest.Short()) {
		t.Errorf("the key Home shows %q, not the oldest commit %s", reading, oldest.Short())
	}
	b.quiet(home)
}
