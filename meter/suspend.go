package meter

import (
	"math"

	"golang.org/x/sys/unix"
)

// suspended is how long the machine has slept since it was started, in
// nanoseconds: CLOCK_BOOTTIME goes on meanwhile, CLOCK_MONOTONIC does not.
func suspended() int64 {
	return apart(func() int64 { return clockOf(unix.CLOCK_BOOTTIME) }, func() int64 { return clockOf(unix.CLOCK_MONOTONIC) })
}

// clockOf reads a clock, in nanoseconds.
func clockOf(clock int32) int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(clock, &now) // both are there since Linux 2.6.39
	return now.Nano()
}

const (
	// closely is how near to each other two clocks are read: a process that is held up
	// between them would be taken for a machine that was suspended.
	closely = 20_000 // ns
	mostly  = 20     // attempts
)

// apart is how far one clock is ahead of another, read as near to each other as may be.
func apart(one, other func() int64) int64 {
	best, nearest := int64(0), int64(math.MaxInt64)
	for range mostly {
		before := other()
		at := one()
		gap := other() - before
		if gap < nearest {
			best, nearest = at-before-gap/2, gap
		}
		if gap <= closely {
			break
		}
	}
	return best
}
