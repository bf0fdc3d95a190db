package regression

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// grown is a series of one machine with one percent of noise.
func grown(levels ...float64) stopwatt.Series {
	noise := rand.New(rand.NewPCG(4, 2))
	var series stopwatt.Series
	for i, level := range levels {
		series.Points = append(series.Points, stopwatt.SeriesPoint{
			Position: i + 1, SHA: fmt.Sprintf("%04d", i+1), Run: int64(i), Machine: "m", Value: level * (1 + 0.01*noise.NormFloat64()),
		})
	}
	return series
}

func level(value float64, n int) []float64 {
	levels := make([]float64, n)
	for i := range levels {
		levels[i] = value
	}
	return levels
}

func TestAChangeIsSuspectedBeforeItIsConfirmed(t *testing.T) {
	t.Parallel()
	series := grown(append(level(1, 30), level(1.1, 20)...)...)
	found := FollowChanges(series, stopwatt.Series{}, stopwatt.ChangeRule{})
	if len(found) != 1 || len(found[0].ChangePoints) != 1 {
		t.Fatalf("%+v", found)
	}
	c := found[0].ChangePoints[0]
	if c.State != stopwatt.Confirmed || c.First.Position != 31 {
		t.Errorf("%s at %d", c.State, c.First.Position)
	}
	if c.Since.Suspected.Position == 0 || c.Since.Suspected.Position >= c.Since.Confirmed.Position {
		t.Errorf("suspected at %d, confirmed at %d", c.Since.Suspected.Position, c.Since.Confirmed.Position)
	}
}

func TestWhatTheControlDoesTooIsWithheld(t *testing.T) {
	t.Parallel()
	series := grown(append(level(1, 30), level(1.1, 20)...)...)
	found := FollowChanges(series, series, stopwatt.ChangeRule{})
	if c := found[0].ChangePoints; len(c) != 1 || c[0].State != stopwatt.Withheld || c[0].Withheld != stopwatt.ControlShifted {
		t.Errorf("%+v", c)
	}
}

func TestASeriesWithoutPointsHasNoChanges(t *testing.T) {
	t.Parallel()
	if found := FollowChanges(stopwatt.Series{}, stopwatt.Series{}, stopwatt.ChangeRule{}); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// long is a series of 1,300 commits, with a step at each of these, of 5 % and noise of
// half of one.
func long(steps ...int) stopwatt.Series {
	noise := rand.New(rand.NewPCG(5, 5))
	level, values := 1.0, []float64{}
	for i := range 1300 {
		if slices.Contains(steps, i+1) {
			level *= 1.05
		}
		values = append(values, level*(1+0.005*noise.NormFloat64()))
	}
	return grown(values...)
}

func placesOf(search stopwatt.ChangeSearch) []string {
	var places []string
	for _, c := range search.ChangePoints {
		at := "lost"
		if c.Index < len(search.Points) && search.Points[c.Index].SHA == c.First.SHA {
			at = "in its place"
		}
		places = append(places, fmt.Sprint(c.First.Position, " ", c.State, " ", at))
	}
	return places
}

func TestALongSeriesIsFollowedAtItsEndAndSearchedAsAWhole(t *testing.T) {
	t.Parallel()
	found := FollowChanges(long(200, 310, 1250), stopwatt.Series{}, stopwatt.ChangeRule{})
	want := []string{"200 confirmed in its place", "310 confirmed in its place", "1250 confirmed in its place"}
	if len(found) != 1 || len(found[0].Points) != 1300 || !slices.Equal(placesOf(found[0]), want) {
		t.Fatalf("%d searches, %v", len(found), placesOf(found[0]))
	}
	if since := found[0].ChangePoints[2].Since; since.Suspected.Position == 0 || since.Suspected.Position >= since.Confirmed.Position {
		t.Errorf("at the end: %+v", since)
	}
}

// The commits that are read move on, and what they leave behind was found before.
func TestAChangeIsNotWithdrawnForLyingBeforeWhatIsSearched(t *testing.T) {
	t.Parallel()
	series := long(200, 310, 1250)
	before := FindChanges(series, stopwatt.ChangeRule{})[0].ChangePoints
	for _, first := range []int{150, 250, 300, 308, 309, 310, 311, 320} {
		search := CarryOver(before, FindChanges(from(series, first), stopwatt.ChangeRule{})[0])
		var places []int
		for _, c := range search.ChangePoints {
			places = append(places, c.First.Position)
			if c.State != stopwatt.Confirmed {
				t.Errorf("from %d on: %d is %s", first, c.First.Position, c.State)
			}
		}
		if want := []int{200, 310, 1250}; !slices.Equal(places, want) {
			t.Errorf("from %d on: %v, want %v", first, places, want)
		}
	}
}
