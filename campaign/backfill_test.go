package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// stretchOf is a stretch of commits, one for each letter: m is measured, x does not
// build, d turns out to be done, e ends the campaign.
func stretchOf(letters string) (commits []stopwatt.Commit, measured []bool) {
	for i, letter := range letters {
		commits = append(commits, stopwatt.Commit{SHA: fmt.Sprint(i + 1), Subject: string(letter)})
		measured = append(measured, letter == 'm')
	}
	return commits, measured
}

// A scriptedFiller answers from the commit's subject; each run takes a minute.
type scriptedFiller struct {
	clock time.Time
	asked []string
	told  []string
}

var errBroken = errors.New("the engine is gone")

func (f *scriptedFiller) Fill(_ context.Context, commit stopwatt.Commit) error {
	f.asked = append(f.asked, commit.SHA)
	switch commit.Subject {
	case "x":
		return fmt.Errorf("go: %w", CannotMeasure{"it does not build"})
	case "d":
		return ErrMeasured
	case "e":
		return errBroken
	}
	f.clock = f.clock.Add(time.Minute)
	return nil
}

func (f *scriptedFiller) Filled(commit stopwatt.Commit, why string) {
	f.told = append(f.told, strings.TrimSpace(commit.SHA+" "+why))
}

func TestABackfillMeasuresInTheOrderThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, stretch string
		order         Order
		asked         string
	}{
		{"all, the newest first", "....", Order{}, "4 3 2 1"},
		{"what is measured is left out", ".m.m.", Order{}, "5 3 1"},
		{"each second, counted from the beginning", ".....", Order{Every: 2}, "4 2"},
		{"each second, the same when there are more", "......", Order{Every: 2}, "6 4 2"},
		{"what does not build is passed over", "..x.", Order{}, "4 3 2 1"},
		{"the ends, then the middle of the widest gap", ".........", Order{Gaps: true}, "9 1 5 7 3 8 6 4 2"},
		{"the widest gap of several", "m..m.....m.m", Order{Gaps: true}, "7 8 5 2 11 9 6 3"},
		{"beside a middle that does not build", "m..x..m", Order{Gaps: true}, "4 5 3 6 2"},
		{"beside ends that do not build", "x....x", Order{Gaps: true}, "6 5 1 2 3 4"},
		{"when all is measured", "mmm", Order{Gaps: true}, ""},
		{"when nothing can be", "xxx", Order{Gaps: true}, "3 2 1"},
		{"an empty stretch", "", Order{Gaps: true}, ""},
		{"each hundredth of three", "...", Order{Every: 100}, ""},
	} {
		commits, measured := stretchOf(row.stretch)
		filler := &scriptedFiller{}
		filling, err := Backfill{Filler: filler, Commits: commits, Measured: measured, Order: row.order, Now: func() time.Time { return filler.clock }}.Run(t.Context())
		if got := strings.Join(filler.asked, " "); got != row.asked || err != nil {
			t.Errorf("%s: asked %q, want %q (%v)", row.name, got, row.asked, err)
		}
		if got := len(filling.Measured) + len(filling.Failed); got != len(filler.asked) || filling.Left != 0 || filling.Spent {
			t.Errorf("%s: %+v", row.name, filling)
		}
	}
}

func TestABackfillBeginsNoRunThatWouldNotEndInTime(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		budget time.Duration
		took   []time.Duration
		asked  string
		left   int
	}{
		{"no budget", 0, nil, "4 3 2 1", 0},
		{"three runs of a minute", 3 * time.Minute, nil, "4 3 2", 1},
		{"not a moment more", 3*time.Minute - 1, nil, "4 3", 2},
		{"longer runs are known", 3 * time.Minute, []time.Duration{2 * time.Minute}, "4 3", 2},
		{"long ago runs were longer", 3 * time.Minute, []time.Duration{time.Hour, time.Second, time.Second, time.Second}, "4 3 2", 1},
		{"one run is known to be too long", time.Minute, []time.Duration{time.Hour}, "", 4},
	} {
		commits, measured := stretchOf("....")
		filler := &scriptedFiller{}
		filling, err := Backfill{Filler: filler, Commits: commits, Measured: measured, Budget: row.budget, Took: row.took, Now: func() time.Time { return filler.clock }}.Run(t.Context())
		if got := strings.Join(filler.asked, " "); got != row.asked || err != nil || filling.Left != row.left || filling.Spent != (row.left > 0) {
			t.Errorf("%s: asked %q, want %q: %+v, %v", row.name, got, row.asked, filling, err)
		}
	}
}

func TestABackfillNotesWhatDoesNotBuildAndGoesOn(t *testing.T) {
	t.Parallel()
	commits, measured := stretchOf(".xd.")
	filler := &scriptedFiller{}
	filling, err := Backfill{Filler: filler, Commits: commits, Measured: measured, Now: func() time.Time { return filler.clock }}.Run(t.Context())
	if err != nil || len(filling.Failed) != 1 || filling.Failed[0].Why != "it does not build" || len(filling.Measured) != 2 {
		t.Errorf("%+v, %v", filling, err)
	}
	if want := []string{"4", "2 it does not build", "1"}; !slices.Equal(filler.told, want) {
		t.Errorf("told %q, want %q", filler.told, want)
	}
}

func TestABackfillEndsWithWhatEndsEveryRun(t *testing.T) {
	t.Parallel()
	commits, measured := stretchOf("..e.")
	filler := &scriptedFiller{}
	filling, err := Backfill{Filler: filler, Commits: commits, Measured: measured, Now: time.Now}.Run(t.Context())
	if !errors.Is(err, errBroken) || len(filling.Measured) != 1 || filling.Left != 3 {
		t.Errorf("%+v, %v", filling, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	filling, err = Backfill{Filler: filler, Commits: commits, Measured: measured, Now: time.Now}.Run(ctx)
	if !errors.Is(err, context.Canceled) || filling.Left != 4 {
		t.Errorf("cancelled: %+v, %v", filling, err)
	}
}
