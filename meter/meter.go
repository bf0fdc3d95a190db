// Package meter reads what this machine's counters say.
//
// A counter that cannot be read is absent, with the reason and the remedy, and
// never a number. The package keeps no history and takes no position on what is
// worth measuring; see packages trial and regression for that. It knows
// containers by their processes alone and never asks Docker.
package meter

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Host is the machine whose counters are read. The zero value is this one.
type Host struct {
	// Root is where the machine's /proc, /sys and /etc are found: "/", or empty
	// for the same, unless they are mounted elsewhere.
	Root string
	// NoCounters leaves perf events alone. Where containers take turns on one
	// CPU, each turn costs some 0.6 µs more while a perf event counts them.
	NoCounters bool
	// Fetch asks an address over HTTP; nil: meters that are asked so are refused.
	// It follows no redirect: the address in the machine file is asked, and no other.
	Fetch func(ctx context.Context, address string) (Answer, error)
}

// Monotonic is CLOCK_MONOTONIC of this machine in nanoseconds: the clock of
// every mark and every reading, the same in all processes and containers of
// one kernel. Go's own monotonic reading counts from its process's start.
func (h Host) Monotonic() int64 {
	var now unix.Timespec
	// It fails for a bad clock or a bad pointer only, and these are neither.
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic("clock_gettime(CLOCK_MONOTONIC): " + err.Error())
	}
	return now.Nano()
}

// path joins elements below the machine's root.
func (h Host) path(elements ...string) string {
	return filepath.Join(append([]string{"/", h.Root}, elements...)...)
}

// read reads a small file of the machine.
func (h Host) read(name string) ([]byte, error) {
	return os.ReadFile(h.path(name))
}

// text reads a file of one line, without its end; empty when there is none.
// Device trees end their texts with a NUL.
func (h Host) text(name string) string {
	content, err := h.read(name)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(content), "\x00\n ")
}
