//go:build linux

package agent

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A guard kills programs, with all that they have started, that take longer than
// bound, or that run when nobody waits for them any more. It looks by a ticker of
// its own, twenty times within the bound but no more than once in 10 ms and no
// less than once a second: a timer for each program would wake a thread beside
// it.
type guard struct {
	bound   time.Duration
	process atomic.Int64 // 0: none is guarded
	since   atomic.Int64 // CLOCK_MONOTONIC, nanoseconds
	killed  atomic.Bool
	stop    chan struct{}
	ended   chan struct{}
}

func newGuard(bound time.Duration) *guard {
	return &guard{bound: bound, stop: make(chan struct{}), ended: make(chan struct{})}
}

// watch guards until the end.
func (g *guard) watch(ctx context.Context) {
	defer close(g.ended)
	ticker := time.NewTicker(min(max(g.bound/20, 10*time.Millisecond), time.Second))
	defer ticker.Stop()
	done := ctx.Done()
	for {
		select {
		case <-g.stop:
			return
		case <-done:
			done = nil // it stays so, and the next look is by the ticker
		case <-ticker.C:
		}
		g.look(ctx)
	}
}

// look kills what must not run on. A process that has ended in this moment
// cannot be another's: its number is not given away again so soon.
func (g *guard) look(ctx context.Context) {
	process := g.process.Load()
	late := monotonic()-g.since.Load() > int64(g.bound)
	if process == 0 || !late && ctx.Err() == nil {
		return
	}
	if late {
		g.killed.Store(true)
	}
	_ = unix.Kill(-int(process), unix.SIGKILL) // it may have ended just now
	_ = unix.Kill(int(process), unix.SIGKILL)  // or have left its own group
}

// over begins to guard a process, the first of its group.
func (g *guard) over(process int, since int64) {
	g.killed.Store(false)
	g.since.Store(since)
	g.process.Store(int64(process))
}

// off ends that, and says whether it was killed for taking too long.
func (g *guard) off() bool {
	g.process.Store(0)
	return g.killed.Load()
}

// end ends the watching.
func (g *guard) end() {
	close(g.stop)
	<-g.ended
}
