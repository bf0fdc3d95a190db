package regression

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

// joules are the mean energies of one case by each meter; NaN: it has none.
type joules struct {
	implementation, workload string
	board, cpu               float64
}

// metered makes results of ten trials a case whose spread is 1 J.
func metered(rows ...joules) stopwatt.Results {
	results := stopwatt.Results{Run: stopwatt.Run{
		Baseline: "go",
		Meters:   []stopwatt.Meter{{Name: "board", Source: "ina226"}, {Name: "cpu", Source: "rapl"}, {Name: "psys", Absent: "there is none"}},
	}}
	for _, row := range rows {
		result := stopwatt.CaseResult{Case: stopwatt.Case{Implementation: row.implementation, Workload: row.workload}, Revision: stopwatt.Head, Valid: 10}
		for metric, value := range map[string]float64{"energy_board": row.board, "energy_cpu": row.cpu, "energy_board_gross": row.board + 100, "energy_cpu_gross": row.cpu + 50} {
			if !math.IsNaN(value) {
				result.Summaries = append(result.Summaries, stopwatt.Summary{Case: result.Case, Metric: metric, N: 10, Mean: value, SD: 1})
			}
		}
		results.Cases = append(results.Cases, result)
	}
	return results
}

func TestLayMetersDividesTheFirstByEachOther(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	results := metered(joules{"go", "csv", 300, 100}, joules{"rust", "csv", 200, none}, joules{"zig", "csv", -1, 2})
	for i, row := range LayMeters(results, false).Workloads[0].Rows {
		want := []stopwatt.Ratio{{Value: 3, Known: true}, {}, {}}[i]
		if diff := cmp.Diff([]stopwatt.Ratio{want}, row.Ratios); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.Implementation, diff)
		}
	}
	gross := LayMeters(results, true)
	if got := gross.Workloads[0].Rows[0].Ratios[0].Value; math.Abs(got-400.0/150) > 1e-12 || !gross.Gross {
		t.Errorf("gross 400 J and 150 J have the ratio %g", got)
	}
}

func TestLayMetersFindsWhatChangesPlaces(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	tests := []struct {
		name              string
		rows              []joules
		comparable, alike int
		swaps             []stopwatt.Swap
	}{
		{"two meters order alike", []joules{{"go", "a", 300, 100}, {"rust", "a", 200, 90}}, 1, 1, nil},
		{"what one meter finds equal is ordered either way", []joules{{"go", "a", 300, 100}, {"rust", "a", 200, 100}}, 1, 1, nil},
		{"two change places", []joules{{"go", "a", 391, 129}, {"rust", "a", 386.7, 132.5}}, 1, 0, []stopwatt.Swap{{
			Implementations: [2]string{"rust", "go"}, Meters: [2]string{"board", "cpu"}, Means: [2][2]float64{{386.7, 391}, {132.5, 129}},
		}}},
		{"two that are near change places, perhaps by chance", []joules{{"go", "a", 300, 100}, {"rust", "a", 310, 99.5}}, 1, 0, []stopwatt.Swap{{
			Implementations: [2]string{"go", "rust"}, Meters: [2]string{"board", "cpu"}, Means: [2][2]float64{{300, 310}, {100, 99.5}}, Near: true,
		}}},
		{"a negative net energy is less than nothing", []joules{{"go", "a", -2, 5}, {"rust", "a", 3, -4}}, 1, 0, []stopwatt.Swap{{
			Implementations: [2]string{"go", "rust"}, Meters: [2]string{"board", "cpu"}, Means: [2][2]float64{{-2, 3}, {5, -4}},
		}}},
		{"one that a meter lacks has no place", []joules{{"go", "a", 300, 100}, {"rust", "a", 200, none}, {"go", "b", 1, 2}, {"rust", "b", 100, 200}}, 1, 1, nil},
		{"one alone is not comparable", []joules{{"go", "a", 300, 100}}, 0, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := LayMeters(metered(test.rows...), false)
			if got.Comparable != test.comparable || got.Alike != test.alike {
				t.Errorf("%d comparable, %d alike", got.Comparable, got.Alike)
			}
			if diff := cmp.Diff(test.swaps, got.Workloads[0].Swaps, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("swaps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLayMetersComparesTheFirstMeterWithEveryOther(t *testing.T) {
	t.Parallel()
	results := metered(joules{"go", "a", 300, 100}, joules{"rust", "a", 200, 120})
	results.Run.Meters = append(results.Run.Meters, stopwatt.Meter{Name: "wall"})
	for i, value := range []float64{400, 300} {
		results.Cases[i].Summaries = append(results.Cases[i].Summaries, stopwatt.Summary{Metric: "energy_wall", N: 10, Mean: value})
	}
	got := LayMeters(results, false)
	if len(got.Meters) != 3 || len(got.Workloads[0].Rows[0].Ratios) != 2 || len(got.Workloads[0].Swaps) != 1 || got.Workloads[0].Swaps[0].Meters[1] != "cpu" {
		t.Errorf("%+v", got)
	}
}

func TestLayMetersIsEmptyWithoutTwoMeters(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	for _, results := range []stopwatt.Results{{}, metered(), metered(joules{"go", "a", 300, none})} {
		if got := LayMeters(results, false); len(got.Meters) != 0 || len(got.Workloads) != 0 {
			t.Errorf("%+v", got)
		}
	}
}

func TestLayHoldsTheMetersOfNetEnergy(t *testing.T) {
	t.Parallel()
	contrast, err := Lay(metered(joules{"go", "a", 300, 100}, joules{"rust", "a", 200, 50}), "go", metric("time"), stopwatt.Arithmetic)
	if err != nil || len(contrast.Meters.Meters) != 2 || contrast.Meters.Gross {
		t.Errorf("%v, %+v", err, contrast.Meters)
	}
}
