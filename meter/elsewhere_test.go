package meter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// served opens the station of this machine through a conversation, whose other
// end is another goroutine.
func served(t *testing.T, order StationOrder) *Elsewhere {
	t.Helper()
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), far, far) }()
	e, err := OpenElsewhere(t.Context(), near, order)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the server of the conversation: %v", err)
		}
	})
	return e
}

func TestAStationElsewhereTellsOfTheSameMachine(t *testing.T) {
	root := raplTree(t)
	order := StationOrder{MetersRoot: root, Every: 10 * time.Millisecond, NoCounters: true}
	here := Open(order)
	defer here.Close()
	there := served(t, order)
	if diff := cmp.Diff(here.Machine(), there.Machine()); diff != "" {
		t.Errorf("machine, here and elsewhere:\n%s", diff)
	}
	if diff := cmp.Diff(here.Meters(), there.Meters()); diff != "" || len(there.Meters()) == 0 {
		t.Errorf("meters, here and elsewhere:\n%s", diff)
	}
	if !there.SameKernel() {
		t.Error("the same kernel is not known again")
	}
	if reading := there.Reading(); reading.At == 0 || reading.CPU.All() == 0 {
		t.Errorf("reading: %+v", reading)
	}
}

func TestAWindowIsWatchedOverElsewhere(t *testing.T) {
	there := served(t, StationOrder{MetersRoot: raplTree(t), Every: 10 * time.Millisecond, NoCounters: true})
	watch := there.Watch(nil)
	defer watch.Close()
	before := stopwatt.Reading{Machine: watch.Edge()}
	window := stopwatt.Window{Start: Host{}.Monotonic()}
	window.End = window.Start + int64(time.Millisecond)
	after := stopwatt.Reading{Machine: watch.Edge()}
	testimony := watch.Tell(window, before, after)
	if len(testimony.Energies) != 1 || testimony.Energies[0].Meter != "cpu" || !strings.Contains(testimony.Energies[0].Absent, "50 are needed") {
		t.Errorf("energies of a window of 1 ms: %+v", testimony.Energies)
	}
	if len(testimony.Samples) == 0 {
		t.Error("there are no samples")
	}
	idle, err := there.Idle(t.Context(), stopwatt.IdleBefore, 20*time.Millisecond)
	if err != nil || idle.Place != stopwatt.IdleBefore || len(idle.Powers) != 1 || idle.Window.Duration() < 20*time.Millisecond {
		t.Errorf("idle window %+v, %v", idle, err)
	}
	if _, err := there.Account(0); err == nil {
		t.Error("a process 0 has an account")
	}
}

// raplTree is the root of a machine whose one meter is a package of RAPL.
func raplTree(t *testing.T) string {
	t.Helper()
	host := tree(t, map[string]string{
		"sys/class/powercap/intel-rapl:0/name":                "package-0",
		"sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850",
		"sys/class/powercap/intel-rapl:0/energy_uj":           "1000",
	})
	return host.Root
}

func TestAnElsewhereThatCannotAnswerLeavesEverythingAbsent(t *testing.T) {
	greet, err := json.Marshal(answer{Greeting: &greeting{Meters: []stopwatt.Meter{{Name: "cpu"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ says, reason string }{
		"it ends":               {"", "the meters elsewhere: "},
		"it answers no JSON":    {"what?\n", "invalid character"},
		"it refuses":            {`{"Failure":"not today"}` + "\n", "not today"},
		"it answers with a gap": {"{}\n", "said nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				questions := bufio.NewScanner(far)
				questions.Scan()
				far.Write(append(greet, '\n'))
				for test.says != "" && questions.Scan() {
					io.WriteString(far, test.says)
				}
			}()
			there, err := OpenElsewhere(t.Context(), near, StationOrder{})
			if err != nil {
				t.Fatal(err)
			}
			defer there.Close()
			usage := (&distantAccount{there, 1}).Read()
			for _, field := range stopwatt.UsageFields {
				if _, reason := usage.Field(field); !strings.Contains(reason, test.reason) {
					t.Errorf("%s: reason %q", field, reason)
				}
			}
			testimony := there.Watch(nil).Tell(stopwatt.Window{}, stopwatt.Reading{}, stopwatt.Reading{})
			if len(testimony.Energies) != 1 || !strings.Contains(testimony.Energies[0].Absent, test.reason) || len(testimony.Absent) != len(stopwatt.MachineMetrics) {
				t.Errorf("testimony: %+v", testimony)
			}
			if reading := there.Reading(); len(reading.Absent) != len(readingFields) {
				t.Errorf("reading: %+v", reading)
			}
		})
	}
}

func TestAnAnswerIsNotWaitedForWhenNobodyWantsIt(t *testing.T) {
	there := served(t, StationOrder{MetersRoot: raplTree(t), Every: 10 * time.Millisecond, NoCounters: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := there.Idle(ctx, stopwatt.IdleBefore, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("an idle window that was cancelled: %v", err)
	}
	if usage := (&distantAccount{there, 1}).Read(); !strings.Contains(usage.Absent["CPU"], "canceled") {
		t.Errorf("afterwards: %q", usage.Absent["CPU"])
	}
}

func TestEveryFieldOfAReadingThatMayBeAbsentIsNamed(t *testing.T) {
	host := tree(t, nil)
	if diff := cmp.Diff(len(host.Reading().Absent), len(readingFields)); diff != "" {
		t.Errorf("fields that are absent on a machine without files:\n%s", diff)
	}
	for _, field := range readingFields {
		if host.Reading().Absent[field] == "" {
			t.Errorf("%s is not absent on a machine without files", field)
		}
	}
}

func TestAQuestionThatCannotBeAnsweredIsAFailure(t *testing.T) {
	open := `{"Ask":"open","Order":{"Every":10000000,"NoCounters":true,"File":{"Meters":[{"Name":"lab","HTTP":{"URL":"http://127.0.0.1/"}}]}}}` + "\n"
	for name, test := range map[string]struct{ questions, says string }{
		"before it is open":         {`{"Ask":"reading"}`, "the station is not open"},
		"an unknown one":            {open + `{"Ask":"sing"}`, "no such question"},
		"opened twice":              {open + open, "no such question"},
		"an account of nobody":      {open + `{"Ask":"usage","Handle":7}`, "no such question"},
		"a watch of nobody":         {open + `{"Ask":"tell","Handle":7}`, "no such question"},
		"the end of nothing":        {open + `{"Ask":"close","Handle":7}`, "no such question"},
		"no JSON":                   {"good morning", "invalid character"},
		"a meter asked by stopwatt": {open, "which is done where stopwatt itself runs"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, answers := io.Pipe()
			var out strings.Builder
			questions := strings.Split(strings.TrimSpace(test.questions), "\n")
			ended := make(chan error, 1)
			reads, writes := io.Pipe()
			go func() { ended <- Serve(t.Context(), lines, writes) }()
			read := bufio.NewScanner(reads)
			for _, q := range questions {
				io.WriteString(answers, q+"\n")
				read.Scan()
				out.WriteString(read.Text() + "\n")
			}
			answers.Close()
			if err := <-ended; err != nil || !strings.Contains(out.String(), test.says) {
				t.Errorf("%s, %v; want %q", out.String(), err, test.says)
			}
		})
	}
}
