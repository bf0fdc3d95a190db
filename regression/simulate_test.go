package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// A noise draws the logarithms of what trials take, one after the other, round 0.
type noise struct {
	name string
	draw func(sigma float64, random *rand.Rand) func() float64
}

var (
	logNormal = noise{"log-normal", func(sigma float64, random *rand.Rand) func() float64 {
		return func() float64 { return sigma * random.NormFloat64() }
	}}
	// Five trials in a hundred take longer, exponentially, ten sigma on average.
	outliers = noise{"5 % outliers", func(sigma float64, random *rand.Rand) func() float64 {
		return func() float64 {
			v := sigma * random.NormFloat64()
			if random.Float64() < 0.05 {
				v += 10 * sigma * random.ExpFloat64()
			}
			return v
		}
	}}
	// Thirty trials in a hundred take four sigma longer.
	bimodal = noise{"bimodal", func(sigma float64, random *rand.Rand) func() float64 {
		return func() float64 {
			v := sigma * random.NormFloat64()
			if random.Float64() < 0.3 {
				v += 4 * sigma
			}
			return v
		}
	}}
	// A machine that drifts: trials that follow each other are alike, with a
	// correlation of 0.75, as measured on a busy machine.
	drifting = noise{"autocorrelated", func(sigma float64, random *rand.Rand) func() float64 {
		state := sigma * random.NormFloat64()
		return func() float64 {
			state = 0.75*state + math.Sqrt(1-0.75*0.75)*sigma*random.NormFloat64()
			return state
		}
	}}
)

// An experiment is a row of the table: so many comparisons, of which the first ones
// have changed.
type experiment struct {
	noise     noise
	sigma     float64
	change    float64 // relative
	family    int
	threshold float64
	procedure stopwatt.Procedure
	changed   int // comparisons
}

// What was found in one experiment: of how many runs, and by which look, counted from 1.
type found struct {
	runs      int
	any       [4]int // runs in which any comparison regressed
	first     [4]int // runs in which the first one regressed
	unchanged [4]int // comparisons called unchanged, of all but the first
	firstSame [4]int // runs in which the first one is called unchanged
	simple    [3]int // runs in which a simple rule calls the first one worse
}

var simpleRules = [3]string{"ratio 110 %", "t-test 1 %", "10 % over the mean"}

// simulate measures and judges so many runs.
func (e experiment) simulate(runs int, seed uint64) found {
	random := rand.New(rand.NewPCG(seed, 11))
	t := found{runs: runs}
	for range runs {
		trials, judgement := e.run(random)
		t.count(judgement)
		for i, worse := range simplyWorse(trials[0].Pairs[:e.procedure.Looks[0].Rounds]) {
			if worse {
				t.simple[i]++
			}
		}
	}
	return t
}

// run measures what is wanted until nothing more is, and judges it.
func (e experiment) run(random *rand.Rand) ([]stopwatt.PairedTrials, stopwatt.Judgement) {
	time, _ := stopwatt.MetricNamed("time")
	trials := make([]stopwatt.PairedTrials, e.family)
	place := map[stopwatt.Case]int{}
	for i := range trials {
		of := stopwatt.Case{Implementation: fmt.Sprint(i), Workload: "w"}
		trials[i] = stopwatt.PairedTrials{Case: of, Metric: time, Threshold: e.threshold}
		place[of] = i
	}
	draw := e.noise.draw(e.sigma, random)
	for {
		judgement := Judge(e.procedure, trials, false)
		if judgement.Over() {
			return trials, judgement
		}
		for _, wanted := range judgement.Wanted {
			i := place[wanted.Case]
			change := 0.0
			if i < e.changed {
				change = math.Log1p(e.change)
			}
			trials[i].Pairs = measure(trials[i].Pairs, wanted, draw, change, random)
		}
	}
}

// measure adds the rounds that are wanted and not there: pairs back to back, in
// random order.
func measure(pairs []stopwatt.Pair, wanted stopwatt.Wanted, draw func() float64, change float64, random *rand.Rand) []stopwatt.Pair {
	seen := map[int]bool{}
	for _, pair := range pairs {
		seen[pair.Round] = true
	}
	for round := wanted.First; round <= wanted.Last; round++ {
		if seen[round] {
			continue
		}
		pair := stopwatt.Pair{Round: round, HeadFirst: random.IntN(2) == 0}
		first, second := draw(), draw()
		if pair.HeadFirst {
			first, second = second, first
		}
		pair.Base, pair.Head = math.Exp(first), math.Exp(second+change)
		pairs = append(pairs, pair)
	}
	return pairs
}

// count takes in the judgement of one run.
func (t *found) count(j stopwatt.Judgement) {
	var any [4]bool
	for i, c := range j.Comparisons {
		for look := max(c.Look, 1); c.Look > 0 && look < 4; look++ {
			switch {
			case c.Verdict == stopwatt.Regressed && i == 0:
				t.first[look]++
			case c.Verdict == stopwatt.Unchanged && i == 0:
				t.firstSame[look]++
			case c.Verdict == stopwatt.Unchanged:
				t.unchanged[look]++
			}
			any[look] = any[look] || c.Verdict == stopwatt.Regressed
		}
	}
	for look, regressed := range any {
		if regressed {
			t.any[look]++
		}
	}
}

// simplyWorse asks the simple rules of other trackers: one value against one, by
// more than a tenth; Welch's t-test at 1 %, one-sided, uncorrected; one value a
// tenth above the mean of the others.
func simplyWorse(pairs []stopwatt.Pair) [3]bool {
	var base, head []float64
	for _, pair := range pairs {
		base, head = append(base, pair.Base), append(head, pair.Head)
	}
	a, b := describe(append([]float64(nil), base...)), describe(append([]float64(nil), head...))
	n := float64(len(pairs))
	t := (b.Mean - a.Mean) / math.Sqrt((a.SD*a.SD+b.SD*b.SD)/n)
	const critical = 2.508 // of Student's t with 22 degrees of freedom, of twelve on each side
	return [3]bool{head[0] > 1.1*base[0], t > critical, head[0] > 1.1*a.Mean}
}

// shares are parts of so many, by look.
func shares(counts [4]int, of int) (parts [3]float64) {
	for i, count := range counts[1:] {
		parts[i] = float64(count) / float64(of)
	}
	return parts
}

func TestSimulatedVerdicts(t *testing.T) {
	t.Parallel()
	// A change of 5 % of one in fifty, at 1 % noise, beyond a threshold of 2 %: how
	// often it is confirmed, and how often the other 49 are called unchanged, by 12,
	// 20 and 32 rounds. Simulated before the procedure was written, in 10,000 runs.
	tests := []struct {
		noise                noise
		sigma                float64
		confirmed, unchanged [3]float64
	}{
		{logNormal, 0.01, [3]float64{1, 1, 1}, [3]float64{0.83, 0.99, 1}},
		{outliers, 0.01, [3]float64{0.75, 0.92, 0.98}, [3]float64{0.36, 0.70, 0.96}},
		{bimodal, 0.01, [3]float64{0.81, 0.999, 1}, [3]float64{0.02, 0.09, 0.47}},
		// As far apart within a pair as the log-normal ones.
		{drifting, 0.02, [3]float64{1, 1, 1}, [3]float64{0.83, 0.99, 1}},
	}
	const runs, family = 200, 50
	for _, test := range tests {
		t.Run(test.noise.name, func(t *testing.T) {
			t.Parallel()
			found := experiment{test.noise, test.sigma, 0.05, family, 0.02, stopwatt.Adaptive(12, 32), 1}.simulate(runs, 1)
			notBelow(t, "confirmed", shares(found.first, runs), test.confirmed, runs)
			notBelow(t, "unchanged", shares(found.unchanged, runs*(family-1)), test.unchanged, runs*(family-1))
			if test.noise.name == logNormal.name {
				notBelow(t, "unchanged, as asked", shares(found.unchanged, runs*(family-1)), [3]float64{0, 0.95, 0.95}, math.MaxInt)
			}
			if wrong := found.any[3] - found.first[3]; wrong > 0 {
				t.Errorf("%d of %d runs find another one to have regressed", wrong, runs)
			}
		})
	}
}

// notBelow compares shares with those expected, less three standard errors.
func notBelow(t *testing.T, what string, got, want [3]float64, n int) {
	t.Helper()
	for look := range want {
		if slack := 3 * math.Sqrt(want[look]*(1-want[look])/float64(n)); got[look] < want[look]-slack-1e-9 {
			t.Errorf("%s by look %d: %.3f, want %.3f", what, look+1, got[look], want[look])
		}
	}
}

func TestSimulatedFalseAlarms(t *testing.T) {
	t.Parallel()
	// Nothing has changed, and any change counts as relevant: what is significant
	// alone is confirmed. Five in a thousand runs are the bound, of 50 comparisons as
	// of 10.
	for _, noise := range []noise{logNormal, outliers, bimodal, drifting} {
		t.Run(noise.name, func(t *testing.T) {
			t.Parallel()
			const runs = 600
			found := experiment{noise, 0.01, 0, 10, 1e-9, stopwatt.Adaptive(12, 32), 1}.simulate(runs, 2)
			if found.any[3] > 3+5 { // three are expected; more than eight come once in 250
				t.Errorf("%d of %d runs confirm a regression where nothing has changed", found.any[3], runs)
			}
		})
	}
}

func TestSimulatedChangesOfTheThreshold(t *testing.T) {
	t.Parallel()
	for _, noise := range []noise{logNormal, outliers, bimodal} {
		t.Run(noise.name, func(t *testing.T) {
			t.Parallel()
			const runs, family = 60, 50
			e := experiment{noise, 0.01, 0.02, family, 0.02, stopwatt.Adaptive(12, 32), family}
			found := e.simulate(runs, 3)
			called := found.unchanged[3] + found.firstSame[3]
			if share := float64(called) / (runs * family); share > 0.0075+3*math.Sqrt(0.0075/(runs*family)) {
				t.Errorf("%d of %d changes of the threshold are called unchanged", called, runs*family)
			}
		})
	}
}

func TestSimulatedIntervalsCoverTheChange(t *testing.T) {
	t.Parallel()
	for _, noise := range []noise{logNormal, outliers, bimodal, drifting} {
		t.Run(noise.name, func(t *testing.T) {
			t.Parallel()
			const runs, rounds, change = 4000, 20, 0.03
			random := rand.New(rand.NewPCG(5, 11))
			draw, covered, beside := noise.draw(0.01, random), 0, 0
			for range runs {
				pairs := measure(nil, stopwatt.Wanted{First: 1, Last: rounds}, draw, math.Log1p(change), random)
				i := pairsOf(pairs, 1, rounds).interval((1 - confidence) / 2)
				if i.Low <= 1+change && 1+change <= i.High {
					covered++
				}
				if i.Value < i.Low || i.Value > i.High || i.Confidence < confidence {
					beside++
				}
			}
			if share := float64(covered) / runs; share < confidence-3*math.Sqrt(confidence*(1-confidence)/runs) || beside > 0 {
				t.Errorf("%.4f of the intervals cover the change; %d do not hold their estimate", share, beside)
			}
		})
	}
}

// BenchmarkVerdicts prints the table of false alarms and power beside the simple
// rules of other trackers, on the first comparison's first twelve rounds. There are
// as many runs a row as -benchtime says: 10000x.
func BenchmarkVerdicts(b *testing.B) {
	if b.N == 1 {
		return // go test tries once before it does what it is told
	}
	p := stopwatt.Adaptive(12, 32)
	rows := []experiment{
		{logNormal, 0.01, 0, 50, 1e-9, p, 1}, {outliers, 0.01, 0, 50, 1e-9, p, 1}, {bimodal, 0.01, 0, 50, 1e-9, p, 1}, {drifting, 0.02, 0, 50, 1e-9, p, 1},
		{logNormal, 0.01, 0, 50, 0.02, p, 1}, {outliers, 0.01, 0, 50, 0.02, p, 1}, {bimodal, 0.01, 0, 50, 0.02, p, 1}, {drifting, 0.02, 0, 50, 0.02, p, 1},
		{logNormal, 0.01, 0.02, 50, 0.02, p, 1}, {outliers, 0.01, 0.02, 50, 0.02, p, 1}, {bimodal, 0.01, 0.02, 50, 0.02, p, 1}, {drifting, 0.02, 0.02, 50, 0.02, p, 1},
		{logNormal, 0.01, 0.05, 50, 0.02, p, 1}, {outliers, 0.01, 0.05, 50, 0.02, p, 1}, {bimodal, 0.01, 0.05, 50, 0.02, p, 1}, {drifting, 0.02, 0.05, 50, 0.02, p, 1},
		{logNormal, 0.05, 0.20, 50, 0.05, p, 1}, {outliers, 0.05, 0.20, 50, 0.05, p, 1}, {bimodal, 0.05, 0.20, 50, 0.05, p, 1}, {drifting, 0.10, 0.20, 50, 0.05, p, 1},
	}
	table := fmt.Sprintf("%d runs a row, one of 50 comparisons changed; percent by 12, 20 and 32 rounds\n", b.N)
	table += "| noise | sd of a trial | threshold | change | any regressed | the changed one regressed | the changed one unchanged | others unchanged | " + strings.Join(simpleRules[:], " | ") + " |\n"
	table += "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
	for _, e := range rows {
		table += e.simulate(b.N, 4).row(e)
	}
	fmt.Print("\n", table) // a log would be cut short
}

// row is a line of the table.
func (f found) row(e experiment) string {
	percent := func(counts [4]int, of int) string {
		p := shares(counts, of)
		return fmt.Sprintf("%.2f / %.2f / %.2f", 100*p[0], 100*p[1], 100*p[2])
	}
	line := fmt.Sprintf("| %s | %g %% | %g %% | %g %% | %s | %s | %s | %s |", e.noise.name, 100*e.sigma, math.Round(100*e.threshold), 100*e.change,
		percent(f.any, f.runs), percent(f.first, f.runs), percent(f.firstSame, f.runs), percent(f.unchanged, f.runs*(e.family-1)))
	for _, simple := range f.simple {
		line += fmt.Sprintf(" %.2f |", 100*float64(simple)/float64(f.runs))
	}
	return line + "\n"
}
