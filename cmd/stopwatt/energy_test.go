package main

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter/simulated"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// meteredSuite has windows that are long enough for the INA226's kind, which
// renews its value every 140 ms.
const meteredSuite = `suite: metered
implementations: {one: {build: server}}
workloads:
  hello: {http: {port: 8080, request: {path: /}}, load: {users: 1, for: 8s}}
plan: {rounds: 1, warmup: 0s, settle: 0s}
meters: {idle: 8s}
`

// TestJoulesOfARunAreThoseOfTheMachine runs a real suite in Docker on a machine
// whose energy counters follow a script, and holds what is stored against the
// script's own integral over the stored windows.
func TestJoulesOfARunAreThoseOfTheMachine(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	machine := simulated.Start(t, "board", uint64(time.Now().UnixNano()))
	database := embeddedtest.ForTest(t)
	runMetered(t, machine, database)

	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	results, err := store.Results(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := store.Trials(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 1 || trials[0].Status != stopwatt.Valid || len(results.Run.Idle) != 2 {
		t.Fatalf("trials %+v, idle windows %d", trials, len(results.Run.Idle))
	}
	trial := trials[0]
	truth := machine.Used(trial.Window.Start, trial.Window.End)
	near(t, trial, "energy_cpu_gross", truth.CPU, 0.005)
	near(t, trial, "energy_board_gross", truth.Board, 0.02)

	seconds := trial.Window.Duration().Seconds()
	cpu, board := 0.0, 0.0 // W, idle, of the script
	for _, idle := range results.Run.Idle {
		used := machine.Used(idle.Window.Start, idle.Window.End)
		cpu += used.CPU / idle.Window.Duration().Seconds() / 2
		board += used.Board / idle.Window.Duration().Seconds() / 2
	}
	near(t, trial, "energy_cpu", truth.CPU-cpu*seconds, 0.02)
	near(t, trial, "energy_board", truth.Board-board*seconds, 0.04)
	all, err := store.Samples(t.Context(), 1, trial.PlannedTrial)
	if err != nil || len(all) < 2 {
		t.Fatal(len(all), err)
	}
	for _, samples := range all {
		if samples.Meter != "cpu" && samples.Meter != "board" {
			continue
		}
		if samples.Coverage(trial.Window) < stopwatt.LeastCoverage {
			t.Errorf("%s covers %.2f of the window", samples.Meter, samples.Coverage(trial.Window))
		}
	}
}

// near checks a measurement against the truth, within a share of it.
func near(t *testing.T, trial stopwatt.Trial, metric string, truth, share float64) {
	t.Helper()
	value, ok := trial.Value(metric)
	if !ok {
		t.Errorf("%s is absent: %v", metric, trial.Absent)
		return
	}
	if math.Abs(value-truth) > share*truth {
		t.Errorf("%s is %.3f J, the script says %.3f J: off by %.2f %%", metric, value, truth, 100*(value/truth-1))
	}
	t.Logf("%s is %.3f J, the script says %.3f J", metric, value, truth)
}

// runMetered runs the suite, and puts the machine under load while its trial
// is driven: between the line that tells of its idle power and that of the trial.
func runMetered(t *testing.T, machine *simulated.Machine, database string) {
	t.Helper()
	folder, programs := openFolder(t), buildPrograms(t)
	if err := os.Mkdir(filepath.Join(folder, "server"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := installServer(filepath.Join(folder, "server"), programs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, suiteName), []byte(meteredSuite), 0o644); err != nil {
		t.Fatal(err)
	}
	command := installed(t, folder, programs, database, "run")
	command.Env = append(command.Env, "STOPWATT_METERS_ROOT="+machine.Root)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	loaded := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said = append(said, lines.Text())
		switch {
		case !loaded && strings.HasPrefix(lines.Text(), "idle"):
			machine.Switch()
			loaded = true
		case strings.Contains(lines.Text(), "trial 1/1"):
			machine.Switch()
		}
	}
	if err := command.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(said, "\n"))
	}
}
