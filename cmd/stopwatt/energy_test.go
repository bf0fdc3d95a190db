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
plan: {rounds: 3, warmup: 0s, settle: 0s, null-server: false}
meters: {idle: 8s}
`

// TestJoulesOfARunAreThoseOfTheMachine runs a real suite in Docker on a machine
// whose energy counters follow a script, and holds what is stored against the
// script's own integral over the stored windows. Where this machine let the
// sampler or the script's writer wait for a CPU, a trial proves nothing: its
// energy is absent, with that reason, or is passed over. One of the trials at
// least must prove each of the four energies right; a run that was disturbed
// throughout is done again, twice at most.
func TestJoulesOfARunAreThoseOfTheMachine(t *testing.T) {
	if os.Getenv("STOPWATT_QUIET") == "" {
		t.Skip("it plays a machine in real time, for which this one must be quiet: make test runs it last and alone")
	}
	requireDocker(t)
	machine := simulated.Start(t, "board", uint64(time.Now().UnixNano()))
	for range 3 {
		if len(provedJoules(t, machine)) == 4 || t.Failed() {
			return
		}
		t.Log("every trial of this run was disturbed")
	}
	t.Skip("three runs in a row were disturbed: this machine is too busy to play another, and nothing was found wrong")
}

// provedJoules carries out one run, checks its joules, and counts of each
// energy the trials in which there was something to check.
func provedJoules(t *testing.T, machine *simulated.Machine) map[string]int {
	t.Helper()
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
	if len(trials) != 3 || len(results.Run.Idle) != 2 {
		t.Fatalf("%d trials, %d idle windows", len(trials), len(results.Run.Idle))
	}
	idle := idleTruth(machine, results.Run.Idle)
	proved := map[string]int{}
	for _, trial := range trials {
		truth := machine.Used(trial.Window.Start, trial.Window.End)
		if trial.Status != stopwatt.Valid || truth.Late > int64(50*time.Millisecond) {
			t.Logf("round %d proves nothing: %s, the writer was late by %s", trial.Round, trial.Status, time.Duration(truth.Late))
			continue
		}
		seconds := trial.Window.Duration().Seconds()
		for _, energy := range []struct {
			metric      string
			truth, give float64 // J
		}{
			{"energy_cpu_gross", truth.CPU, 0.005 * truth.CPU},
			{"energy_board_gross", truth.Board, 0.02 * truth.Board},
			{"energy_cpu", truth.CPU - idle.CPU*seconds, 0.02 * truth.CPU},
			{"energy_board", truth.Board - idle.Board*seconds, 0.04 * truth.Board},
		} {
			if near(t, trial, energy.metric, energy.truth, energy.give) {
				proved[energy.metric]++
			}
		}
	}
	return proved
}

// idleTruth is the script's own mean power in a run's idle windows, in watts.
func idleTruth(machine *simulated.Machine, windows []stopwatt.IdleWindow) simulated.Reply {
	var watts simulated.Reply
	for _, idle := range windows {
		used := machine.Used(idle.Window.Start, idle.Window.End)
		share := idle.Window.Duration().Seconds() * float64(len(windows))
		watts.CPU += used.CPU / share
		watts.Board += used.Board / share
	}
	return watts
}

// near checks a measurement against the truth, give or take some joules, and
// tells whether there is one. One that is not there must say that readings were
// missing or late.
func near(t *testing.T, trial stopwatt.Trial, metric string, truth, give float64) bool {
	t.Helper()
	value, ok := trial.Value(metric)
	if !ok {
		for _, absence := range trial.Absent {
			late := strings.Contains(absence.Reason, "cover") || strings.Contains(absence.Reason, "it was read")
			if absence.Metric == metric && !late {
				t.Errorf("round %d: %s is absent: %s", trial.Round, metric, absence.Reason)
			}
		}
		return false
	}
	if math.Abs(value-truth) > give {
		t.Errorf("round %d: %s is %.3f J, the script says %.3f ± %.3f J", trial.Round, metric, value, truth, give)
	}
	t.Logf("round %d: %s is %.3f J, the script says %.3f J", trial.Round, metric, value, truth)
	return true
}

// runMetered runs the suite, and puts the machine under load and takes it off
// again, from one trial to the next.
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
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said = append(said, lines.Text())
		// In front of the first trial and behind it, and so on.
		if strings.HasPrefix(lines.Text(), "idle") && len(said) < 8 || strings.Contains(lines.Text(), " trial ") {
			machine.Switch()
		}
	}
	if err := command.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(said, "\n"))
	}
}
