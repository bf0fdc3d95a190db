package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// An orderMark is one trial of a chart of the order of trials.
type orderMark struct {
	X, Y, Path string // Path is a cross at a place, of an invalid one
	Color      int
	Marked     bool
	Title      string
}

// orderLimit is how far from 1 the chart reaches at most, as a factor: what lies
// beyond is drawn at its edge.
const orderLimit = 4.0

// TrialOrder draws the trials of a run in the order in which they were carried out,
// each by its value of a metric beside the median of its case's valid ones: so a
// machine that drifts, or that was disturbed for a time, shows in all cases alike.
// It is empty where there are fewer than two values.
func TrialOrder(id string, trials []stopwatt.Trial, metric stopwatt.Metric) template.HTML {
	inOrder := slices.SortedStableFunc(slices.Values(trials), func(a, b stopwatt.Trial) int { return a.Position - b.Position })
	medians, names := orderMedians(inOrder, metric.Name)
	if len(medians) == 0 {
		return ""
	}
	up, values := orderAxis(inOrder, medians, metric.Name)
	if len(values) < 2 {
		return ""
	}
	bottom := timeTop + 1.6*timeHeight
	first, last := inOrder[0].Position, inOrder[len(inOrder)-1].Position
	f := struct {
		ID, Heading, Title, Summary, Width, Height, Bottom, One string
		Legend                                                  []legend
		Up, Across                                              []tick
		Marks                                                   []orderMark
	}{
		ID: id, Heading: label(metric) + ", beside the median of the case", Title: label(metric) + " in the order of the trials",
		Width: place(chartWidth), Height: place(bottom + axisHeight), Bottom: place(bottom), One: place(up.yAt(0, timeTop, bottom)),
		Across: []tick{tickAt(0, bottom, fmt.Sprintf("trial %d", first)), tickAt(chartWidth, bottom, fmt.Sprint(last))},
	}
	for i, name := range names {
		f.Legend = append(f.Legend, legend{Clean(name), "", i%(barColors-1) + 1})
	}
	for _, y := range orderSteps(up) {
		f.Up = append(f.Up, tick{Y: place(up.yAt(y, timeTop, bottom)), Text: signedPercent(math.Exp(y))})
	}
	for _, t := range inOrder {
		x := 6 + (chartWidth-12)*float64(t.Position-first)/float64(max(last-first, 1))
		mark := orderMark{X: place(x), Color: slices.Index(names, t.Case.Implementation)%(barColors-1) + 1, Marked: len(t.Warnings) > 0,
			Title: fmt.Sprintf("trial %d, %s", t.Position, Clean(t.Case.String()))}
		if value, has := values[t.Position]; has {
			f.Marks = append(f.Marks, mark.valid(value, up, bottom))
		} else if t.Status != stopwatt.Valid {
			mark.Path, mark.Title = cross(x, bottom-5), mark.Title+": "+Clean(string(t.Status))
			f.Marks = append(f.Marks, mark)
		}
	}
	f.Summary = orderSummary(inOrder, values)
	return figure("order", f)
}

// valid is the mark of a trial that has a value.
func (m orderMark) valid(value float64, up axis, bottom float64) orderMark {
	m.Y = place(up.yAt(min(max(value, up.low), up.high), timeTop, bottom))
	m.Title += ": " + signedPercent(math.Exp(value))
	if m.Marked {
		m.Title += ", marked"
	}
	return m
}

// orderMedians are the medians of the cases of each revision, and the names of the
// implementations in their order.
func orderMedians(trials []stopwatt.Trial, metric string) (medians map[sideOf]float64, names []string) {
	values := map[sideOf][]float64{}
	for _, t := range trials {
		if !slices.Contains(names, t.Case.Implementation) {
			names = append(names, t.Case.Implementation)
		}
		if value, has := valueOf(t, metric); has {
			of := sideOf{t.Case, t.Revision}
			values[of] = append(values[of], value)
		}
	}
	medians = map[sideOf]float64{}
	for of, all := range values {
		slices.Sort(all)
		medians[of] = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	}
	slices.Sort(names)
	return medians, names
}

// sideOf names a case at a revision.
type sideOf struct {
	of stopwatt.Case
	at stopwatt.Revision
}

// valueOf is a valid trial's value above 0: of others there is no ratio.
func valueOf(t stopwatt.Trial, metric string) (float64, bool) {
	value, has := t.Value(metric)
	return value, has && t.Status == stopwatt.Valid && value > 0
}

// orderAxis is the axis of the ratios' logarithms, which are returned by position.
func orderAxis(trials []stopwatt.Trial, medians map[sideOf]float64, metric string) (axis, map[int]float64) {
	values, reach := map[int]float64{}, math.Log(1.02)
	for _, t := range trials {
		value, has := valueOf(t, metric)
		if !has {
			continue
		}
		values[t.Position] = math.Log(value / medians[sideOf{t.Case, t.Revision}])
		reach = max(reach, math.Abs(values[t.Position]))
	}
	reach = min(reach, math.Log(orderLimit)) * 1.1
	return axis{-reach, reach}, values
}

// orderSteps are the logarithms that the axis names: none, and half of what it reaches.
func orderSteps(up axis) []float64 {
	step := niceStep(math.Expm1(up.high) / 1.5)
	return []float64{-math.Log1p(step), 0, math.Log1p(step)}
}

// cross is the path of a mark round a place.
func cross(x, y float64) string {
	const arm = 3
	return fmt.Sprintf("M%s %sl%d %dM%s %sl%d %d", place(x-arm), place(y-arm), 2*arm, 2*arm, place(x-arm), place(y+arm), 2*arm, -2*arm)
}

// orderSummary says what the chart shows.
func orderSummary(trials []stopwatt.Trial, values map[int]float64) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, value := range values {
		low, high = min(low, value), max(high, value)
	}
	invalid := 0
	for _, t := range trials {
		if t.Status != stopwatt.Valid {
			invalid++
		}
	}
	text := fmt.Sprintf("%s, from %s to %s beside the median of the case", plural(len(values), "trial"), signedPercent(math.Exp(low)), signedPercent(math.Exp(high)))
	if invalid > 0 {
		text += fmt.Sprintf("; %d invalid", invalid)
	}
	return strings.TrimSpace(text) + "."
}
