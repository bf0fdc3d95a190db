package regression

import (
	"math"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// pahi are the times that were published of three WebAssembly runtimes on two
// machines ("pa'i Benchmarks", Xe Iaso, 2020-03-26), in seconds, and how many
// times faster pahi was said to be than cwa.
var pahi = []struct {
	workload, machine    string
	cwa, noCache, cached float64
	times                float64
}{
	{"cpustrain", "Ryzen 5 3600", 2.392, 0.0386, 0.0177, 135},
	{"cpustrain", "Intel Xeon E5-1650", 7.652, 0.0993, 0.0537, 142},
	{"bigjson", "Ryzen 5 3600", 0.257, 0.0494, 0.0204, 12.62},
	{"bigjson", "Intel Xeon E5-1650", 0.9355, 0.1354, 0.1014, 9.22},
	{"k8sparse", "Ryzen 5 3600", 0.2117, 0.1253, 0.0085, 25.04},
	{"k8sparse", "Intel Xeon E5-1650", 0.6741, 0.3427, 0.0308, 21.85},
	{"fibber", "Ryzen 5 3600", 0.0136, 0.0137, 0.0027, 5.13},
	{"fibber", "Intel Xeon E5-1650", 0.0410, 0.0273, 0.0072, 5.70},
	{"blake2stress", "Ryzen 5 3600", 0.3587, 0.0174, 0.0050, 71.76},
	{"blake2stress", "Intel Xeon E5-1650", 1.351, 0.0355, 0.0117, 115.04},
}

// importedRuns are the published figures as runs, one of each machine.
func importedRuns() []stopwatt.Results {
	var runs []stopwatt.Results
	for _, machine := range []string{"Ryzen 5 3600", "Intel Xeon E5-1650"} {
		run := stopwatt.Results{Run: stopwatt.Run{Imported: true, Baseline: "cwa", Machine: stopwatt.Machine{Name: machine, Named: true}}}
		for _, row := range pahi {
			if row.machine != machine {
				continue
			}
			for i, seconds := range []float64{row.cwa, row.noCache, row.cached} {
				c := stopwatt.Case{Implementation: []string{"cwa", "pahi-no-cache", "pahi"}[i], Workload: row.workload}
				run.Cases = append(run.Cases, stopwatt.CaseResult{
					Case: c, Revision: stopwatt.Head, Valid: 1,
					Summaries: []stopwatt.Summary{{Case: c, Revision: stopwatt.Head, Metric: "time", N: 1, Mean: seconds, Median: seconds, Min: seconds, Max: seconds}},
				})
			}
		}
		runs = append(runs, run)
	}
	return runs
}

func TestMachinesSideBySideAgreeWithWhatWasPublished(t *testing.T) {
	t.Parallel()
	c, err := LayMachines(importedRuns(), "", "", metric("time")[0])
	if err != nil || c.Implementation != "pahi" || len(c.Workloads) != 5 {
		t.Fatalf("%s against %s in %d workloads, error %v", c.Implementation, c.Baseline, len(c.Workloads), err)
	}
	for i, want := range pahi {
		row := c.Workloads[i/2].Rows[i%2]
		// The multipliers were reckoned before the times were rounded to three digits.
		if times := 1 / row.Ratio.Value; row.Machine != want.machine || math.Abs(times/want.times-1) > 0.02 || row.Ratio.Near {
			t.Errorf("%s on %s: %v times, want %v", want.workload, row.Machine, times, want.times)
		}
	}
	// "We can roughly conclude that pa'i is about 54 times faster."
	if times := 1 / c.Times.Value; math.Abs(times-54.4) > 0.05 || c.Count != 10 {
		t.Errorf("mean of %d: %v times", c.Count, times)
	}
	if times := 1 / c.Geometric.Value; math.Abs(times-27.9) > 0.05 {
		t.Errorf("geometric mean: %v times", times)
	}
}

func TestMachinesThatLackAWorkloadHaveNoRowOfIt(t *testing.T) {
	t.Parallel()
	runs := importedRuns()
	runs[1].Cases = runs[1].Cases[:3]
	c, err := LayMachines(runs, "pahi", "cwa", metric("time")[0])
	if err != nil || len(c.Workloads[0].Rows) != 2 || len(c.Workloads[1].Rows) != 1 || c.Implementations[0] != "pahi" || c.Count != 6 {
		t.Errorf("%+v, error %v", c.Workloads, err)
	}
	if _, err := LayMachines(runs, "java", "", metric("time")[0]); err == nil {
		t.Error("a baseline that nobody has was taken")
	}
	if _, err := LayMachines(nil, "", "", metric("time")[0]); err == nil {
		t.Error("no run at all was taken")
	}
}

func TestTheMeanOfTimesIsThatOfWhatIsShown(t *testing.T) {
	t.Parallel()
	cells := []cell{{Ratio: stopwatt.Ratio{Value: 0.5, Known: true}}, {Ratio: stopwatt.Ratio{Value: 0.25, Known: true}}}
	arithmetic, geometric := meanRatio(stopwatt.Arithmetic, cells), meanRatio(stopwatt.Geometric, cells)
	if got := timesOf(stopwatt.Arithmetic, arithmetic, cells); math.Abs(1/got.Value-3) > 1e-12 {
		t.Errorf("2 and 4 times are %v times on average", 1/got.Value)
	}
	if got := timesOf(stopwatt.Geometric, geometric, cells); got != geometric {
		t.Errorf("geometric: %v, want %v", got, geometric)
	}
	nothing := append(cells, cell{Ratio: stopwatt.Ratio{Known: true}})
	if got := timesOf(stopwatt.Arithmetic, meanRatio(stopwatt.Arithmetic, nothing), nothing); got.Known {
		t.Errorf("with one of 0: %v", got)
	}
}
