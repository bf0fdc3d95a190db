package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

const ms = int64(time.Millisecond)

// metered is the run of servers on a machine with a board's meter, a CPU's and
// one that may not be read. The trials of send-static-file are too short for the
// board's meter; in one trial it failed for a second.
func metered(rounds int) (stopwatt.Results, []stopwatt.Trial) {
	results, trials := servers(rounds)
	run := results.Run
	run.Meters = []stopwatt.Meter{
		{Name: "board", Source: "ina226 0-0040", Renewal: 100 * time.Millisecond},
		{Name: "cpu", Source: "rapl package-0", Renewal: time.Millisecond},
		{Name: "psys", Absent: "RAPL is here (psys) but only root may read it"},
	}
	random := rand.New(rand.NewPCG(412, 2))
	run.Idle = []stopwatt.IdleWindow{
		idleWindow(random, stopwatt.IdleBefore, run.Started.Add(-time.Minute), 4.18, 1.31),
		idleWindow(random, stopwatt.IdleAfter, run.Ended, 4.20, 1.40),
	}
	for i := range trials {
		meter(random, &trials[i], run.IdlePowers())
	}
	return resultsOf(run, trials), trials
}

// idleWindow is half a minute in which nothing runs.
func idleWindow(random *rand.Rand, place stopwatt.IdlePlace, started time.Time, board, cpu float64) stopwatt.IdleWindow {
	window := stopwatt.Window{Start: 1e9, End: 31e9}
	return stopwatt.IdleWindow{
		Place: place, Started: started, Window: window,
		Powers: []stopwatt.IdlePower{
			{Meter: "board", Watts: board, Error: 0.02, Over: 30 * time.Second},
			{Meter: "cpu", Watts: cpu, Error: 0.01, Over: 30 * time.Second},
			{Meter: "psys", Absent: "RAPL is here (psys) but only root may read it"},
		},
		Samples: vmstat(random, window, 1),
	}
}

// watts are what each implementation draws, from the board and from the CPU.
var watts = map[string][2]float64{"rust-tokio": {38.1, 12.9}, "go": {40.9, 14.2}, "rust-arena": {41.4, 14.9}, "rust-tokio-alloc": {38.0, 13.3}}

// meter adds to a trial what the meters said of it.
func meter(random *rand.Rand, trial *stopwatt.Trial, idle []stopwatt.IdlePower) {
	drawn := watts[trial.Case.Implementation]
	seconds := trial.Window.Duration().Seconds()
	energies := []stopwatt.Energy{
		{Meter: "board", Gross: int64(drawn[0] * seconds * (1 + 0.005*random.NormFloat64()) * 1e6)},
		{Meter: "cpu", Gross: int64(drawn[1] * seconds * (1 + 0.004*random.NormFloat64()) * 1e6)},
		{Meter: "psys", Absent: "RAPL is here (psys) but only root may read it"},
	}
	if renewals := int64(seconds / 0.1); renewals < stopwatt.LeastRenewals {
		energies[0].Absent = fmt.Sprintf("it renewed its value %d times in %.3g s, and 50 are needed: let the load last 5 s or more, or make %.3g times the requests", renewals, seconds, 5/seconds)
	}
	for i, energy := range energies {
		figures, absences := energy.Figures(idle[i], trial.Window, stopwatt.Work{Per: stopwatt.RightAnswer, Count: 20000})
		trial.Measurements = append(trial.Measurements, figures...)
		trial.Absent = append(trial.Absent, absences...)
	}
	board, cpu := power(random, trial.Window, drawn[0]), energyUsed(random, trial.Window, drawn[1])
	if trial.Position == 4 {
		board = fails(board, trial.Window.Start+2000*ms, trial.Window.Start+3000*ms)
		trial.Warnings = append(trial.Warnings, "readings cover 84.9 % of the window; the last failure: EAGAIN")
	}
	used, _ := trial.Value("cpu_server")
	trial.Samples = slices.Concat(
		[]stopwatt.Samples{board, cpu, cpuUsed(random, trial.Window, "server", used/seconds), cpuUsed(random, trial.Window, "driver", 0.4)},
		vmstat(random, trial.Window, 40))
}

// metersOf lays the meters board and cpu side by side plainly; package regression
// has the real one.
func metersOf(results stopwatt.Results) stopwatt.MeterContrast {
	c := stopwatt.MeterContrast{Meters: results.Run.Meters[:2], Comparable: 2, Alike: 1}
	at := 0
	for _, w := range results.Run.Settings.Workloads {
		block := stopwatt.MeterWorkload{Workload: w.Name}
		for range results.Run.Settings.Implementations {
			result := results.Cases[at]
			block.Rows = append(block.Rows, stopwatt.MeterRow{
				Implementation: result.Case.Implementation, Result: result,
				Ratios: []stopwatt.Ratio{ratioBetween(result, "energy_board", "energy_cpu")},
			})
			at++
		}
		c.Workloads = append(c.Workloads, block)
	}
	c.Workloads[2].Swaps = []stopwatt.Swap{{
		Implementations: [2]string{"rust-tokio", "go"}, Meters: [2]string{"board", "cpu"},
		Means: [2][2]float64{{386.7, 391}, {132.5, 129}}, Near: true,
	}}
	return c
}

func ratioBetween(result stopwatt.CaseResult, metric, other string) stopwatt.Ratio {
	a, has := result.Summary(metric)
	b, hasOther := result.Summary(other)
	if !has || !hasOther {
		return stopwatt.Ratio{}
	}
	return stopwatt.Ratio{Value: a.Mean / b.Mean, Known: true}
}

// ticks are times from just before a window to just behind it.
func ticks(window stopwatt.Window, every int64) []int64 {
	var times []int64
	for at := window.Start - every/2; at < window.End+every; at += every {
		times = append(times, at)
	}
	return times
}

// power are the readings of a sensor.
func power(random *rand.Rand, window stopwatt.Window, watts float64) stopwatt.Samples {
	s := stopwatt.Samples{Meter: "board", Quantity: stopwatt.PowerDrawn, Times: ticks(window, 100*ms)}
	for i := range s.Times {
		s.Values = append(s.Values, int64(1e6*watts*(1+0.1*math.Sin(float64(i)/3)+0.02*random.NormFloat64())))
	}
	return s
}

// fails takes the readings of a stretch of time away.
func fails(s stopwatt.Samples, from, to int64) stopwatt.Samples {
	kept := stopwatt.Samples{Meter: s.Meter, Quantity: s.Quantity, Gaps: []stopwatt.Gap{{From: from, To: to, Reason: "EAGAIN"}}}
	for i, at := range s.Times {
		if at <= from || at >= to {
			kept.Times, kept.Values = append(kept.Times, at), append(kept.Values, s.Values[i])
		}
	}
	return kept
}

// energyUsed are the readings of a counter of energy.
func energyUsed(random *rand.Rand, window stopwatt.Window, watts float64) stopwatt.Samples {
	s := stopwatt.Samples{Meter: "cpu", Quantity: stopwatt.EnergyUsed, Times: ticks(window, 100*ms)}
	s.Values = rising(random, s.Times, watts*1e-3)
	return s
}

// cpuUsed are the readings of a container's CPU time.
func cpuUsed(random *rand.Rand, window stopwatt.Window, role string, cpus float64) stopwatt.Samples {
	s := stopwatt.Samples{Meter: role, Quantity: stopwatt.CPUUsed, Times: ticks(window, 100*ms)}
	s.Values = rising(random, s.Times, cpus)
	return s
}

// rising is a counter that gains a rate each nanosecond.
func rising(random *rand.Rand, times []int64, rate float64) []int64 {
	var values []int64
	total := 0.0
	for range times {
		values = append(values, int64(total))
		total += rate * float64(times[1]-times[0]) * (1 + 0.05*random.NormFloat64())
	}
	return values
}

// vmstat are its columns, in thousandths; busy is how much goes on.
func vmstat(random *rand.Rand, window stopwatt.Window, busy float64) []stopwatt.Samples {
	var all []stopwatt.Samples
	times := ticks(window, 100*ms)
	for _, column := range []struct {
		name        string
		base, swing float64
	}{
		{"r", 3, 1.4}, {"b", 0, 0}, {"swpd", 0, 0}, {"free", 9.1e9, 2e6}, {"buff", 2.1e8, 0}, {"cache", 4.2e9, 1e6}, {"si", 0, 0}, {"so", 0, 0},
		{"bi", 0, 0}, {"bo", 2e4, 1e4}, {"in", 900 * busy, 60 * busy}, {"cs", 650 * busy, 50 * busy}, {"us", 0.01 * busy, 0.001 * busy},
		{"sy", 0.008 * busy, 0.001 * busy}, {"id", 1 - 0.018*busy, 0.002 * busy}, {"wa", 0, 0}, {"st", 0, 0},
	} {
		s := stopwatt.Samples{Meter: "vmstat", Quantity: stopwatt.Quantity(column.name), Times: times}
		for range times {
			s.Values = append(s.Values, int64(1000*max(column.base+column.swing*random.NormFloat64(), 0)))
		}
		all = append(all, s)
	}
	return all
}

// hostileSamples have a meter, a quantity and a gap that try to be more than
// text.
func hostileSamples(start int64) []stopwatt.Samples {
	const script = `"><script>alert(1)</script>`
	times := []int64{start, start + 50*ms, start + 200*ms, start + 10*sec}
	return []stopwatt.Samples{
		{Meter: script, Quantity: stopwatt.PowerDrawn, Times: times, Values: []int64{1, 2, 3, 4}, Gaps: []stopwatt.Gap{{From: times[1], To: times[2], Reason: script}}},
		{Meter: script, Quantity: stopwatt.CPUUsed, Times: times, Values: []int64{4, 3, 2, 1}},
		{Meter: script, Quantity: script, Times: times, Values: []int64{1, 2, 3, 4}},
		{Meter: script, Quantity: script, Times: times, Values: []int64{1, 1, 1, 1}},
	}
}
