package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// reach is from where to where the band of a line's point goes: from the smallest
// to the largest of what is drawn as one, else its margin to each side.
func reach(line CourseLine, i int) (low, high float64) {
	p := line.Course.Points[i]
	switch {
	case p.Commits > 1:
		return p.Low, p.High
	case i < len(line.Margins):
		low, high = p.Value-line.Margins[i], p.Value+line.Margins[i]
		if p.Value >= 0 && !mayBeNegative(line.Course.Metric) {
			low = max(low, 0) // no time is less, whatever the interval of a few trials says
		}
		return low, high
	}
	return p.Value, p.Value
}

// mayBeNegative tells whether values of a metric may lie below 0: net energies do, and
// nobody knows what a harness defines.
func mayBeNegative(metric string) bool {
	_, known := stopwatt.MetricNamed(metric)
	_, energy := stopwatt.MeterOf(metric)
	return !known || energy && !strings.HasSuffix(metric, "_gross")
}

// courseAxisOf is the axis of commits or times.
type courseAxisOf struct {
	byTime   bool
	places   []courseInstant // of all points, in order, each once
	from, to float64
	shares   map[courseKey]float64 // where each lies
}

// A courseKey tells points apart.
type courseKey struct {
	position int
	at       int64 // Unix nanoseconds
}

// A courseInstant is a commit's place in order, and its time.
type courseInstant struct {
	position int
	at       time.Time
	x        float64
}

// courseAcrossOf makes the axis of all courses: by positions where each point has
// one, so that commits which were not measured leave room, else by the order of
// times.
func courseAcrossOf(v CourseView) courseAxisOf {
	a := courseAxisOf{byTime: v.ByTime}
	placed := true
	for _, line := range v.Courses {
		for _, p := range line.Course.Points {
			a.places = append(a.places, courseInstant{position: p.Position, at: p.Time})
			placed = placed && p.Position > 0
		}
	}
	slices.SortStableFunc(a.places, func(p, q courseInstant) int {
		if placed && !v.ByTime {
			return p.position - q.position
		}
		return cmp.Or(p.at.Compare(q.at), p.position-q.position) // a push may land many in one second
	})
	a.places = slices.CompactFunc(a.places, func(p, q courseInstant) bool {
		return p.at.Equal(q.at) && p.position == q.position
	})
	for i := range a.places {
		switch p := &a.places[i]; {
		case v.ByTime:
			p.x = float64(p.at.Unix())
		case placed:
			p.x = float64(p.position)
		default:
			p.x = float64(i)
		}
	}
	if n := len(a.places); n > 0 {
		a.from, a.to = a.places[0].x, a.places[n-1].x
	}
	a.shares = map[courseKey]float64{}
	for _, p := range a.places {
		a.shares[courseKey{p.position, p.at.UnixNano()}] = a.share(p.x)
	}
	return a
}

// share is where a place lies, 0.01 to 0.99; a single one lies in the middle.
func (a courseAxisOf) share(x float64) float64 {
	if a.to <= a.from {
		return 0.5
	}
	return 0.01 + 0.98*(x-a.from)/(a.to-a.from)
}

// of is where a point lies.
func (a courseAxisOf) of(p stopwatt.CoursePoint) float64 {
	return a.shares[courseKey{p.Position, p.Time.UnixNano()}]
}

// at is where a time lies: at the first place that is not before it.
func (a courseAxisOf) at(when time.Time) (share float64, within bool) {
	if len(a.places) == 0 || when.Before(a.places[0].at) {
		return 0, false
	}
	for _, p := range a.places {
		if !p.at.Before(when) {
			return a.share(p.x), true
		}
	}
	return 0, false
}

// upAxis reaches over all values and bands, with some room; from 0 where that is
// near.
func (c courseCanvas) upAxis() axis {
	up := axis{math.Inf(1), math.Inf(-1)}
	c.values(func(value, low, high float64) {
		if c.view.Log {
			low = max(low, value/10) // a band may reach below 0, which no logarithm shows
		}
		up.low, up.high = min(up.low, c.raised(low)), max(up.high, c.raised(high))
	})
	room := (up.high - up.low) * 0.08
	if room <= 0 {
		room = max(math.Abs(up.high)*0.05, 1e-9)
	}
	nearZero := !c.view.Log && up.low >= 0 && up.low-room < 0.2*up.high
	up.low, up.high = up.low-room, up.high+room
	if nearZero {
		up.low = 0
	}
	return up
}

// raised is a value as the axis has it.
func (c courseCanvas) raised(value float64) float64 {
	value /= c.scale.unit.size
	if c.view.Log {
		return math.Log10(max(value, 1e-12))
	}
	return value
}

// y is how many pixels from the top a value lies.
func (c courseCanvas) y(value float64) float64 {
	return c.up.yAt(c.raised(value), courseTop, courseTop+courseHeight)
}

// yClear is y within the drawing.
func (c courseCanvas) yClear(value float64) float64 {
	return min(max(c.y(value), 0), courseTop+courseHeight)
}

// places are all points, course by course.
func (c courseCanvas) places() []CoursePlace {
	var places []CoursePlace
	for i, line := range c.view.Courses {
		for _, p := range line.Course.Points {
			place := CoursePlace{Line: i, Color: i%(barColors-1) + 1, Name: Clean(line.Name), X: percentPlace(c.across.of(p)), Point: p}
			if p.Absent == "" {
				place.Y, place.Value = hundredths(c.y(p.Value)), c.value(p.Value)
			} else {
				place.Value = absent + " " + short(p.Absent)
			}
			places = append(places, place)
		}
	}
	return places
}

// path draws a line, lifted where a value is absent. A point between two such
// places is a line without length, with round ends.
func (c courseCanvas) path(line CourseLine) string {
	var out strings.Builder
	lifted := true
	for _, p := range line.Course.Points {
		if p.Absent != "" {
			lifted = true
			continue
		}
		to := place(courseAcross*c.across.of(p)) + " " + place(c.y(p.Value))
		if lifted {
			out.WriteString("M" + to + "h0")
		} else {
			out.WriteString("L" + to)
		}
		lifted = false
	}
	return out.String()
}

// band draws what lies between the ends of each point's band, stretch by stretch.
func (c courseCanvas) band(line CourseLine) string {
	var out strings.Builder
	var there, back []string
	end := func() {
		if len(there) > 1 {
			slices.Reverse(back)
			out.WriteString("M" + strings.Join(append(there, back...), "L") + "Z")
		}
		there, back = nil, nil
	}
	for i, p := range line.Course.Points {
		if p.Absent != "" {
			end()
			continue
		}
		low, high := reach(line, i)
		x := place(courseAcross * c.across.of(p))
		there = append(there, x+" "+place(c.yClear(high)))
		back = append(back, x+" "+place(c.yClear(low)))
	}
	end()
	return out.String()
}

// gaps are the stretches without a value of a single course; of several, only the
// line is lifted.
func (c courseCanvas) gaps() []timeGap {
	if len(c.view.Courses) != 1 {
		return nil
	}
	var gaps []timeGap
	points := c.view.Courses[0].Course.Points
	for i, p := range points {
		if p.Absent == "" {
			continue
		}
		from, to := c.across.of(p), c.across.of(p)
		if i > 0 {
			from = (from + c.across.of(points[i-1])) / 2
		}
		if i+1 < len(points) {
			to = (to + c.across.of(points[i+1])) / 2
		}
		gaps = append(gaps, timeGap{place(courseAcross * from), place(max(courseAcross*(to-from), 2)), short(p.Absent)})
	}
	return gaps
}

// gapWords say why there is nothing, the most frequent reason first.
func (c courseCanvas) gapWords() []string {
	var tallies []tally
	for _, line := range c.view.Courses {
		of := map[string]int{}
		for _, p := range line.Course.Points {
			if p.Absent == "" {
				continue
			}
			text := short(line.Name) + ": " + short(p.Absent)
			if _, seen := of[text]; !seen {
				of[text] = len(tallies)
				tallies = append(tallies, tally{text: text})
			}
			tallies[of[text]].count++
		}
	}
	var words []string
	for _, t := range kinds(tallies) {
		words = append(words, fmt.Sprintf("%s (%s)", t.text, plural(t.count, "commit")))
	}
	return words
}

// epochs mark where the machine's epoch changed along the first course.
func (c courseCanvas) epochs() []courseMark {
	var marks []courseMark
	for _, line := range c.view.Courses[:min(1, len(c.view.Courses))] {
		points := line.Course.Points
		for i := 1; i < len(points); i++ {
			if points[i].Epoch == points[i-1].Epoch {
				continue
			}
			share := (c.across.of(points[i-1]) + c.across.of(points[i])) / 2
			marks = append(marks, courseMark{X: place(courseAcross * share), Percent: percentPlace(share),
				Text: "machine", Why: "the machine's kernel, governor or Docker changed here", Anchor: anchorAt(share), Y: place(courseTop + courseHeight - 6)})
		}
	}
	return marks
}

// changes mark the change points, in two rows so that neighbours do not touch.
func (c courseCanvas) changes() []courseMark {
	var marks []courseMark
	for _, change := range c.view.Changes {
		share, within := c.placeOf(change)
		if !within {
			continue
		}
		text := changeText(change.Change)
		if change.Change.State != stopwatt.Confirmed {
			text += unknown
		}
		marks = append(marks, courseMark{X: place(courseAcross * share), Percent: percentPlace(share), Text: text,
			Why: fmt.Sprintf("%s, since %s", change.Change.State, commitName(change.Change.First)), Anchor: anchorAt(share),
			Y: place(11 + 13*float64(len(marks)%2))})
	}
	return marks
}

// anchorAt keeps a text within the chart.
func anchorAt(share float64) string {
	switch {
	case share < 0.12:
		return "start"
	case share > 0.88:
		return "end"
	}
	return "middle"
}

// upTicks mark round values; of a logarithmic axis 1, 2 and 5 of each power of ten.
func (c courseCanvas) upTicks() []tick {
	if c.view.Log {
		if ticks := c.logTicks(); len(ticks) > 1 {
			return ticks
		}
		return c.plainTicks(math.Pow(10, c.up.low), math.Pow(10, c.up.high), math.Log10)
	}
	return c.plainTicks(c.up.low, c.up.high, func(value float64) float64 { return value })
}

// plainTicks mark round values from low to high, where the axis has them: also those
// of a logarithmic one that reaches over less than a power of ten.
func (c courseCanvas) plainTicks(low, high float64, raised func(float64) float64) []tick {
	step := niceStep((high - low) / 3)
	decimals := max(0, -int(math.Floor(math.Log10(step))))
	var ticks []tick
	for n := math.Ceil(low / step); n*step <= high; n++ {
		ticks = append(ticks, tick{Y: hundredths(c.up.yAt(raised(n*step), courseTop, courseTop+courseHeight)), Text: fixed(n*step, decimals)})
	}
	return ticks
}

// logTicks leave out what would stand too near to the last.
func (c courseCanvas) logTicks() []tick {
	var ticks []tick
	last := math.Inf(1)
	for power := math.Floor(c.up.low); power <= c.up.high; power++ {
		for _, digit := range []float64{1, 2, 5} {
			value := digit * math.Pow(10, power)
			y := c.up.yAt(math.Log10(value), courseTop, courseTop+courseHeight)
			if math.Log10(value) < c.up.low || math.Log10(value) > c.up.high || last-y < 24 {
				continue
			}
			last = y
			ticks = append(ticks, tick{Y: hundredths(y), Text: significant(value, 1)})
		}
	}
	return ticks
}

// acrossTicks name the times of some points: three fit a phone.
func (c courseCanvas) acrossTicks() []tick {
	var ticks []tick
	n := len(c.across.places)
	format := "2006-01-02"
	for k := range 3 {
		if n < 3 && k >= n {
			break
		}
		wanted := c.across.from + (c.across.to-c.across.from)*float64(k)/2
		p := c.across.places[0]
		for _, q := range c.across.places {
			if math.Abs(q.x-wanted) < math.Abs(p.x-wanted) {
				p = q
			}
		}
		share := c.across.share(p.x)
		t := tick{X: percentPlace(share), Y: place(courseTop + courseHeight + 16), Text: p.at.UTC().Format(format), Anchor: anchorAt(share)}
		if len(ticks) > 0 && (ticks[len(ticks)-1].Text == t.Text || share*100-ticks[len(ticks)-1].at < 28) {
			continue
		}
		t.at = share * 100
		ticks = append(ticks, t)
	}
	return ticks
}

// percentPlace writes a share of the width.
func percentPlace(share float64) string { return fmt.Sprintf("%.3f%%", 100*share) }

// hundredths writes pixels.
func hundredths(x float64) string { return fmt.Sprintf("%.2f", x) }
