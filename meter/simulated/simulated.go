// Package simulated is a machine that is not there: a tree of files whose
// energy counters advance in real time, at a power that a script says and that
// can be asked for its integral. It is for tests.
//
// It knows nothing of how meters read: what it writes is what the kernel's
// documents say.
package simulated

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// variable names the environment variable that makes a process a writer.
const variable = "STOPWATT_SIMULATED_MACHINE"

// An Order says what machine is wanted.
type Order struct {
	Layout string // board, server or dies
	Seed   uint64
	Root   string // where its /sys and /proc are made
	Born   int64
}

// A command is sent to the writer, and a Reply comes back.
type command struct {
	Until    int64 // wait until then, CLOCK_MONOTONIC
	Switch   bool  // the load goes on, or off
	Reset    bool  // counters begin at 0 again
	Hide     int64 // counters cannot be read for so long, ns
	From, To int64 // the script's integral is asked for
}

// A Reply says what the writer did.
type Reply struct {
	At    int64   // when it did, CLOCK_MONOTONIC
	CPU   float64 // J of the packages, and of the memory that is counted apart
	Board float64 // J of the whole board
	Late  int64   // the longest time between two rounds of the writer, ns; 0 when none was too long
}

// hello is the writer's first line.
type hello struct{ URL string }

// Main is called first by the TestMain of tests that use machines. In the
// writer's process, which is the same program, it does not return.
func Main() {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	if err := live(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// live is the life of the writer's process.
func live(text string) error {
	var order Order
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	w, err := newWriter(order)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(answer, `{"measurements":1,"electricity_consumed_total":%f}`, w.total())
	}))
	if err := json.NewEncoder(os.Stdout).Encode(hello{"http://" + listener.Addr().String()}); err != nil {
		return err
	}
	go w.run()
	return w.serve(os.Stdin, os.Stdout)
}

// A Machine is a simulated one. Its writer ends with the test. It may be used by
// several goroutines, one of which waits for another's command to be carried out.
type Machine struct {
	Root string // for meter.Host
	URL  string // of its meter over HTTP: field electricity_consumed_total, in J

	t        testing.TB
	mu       sync.Mutex
	commands *json.Encoder
	replies  *json.Decoder
}

// Start makes a machine, and begins to keep it in a process of its own.
func Start(t testing.TB, layout string, seed uint64) *Machine {
	t.Helper()
	m := &Machine{t: t, Root: t.TempDir()}
	order, err := json.Marshal(Order{Layout: layout, Seed: seed, Root: m.Root, Born: monotonic()})
	if err != nil {
		t.Fatal(err)
	}
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), variable+"="+string(order))
	writer.Stderr = os.Stderr
	in, err := writer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		if err := writer.Wait(); err != nil {
			t.Errorf("the writer of the simulated machine: %v", err)
		}
	})
	m.commands, m.replies = json.NewEncoder(in), json.NewDecoder(out)
	var first hello
	if err := m.replies.Decode(&first); err != nil {
		t.Fatal(err)
	}
	m.URL = first.URL
	return m
}

// do has the writer do something.
func (m *Machine) do(c command) Reply {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var reply Reply
	if err := m.commands.Encode(c); err != nil {
		m.t.Fatal(err)
	}
	if err := m.replies.Decode(&reply); err != nil {
		m.t.Fatal(err)
	}
	return reply
}

// Switch puts the machine under load, or takes it off again. It returns when
// that was, in nanoseconds of CLOCK_MONOTONIC.
func (m *Machine) Switch() int64 { return m.do(command{Switch: true}).At }

// Reset has all counters of RAPL begin at 0 again.
func (m *Machine) Reset() { m.do(command{Reset: true}) }

// Hide makes the counters of RAPL unreadable for a while.
func (m *Machine) Hide(d time.Duration) { m.do(command{Hide: int64(d)}) }

// Wait returns when the machine's clock has come to a time.
func (m *Machine) Wait(until int64) { m.do(command{Until: until}) }

// Used is what the script says was used between two times.
func (m *Machine) Used(from, to int64) Reply { return m.do(command{From: from, To: to}) }
