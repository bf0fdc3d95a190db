package stopwatt_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestMetricsAreShownInOneOrder(t *testing.T) {
	want := []string{
		"time", "requests", "cpu_server", "cpu_driver_system",
		"energy_board", "energy_board_gross", "energy_board_uncertainty", "energy_board_per_request", "power_board",
		"energy_cpu", "power_cpu",
		"throttled_server", "image_size",
		"energy_", "energy_board_of_it", "swiftness",
	}
	for seed := range uint64(20) {
		got := slices.Clone(want)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, stopwatt.CompareMetrics)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: %q", seed, got)
		}
	}
}
