package simulated

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What the hardware is like.
const (
	unit     = 61_035                    // nJ, of a counter
	span     = 0xffffffff * 61035 / 1000 // µJ, as the kernel states it
	renewal  = 140_000_000               // ns, of the INA226
	register = 6_250                     // µW, the unit of its power
	served   = 125_000_000               // ns, of the total that is served over HTTP
	sensor   = "sys/class/hwmon/hwmon3"
)

// monotonic is CLOCK_MONOTONIC in nanoseconds.
func monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // a bad clock or a bad pointer, and these are neither
	}
	return now.Nano()
}

// A writer keeps the tree of files.
type writer struct {
	order    Order
	counters []*counterFile
	power    *os.File
	renewed  int64 // when the INA226 was renewed last

	mu     sync.Mutex
	script script
	at     int64   // the time that the files tell of
	joules float64 // of the CPU until then
	hidden int64   // counters cannot be read until then
	late   []pause
}

// A pause is one between two rounds of the writer that was longer than wanted.
type pause struct{ from, to int64 }

// A counterFile is a counter of RAPL and its file.
type counterFile struct {
	zone
	file  *os.File
	start float64 // J
	reset float64 // J of the zone that it has forgotten
}

// newWriter makes the tree. Counters begin where they go round after a few
// joules, so that a window does not pass without that.
func newWriter(order Order) (*writer, error) {
	if err := plant(order.Root, order.Layout); err != nil {
		return nil, err
	}
	now := monotonic()
	w := &writer{order: order, script: script{seed: order.Seed}, at: now, renewed: now}
	for i, z := range layouts[order.Layout] {
		file, err := os.OpenFile(filepath.Join(order.Root, z.dir(), "energy_uj"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		left := 20 + 40*w.script.draw(4, int64(i))
		if order.Layout == "dies" {
			left = 30 // both show one counter
		}
		w.counters = append(w.counters, &counterFile{zone: z, file: file, start: span/1e6 - left})
	}
	var err error
	w.power, err = os.OpenFile(filepath.Join(order.Root, sensor, "power1_input"), os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		w.round(now + renewal)
	}
	return w, err
}

// run writes every few milliseconds; hardware does so every one. Its thread goes before others where it may:
// a starved writer is no machine.
func (w *writer) run() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, -15)
	for {
		time.Sleep(3 * time.Millisecond)
		w.mu.Lock()
		w.round(monotonic())
		w.mu.Unlock()
	}
}

// round brings the files up to a time.
func (w *writer) round(now int64) {
	if now-w.at > 6_000_000 {
		w.late = append(w.late, pause{w.at, now})
	}
	w.joules += w.script.joules(w.at, now)
	w.at = now
	for _, c := range w.counters {
		c.write(w.joules, now < w.hidden)
	}
	for w.renewed+renewal <= now {
		w.renewed += renewal
		watts := w.script.board(w.renewed-renewal, w.renewed) / (renewal / 1e9)
		put(w.power, int64(math.Round(watts*1e6/register))*register)
	}
}

// write writes the counter's value, as the hardware and the kernel round it.
// A hidden one has an empty file.
func (c *counterFile) write(joules float64, hidden bool) {
	if hidden {
		_ = c.file.Truncate(0) // a reader finds no number
		return
	}
	units := int64((c.start+joules*c.share-c.reset)*1e9/unit) & 0xffffffff
	put(c.file, units*unit/1000)
}

// put writes a number over the one before, with as many digits.
func put(file *os.File, number int64) {
	text := []byte("0000000000000000\n")
	for i := len(text) - 2; number > 0; i-- {
		text[i] = '0' + byte(number%10)
		number /= 10
	}
	_, _ = file.WriteAt(text, 0) // what a full disk does to a test, the test will say
}

// answer carries out one command.
func (w *writer) answer(c command) (reply Reply) {
	if c.Until > 0 {
		time.Sleep(time.Duration(c.Until - monotonic()))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	reply.At = monotonic()
	if c.Switch {
		w.script.switches = append(w.script.switches, reply.At)
	}
	if c.Reset {
		for _, counter := range w.counters {
			counter.start, counter.reset = 0, w.joules*counter.share
		}
	}
	if c.Hide > 0 {
		w.hidden = reply.At + c.Hide
	}
	w.round(reply.At)
	if c.To > 0 {
		reply.CPU = w.script.joules(c.From, c.To)
		if hasMemory(w.order.Layout) {
			reply.CPU *= 1 + memoryShare
		}
		reply.Board = w.script.board(c.From, c.To)
		for _, p := range w.late {
			if p.from < c.To && p.to > c.From {
				reply.Late = max(reply.Late, p.to-p.from)
			}
		}
	}
	return reply
}

// total is what is served over HTTP: the board's energy, in joules.
func (w *writer) total() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	steps := (monotonic() - w.order.Born) / served
	return 1e8 + w.script.board(w.order.Born, w.order.Born+steps*served)
}

// serve answers commands, a line each, until there are no more.
func (w *writer) serve(in io.Reader, out io.Writer) error {
	commands, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var c command
		if err := commands.Decode(&c); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := replies.Encode(w.answer(c)); err != nil {
			return err
		}
	}
}
