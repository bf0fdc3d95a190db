package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func namesOf(metrics []stopwatt.Metric) string {
	var names []string
	for _, metric := range metrics {
		names = append(names, metric.Name)
	}
	return strings.Join(names, " ")
}

func TestDefaultMetricsHaveTheEnergyThatARunHas(t *testing.T) {
	t.Parallel()
	board, cpu, masked := stopwatt.Meter{Name: "board"}, stopwatt.Meter{Name: "cpu"}, stopwatt.Meter{Name: "psys", Absent: "only root may read it"}
	tests := []struct {
		name   string
		meters []stopwatt.Meter
		want   string
	}{
		{"no meter, no energy", nil, "time throughput latency_p50 latency_p99 cpu_server memory_peak"},
		{"one that cannot be read has no column", []stopwatt.Meter{masked}, "time throughput latency_p50 latency_p99 cpu_server memory_peak"},
		{"every other has, and the first per request", []stopwatt.Meter{board, masked, cpu}, "time throughput energy_board energy_cpu energy_board_per_request latency_p50 latency_p99 cpu_server memory_peak"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := DefaultMetrics(stopwatt.Results{Run: stopwatt.Run{Meters: test.meters}})
			if namesOf(got) != test.want {
				t.Errorf("%s, want %s", namesOf(got), test.want)
			}
		})
	}
	results := stopwatt.Results{Run: stopwatt.Run{Meters: []stopwatt.Meter{board, cpu}}}
	if got := namesOf(Gross(DefaultMetrics(results))); got != "time throughput energy_board_gross energy_cpu_gross latency_p50 latency_p99 cpu_server memory_peak" {
		t.Errorf("gross: %s", got)
	}
}

func TestEveryFigureOfEnergySaysWhatItCovers(t *testing.T) {
	t.Parallel()
	for i, want := range []string{"energy_board net", "energy_board_gross", "energy_board_uncertainty", "energy_board_per_request net", "power_board gross"} {
		if got := label(stopwatt.EnergyMetrics("board")[i]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := label(stopwatt.Metrics[0]); got != "time" {
		t.Errorf("time is called %s", got)
	}
}

func TestEnergyNotes(t *testing.T) {
	t.Parallel()
	board, cpu := stopwatt.EnergyMetrics("board"), stopwatt.EnergyMetrics("cpu")
	idle := func(place stopwatt.IdlePlace, board, cpu stopwatt.IdlePower) stopwatt.IdleWindow {
		board.Meter, cpu.Meter = "board", "cpu"
		return stopwatt.IdleWindow{Place: place, Powers: []stopwatt.IdlePower{board, cpu}}
	}
	at := func(watts float64) stopwatt.IdlePower { return stopwatt.IdlePower{Watts: watts, Over: time.Minute} }
	quiet := []stopwatt.IdleWindow{idle(stopwatt.IdleBefore, at(4.18), at(1.31)), idle(stopwatt.IdleAfter, at(4.2), at(1.31))}
	tests := []struct {
		name    string
		run     stopwatt.Run
		metrics []stopwatt.Metric
		want    []string
	}{
		{"without energy nothing is said", stopwatt.Run{Idle: quiet}, stopwatt.Metrics[:2], nil},
		{"net", stopwatt.Run{Idle: quiet}, []stopwatt.Metric{board[energyNet], cpu[energyNet]},
			[]string{"Energy is net: idle power (board 4.19 W, cpu 1.31 W) is taken off; HINT."}},
		{"of the meters that are shown", stopwatt.Run{Idle: quiet}, []stopwatt.Metric{cpu[energyPerRequest]},
			[]string{"Energy is net: idle power (cpu 1.31 W) is taken off; HINT."}},
		{"gross", stopwatt.Run{Idle: quiet}, []stopwatt.Metric{board[energyGross]},
			[]string{"Energy is gross: idle power (board 4.19 W) is in it."}},
		{"power is gross", stopwatt.Run{Idle: quiet}, []stopwatt.Metric{board[energyPower]},
			[]string{"Energy is gross: idle power (board 4.19 W) is in it."}},
		{"both", stopwatt.Run{Idle: quiet}, board[:2],
			[]string{"Net energy has idle power (board 4.19 W) taken off; gross energy and power have it in them."}},
		{"a drift is warned of", stopwatt.Run{Idle: []stopwatt.IdleWindow{idle(stopwatt.IdleBefore, at(4), at(1)), idle(stopwatt.IdleAfter, at(4.4), at(9))}}, board[:1],
			[]string{"Energy is net: idle power (board 4.20 W) is taken off; HINT.", "Idle power of board went from 4 W to 4.4 W (+10.0 %) between the first round and the last."}},
		{"idle power that is not known", stopwatt.Run{Idle: []stopwatt.IdleWindow{idle(stopwatt.IdleBefore, stopwatt.IdlePower{Absent: "EAGAIN"}, at(1))}}, board[:1],
			[]string{"Energy is net: idle power is taken off; HINT.", "Idle power of board is not known, and so no net energy: EAGAIN."}},
		{"a meter that cannot be read", stopwatt.Run{Meters: []stopwatt.Meter{{Name: "psys", Absent: "only root\nmay read it"}}}, stopwatt.Metrics[:1],
			[]string{"No energy by psys: only root may read it."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, energyNotes(test.run, test.metrics, "; HINT")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
