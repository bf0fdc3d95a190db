package regression

import (
	"fmt"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Describe computes the figures of one finite value at least: of the repetitions
// of one trial, or of trials. The standard deviation divides by n−1.
func Describe(values []float64) stopwatt.Summary { return describe(slices.Clone(values)) }

// What makes the repetitions of a command doubtful.
const (
	// shortRun is the wall time, in seconds, below which the start of a process is
	// a large part of it: half a millisecond of five.
	shortRun = 0.005
	// farOut is from how many median absolute deviations a repetition lies far from
	// the median: ten standard deviations of a normal distribution (1.4826 each).
	// Hyperfine warns from there too.
	farOut = 14.826
	// fewest repetitions tell what is usual.
	fewest = 5
)

// RepetitionDoubts says in sentences what makes the mean of a command's wall
// times, in seconds, doubtful: a slow first one, outliers, hardly any time at
// all.
func RepetitionDoubts(walls []float64) []string {
	var doubts []string
	if slices.Max(walls) < shortRun {
		doubts = append(doubts, "each repetition takes less than 5 ms, of which its start is a large part: give it more to do, or compare with time_empty")
	}
	if len(walls) < fewest {
		return doubts
	}
	median := Describe(walls).Median
	spread := medianDeviation(walls, median)
	far := func(wall float64) bool { return spread > 0 && math.Abs(wall-median) > farOut*spread }
	if far(walls[0]) && walls[0] > median {
		doubts = append(doubts, fmt.Sprintf("the first repetition took %.3g times the median: let warmup or prepare make all alike", walls[0]/median))
	}
	count := 0
	for _, wall := range walls[1:] {
		if far(wall) {
			count++
		}
	}
	if count > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %d repetitions lie far from the median: something else may have run, or its own work is uneven", count, len(walls)))
	}
	return doubts
}

// medianDeviation is the median of the distances from the median.
func medianDeviation(values []float64, median float64) float64 {
	distances := make([]float64, len(values))
	for i, value := range values {
		distances[i] = math.Abs(value - median)
	}
	return describe(distances).Median
}
