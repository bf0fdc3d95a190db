package regression

import (
	"fmt"
	"math/rand/v2"
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
