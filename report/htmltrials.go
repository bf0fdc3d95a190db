package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// mostDrawn bounds how many trials a page draws over time, so that a page of
// thousands of trials can still be opened: some 25 kB each.
const mostDrawn = 40

// mostIdle bounds how many idle windows a page draws.
const mostIdle = 6

// htmlCourses are all charts over time of one window.
type htmlCourses struct {
	Charts []timeChart
	Small  []smallChart
	Still  string // the columns of vmstat that did not change
}

// coursesOf draws the power of each meter, the CPU time of both containers, and
// every column of vmstat that changed; nil when there is nothing to draw.
func coursesOf(id string, samples []stopwatt.Samples, window stopwatt.Window, trial stopwatt.Trial) *htmlCourses {
	var power, cpu []subject
	var out htmlCourses
	var still []string
	for _, s := range samples {
		switch {
		case s.Quantity == stopwatt.EnergyUsed || s.Quantity == stopwatt.PowerDrawn:
			power = append(power, subject{s.Meter, meterSays(s, window, trial), s})
		case s.Quantity == stopwatt.CPUUsed:
			cpu = append(cpu, subject{s.Meter, cpuSays(s, trial), s})
		default:
			c := courseOf("", s, window, smallColumns)
			if small, changed := smallChartOf(s, window); changed {
				out.Small = append(out.Small, small)
			} else if len(c.points) > 0 {
				still = append(still, short(string(s.Quantity))+" "+ranged(s.Quantity, c.low, c.high))
			}
		}
	}
	for _, chart := range []*timeChart{
		timeChartOf(id+"p", "gross power", unit{name: "W", size: 1}, window, power),
		timeChartOf(id+"c", "CPU time", unit{name: "CPUs", size: 1}, window, cpu),
	} {
		if chart != nil {
			out.Charts = append(out.Charts, *chart)
		}
	}
	out.Still = strings.Join(still, ", ")
	if out.Charts == nil && out.Small == nil && out.Still == "" {
		return nil
	}
	return &out
}

// meterSays is what stands beside a meter's name: its mean power, where the
// trial has it, and how much of the window it was read.
func meterSays(s stopwatt.Samples, window stopwatt.Window, trial stopwatt.Trial) string {
	power := ""
	metric := stopwatt.EnergyMetrics(s.Meter)[energyPower]
	if value, has := trial.Value(metric.Name); has {
		power = Value(metric, value) + " mean"
	}
	return commas(power, fixed(100*s.Coverage(window), 1)+" % covered")
}

// cpuSays is what stands beside a container's name.
func cpuSays(s stopwatt.Samples, trial stopwatt.Trial) string {
	if value, has := trial.Value("cpu_" + s.Meter); has {
		return Seconds(value) + " in all"
	}
	return ""
}

// drawnTrials are the places of the trials that are drawn: of those that have
// samples, the first of each case, then marked and invalid ones, then others, in
// the order in which they were carried out.
func drawnTrials(trials []stopwatt.Trial) map[int]bool {
	var firsts, doubtful, others []int
	seen := map[stopwatt.Case]bool{}
	for i, t := range trials {
		switch {
		case len(t.Samples) == 0:
		case !seen[t.Case]:
			seen[t.Case] = true
			firsts = append(firsts, i)
		case t.Status != stopwatt.Valid || len(t.Warnings) > 0:
			doubtful = append(doubtful, i)
		default:
			others = append(others, i)
		}
	}
	drawn := map[int]bool{}
	for _, i := range slices.Concat(firsts, doubtful, others) {
		if len(drawn) < mostDrawn {
			drawn[i] = true
		}
	}
	return drawn
}

// An htmlIdle is one idle window.
type htmlIdle struct {
	Heading  string
	Powers   []string
	Warnings []string
	Courses  *htmlCourses
}

// idleShown lists the idle windows of a run.
func idleShown(run stopwatt.Run) []htmlIdle {
	var shown []htmlIdle
	for i, window := range run.Idle {
		idle := htmlIdle{Heading: dotted(idlePlace(window.Place), clock(window), Seconds(window.Window.Duration().Seconds()))}
		for _, power := range window.Powers {
			text := short(power.Meter) + " "
			if power.Absent != "" {
				text += absent + " " + short(power.Absent)
			} else {
				text += idleWatts(power)
			}
			idle.Powers = append(idle.Powers, text)
			for _, warning := range power.Warnings {
				idle.Warnings = append(idle.Warnings, short(power.Meter)+": "+short(warning))
			}
		}
		if len(window.Powers) == 0 {
			idle.Powers = []string{"no energy meter was read"}
		}
		if i < mostIdle {
			idle.Courses = coursesOf(fmt.Sprintf("i%d", i+1), window.Samples, window.Window, stopwatt.Trial{})
		}
		shown = append(shown, idle)
	}
	return shown
}

// idlePlace says where in a run an idle window lies.
func idlePlace(place stopwatt.IdlePlace) string {
	switch place {
	case stopwatt.IdleBefore:
		return "before the trials"
	case stopwatt.IdleAfter:
		return "after the last trial"
	}
	return short(string(place))
}

// clock is when an idle window began, empty when nobody knows.
func clock(window stopwatt.IdleWindow) string {
	if window.Started.IsZero() {
		return ""
	}
	return window.Started.Format("15:04:05")
}

// longestReason bounds why a trial is invalid, its log included.
const longestReason = 2000

// An htmlTrial is one line of the list of trials.
type htmlTrial struct {
	Position, Round int
	Case, Time      string
	Status          string
	Reason          string
	Warnings        []string
	Invalid, Marked bool
	Courses         *htmlCourses // nil when it is not drawn
}

// trialsShown lists trials as they were carried out, and says how many of them
// are drawn over time; empty when none is.
func trialsShown(trials []stopwatt.Trial) (shown []htmlTrial, drawn string) {
	inOrder := slices.SortedStableFunc(slices.Values(trials), func(a, b stopwatt.Trial) int { return a.Position - b.Position })
	draw, sampled := drawnTrials(inOrder), 0
	u := windowUnit(inOrder)
	for i, t := range inOrder {
		line := trialShown(t, u)
		sampled += min(len(t.Samples), 1)
		if draw[i] {
			line.Courses = coursesOf(fmt.Sprintf("t%d", i+1), t.Samples, t.Window, t)
		}
		shown = append(shown, line)
	}
	switch {
	case sampled == 0:
		return shown, ""
	case sampled == len(draw):
		drawn = "Trials can be unfolded: power and CPU time while they lasted."
	default:
		drawn = fmt.Sprintf("%d of %s can be unfolded, the first of each case and marked ones before others: power and CPU time while they lasted.",
			len(draw), plural(sampled, "trial"))
	}
	return shown, drawn + " samples.csv has all readings of all trials."
}

// windowUnit is the one unit that suits the windows of all trials.
func windowUnit(trials []stopwatt.Trial) unit {
	low, high := math.Inf(1), 0.0
	for _, t := range trials {
		if seconds, has := t.Value("time"); has && seconds > 0 {
			low, high = min(low, seconds), max(high, seconds)
		}
	}
	return suitable(stopwatt.Metric{Unit: "s"}, low, high)
}

// trialShown is the line of one trial, the length of its window in a unit.
func trialShown(t stopwatt.Trial, u unit) htmlTrial {
	line := htmlTrial{
		Position: t.Position, Round: t.Round,
		Case:    Clean(t.Case.String()),
		Status:  string(t.Status),
		Reason:  cut(Clean(t.Reason), longestReason),
		Invalid: t.Status != stopwatt.Valid,
		Marked:  len(t.Warnings) > 0,
	}
	if !t.Started.IsZero() {
		line.Time = t.Started.Format("15:04:05")
	}
	if seconds, has := t.Value("time"); has {
		line.Status += ", " + u.with(significant(seconds/u.size, 3))
	}
	for _, warning := range t.Warnings {
		line.Warnings = append(line.Warnings, short(warning))
	}
	return line
}
