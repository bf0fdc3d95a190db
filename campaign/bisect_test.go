package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A scriptedProber knows which commit brought a change of a tenth. Each run takes a
// minute, and twice as much the second time.
type scriptedProber struct {
	culprit int          // from 1; 0: none
	broken  map[int]bool // do not build
	vague   map[int]int  // undecided so many times
	failing int          // the engine goes away at this commit
	side    stopwatt.Verdict
	clock   time.Time
	asked   []string
	orders  []ProbeOrder
	told    []stopwatt.BisectionStep
}

func (p *scriptedProber) Probe(_ context.Context, order ProbeOrder) (stopwatt.BisectionRun, error) {
	var at int
	fmt.Sscan(order.Commit.SHA, &at)
	p.asked, p.orders = append(p.asked, order.Commit.SHA), append(p.orders, order)
	if at == p.failing {
		return stopwatt.BisectionRun{}, errBroken
	}
	if p.broken[at] {
		return stopwatt.BisectionRun{}, fmt.Errorf("go: %w", CannotMeasure{"it does not build"})
	}
	p.clock = p.clock.Add(time.Minute << order.Attempt)
	probe := stopwatt.BisectionRun{Run: int64(len(p.asked)), Procedure: stopwatt.Adaptive(12, 32), Comparison: stopwatt.Comparison{Verdict: stopwatt.Unchanged}}
	probe.Comparison.Estimate.Ratio = stopwatt.Interval{Value: 1, Known: true}
	switch {
	case order.Attempt < p.vague[at]:
		probe.Comparison.Verdict = stopwatt.Undecided
	case p.culprit > 0 && at >= p.culprit:
		probe.Comparison.Verdict, probe.Comparison.Estimate.Ratio.Value = p.side, 1.21
	}
	return probe, nil
}

func (p *scriptedProber) Probed(step stopwatt.BisectionStep) { p.told = append(p.told, step) }

// bisect looks among n commits.
func (p *scriptedProber) bisect(t *testing.T, n int, change func(*Bisect)) (stopwatt.Bisection, error) {
	t.Helper()
	commits, _ := stretchOf(strings.Repeat(".", n))
	b := Bisect{Prober: p, Commits: commits, Attempts: 3, Now: func() time.Time { return p.clock }}
	if p.side == "" {
		p.side = stopwatt.Regressed
	}
	if change != nil {
		change(&b)
	}
	return b.Run(t.Context())
}

// names are the suspects of a finding.
func names(f stopwatt.Bisection) string {
	var all []string
	for _, c := range f.Suspects {
		all = append(all, c.SHA)
	}
	return strings.Join(all, " ")
}

func TestABisectionNamesEveryCulpritInFewSteps(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 40; n++ {
		for culprit := 1; culprit <= n; culprit++ {
			for _, side := range []stopwatt.Verdict{stopwatt.Regressed, stopwatt.Improved} {
				p := &scriptedProber{culprit: culprit, side: side}
				finding, err := p.bisect(t, n, nil)
				if err != nil || finding.Ending != stopwatt.BisectionNamed || names(finding) != fmt.Sprint(culprit) || finding.Side != side {
					t.Fatalf("%d of %d: %s %q, %v", culprit, n, finding.Ending, names(finding), err)
				}
				if most := 1 + bits.Len(uint(n-1)); len(p.asked) > most {
					t.Errorf("%d of %d: %d runs, want %d at most", culprit, n, len(p.asked), most)
				}
			}
		}
	}
}

// TestABisectionIsRightWhateverCannotBeMeasured goes through every culprit with every
// set of commits that do not build, or stay undecided.
func TestABisectionIsRightWhateverCannotBeMeasured(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 7; n++ {
		for culprit := 1; culprit <= n; culprit++ {
			for set := 0; set < 1<<(n-1); set++ { // of all but the bad end
				p := &scriptedProber{culprit: culprit, broken: map[int]bool{}, vague: map[int]int{}}
				lost := func(at int) bool { return at > 0 && at < n && set>>(at-1)&1 == 1 }
				for at := 1; at < n; at++ {
					if lost(at) && at%2 == 0 {
						p.broken[at] = true
					} else if lost(at) {
						p.vague[at] = 99
					}
				}
				// The change came after the last that is known to be good, with the first
				// that is known to be bad.
				first, last := culprit, culprit
				for lost(first - 1) {
					first--
				}
				for lost(last) {
					last++
				}
				var want []string
				for at := first; at <= last; at++ {
					want = append(want, fmt.Sprint(at))
				}
				ending := stopwatt.BisectionRange
				if first == last {
					ending = stopwatt.BisectionNamed
				}
				finding, err := p.bisect(t, n, nil)
				if err != nil || finding.Ending != ending || names(finding) != strings.Join(want, " ") {
					t.Fatalf("%d of %d without %b: %s %q, want %s %q (%v)", culprit, n, set, finding.Ending, names(finding), ending, want, err)
				}
			}
		}
	}
}

func TestABisectionTellsTheEndsApartFirst(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		prober scriptedProber
		ending stopwatt.BisectionEnding
	}{
		{"there is no change", scriptedProber{}, stopwatt.BisectionNoChange},
		{"the bad end does not build", scriptedProber{culprit: 2, broken: map[int]bool{4: true}}, stopwatt.BisectionUntold},
		{"the bad end stays undecided", scriptedProber{culprit: 2, vague: map[int]int{4: 99}}, stopwatt.BisectionUntold},
		{"the bad end is undecided at first", scriptedProber{culprit: 2, vague: map[int]int{4: 2}}, stopwatt.BisectionNamed},
		{"the bad end is new", scriptedProber{culprit: 1, side: stopwatt.New}, stopwatt.BisectionUntold},
	} {
		finding, err := row.prober.bisect(t, 4, nil)
		if err != nil || finding.Ending != row.ending {
			t.Errorf("%s: %s, want %s (%v)", row.name, finding.Ending, row.ending, err)
		}
		if row.ending != stopwatt.BisectionNamed && names(finding) != "1 2 3 4" {
			t.Errorf("%s: suspects are %q", row.name, names(finding))
		}
	}
}

func TestABisectionTellsCommitsApartByHalfTheChange(t *testing.T) {
	t.Parallel()
	p := &scriptedProber{culprit: 3}
	finding, err := p.bisect(t, 8, func(b *Bisect) { b.Change = 1 / 1.44 })
	if err != nil {
		t.Fatal(err)
	}
	for i, order := range p.orders {
		want := 0.1 // of the measured 1.21
		if i == 0 {
			want = 0.2 // of the one that is known
		}
		if math.Abs(order.Threshold-want) > 1e-12 {
			t.Errorf("step %d has the threshold %v, want %v", i, order.Threshold, want)
		}
	}
	if math.Abs(finding.Threshold-0.1) > 1e-12 {
		t.Errorf("the threshold is %v", finding.Threshold)
	}
}

func TestABisectionMeasuresTheUndecidedAgainWithinItsBudget(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		budget   time.Duration
		asked    string
		ending   stopwatt.BisectionEnding
		suspects string
	}{
		{"as long as it takes", 0, "4 2 2 2 3", stopwatt.BisectionNamed, "3"}, // 1 + (1+2+4) + 1 minutes
		{"no time for a third attempt", 7 * time.Minute, "4 2 2 1 3", stopwatt.BisectionRange, "2 3"},
		{"no time for a second attempt", 3 * time.Minute, "4 2 1", stopwatt.BisectionStopped, "2 3 4"},
		{"no time for a step", time.Minute, "4", stopwatt.BisectionStopped, "1 2 3 4"},
	} {
		p := &scriptedProber{culprit: 3, vague: map[int]int{2: 2}}
		finding, err := p.bisect(t, 4, func(b *Bisect) { b.Budget = row.budget })
		if got := strings.Join(p.asked, " "); got != row.asked || finding.Ending != row.ending || names(finding) != row.suspects || err != nil {
			t.Errorf("%s: asked %q, %s %q; want %q, %s %q (%v)", row.name, got, finding.Ending, names(finding), row.asked, row.ending, row.suspects, err)
		}
	}
}

func TestABisectionSaysHowSureItIs(t *testing.T) {
	t.Parallel()
	p := &scriptedProber{culprit: 3}
	finding, err := p.bisect(t, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Looks at 12, 20 and 32 rounds: suspected at 5 %, 2.5 % and 2.5 %, confirmed at
	// 5 %; unchanged at 0.5 %, 0.25 % and 0.25 %.
	change, unchanged := 0.1*0.05, 0.01
	want := change + unchanged + change // the bad end, 2, 3
	if math.Abs(finding.Error-want) > 1e-12 || len(finding.Steps) != 2 {
		t.Errorf("the chance of an error is %v in %d steps, want %v", finding.Error, len(finding.Steps), want)
	}
	if got := chance(stopwatt.BisectionRun{Comparison: stopwatt.Comparison{Verdict: stopwatt.Identical}, Procedure: stopwatt.Adaptive(12, 32)}); got != 0 {
		t.Errorf("what is the same is taken for something else with a chance of %v", got)
	}
}

func TestABisectionTellsEachStep(t *testing.T) {
	t.Parallel()
	p := &scriptedProber{culprit: 2, broken: map[int]bool{2: true}}
	finding, err := p.bisect(t, 4, nil)
	if err != nil || finding.Ending != stopwatt.BisectionRange || names(finding) != "2 3" {
		t.Fatalf("%s %q, %v", finding.Ending, names(finding), err)
	}
	var told []string
	for _, step := range p.told {
		told = append(told, strings.TrimSpace(fmt.Sprintf("%s %t %d %s", step.Commit.SHA, step.Bad, step.Left, step.Skipped)))
	}
	if got, want := strings.Join(told, ", "), "4 true 4, 2 false 4 it does not build, 1 false 3, 3 true 2"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestABisectionEndsWithWhatEndsEveryRun(t *testing.T) {
	t.Parallel()
	p := &scriptedProber{culprit: 1, failing: 1}
	finding, err := p.bisect(t, 4, nil)
	if !errors.Is(err, errBroken) || names(finding) != "1 2" {
		t.Errorf("%q, %v", names(finding), err)
	}
	p = &scriptedProber{culprit: 1, failing: 4}
	if finding, err := p.bisect(t, 4, nil); !errors.Is(err, errBroken) || finding.Ending != stopwatt.BisectionUntold {
		t.Errorf("%s, %v", finding.Ending, err)
	}
}
