package meter

import (
	"fmt"
	"time"
)

// A counter is what is known of one cumulative counter of µJ, and its last
// value. Its arithmetic is that of integers.
type counter struct {
	// span is how far it counts before it begins again at 0, in µJ; 0 when
	// that is not known, and then no step back is mended.
	span int64
	most int64 // the greatest power that it can stand for, in µW
	// lump is what it may gain at once, in µJ: it is renewed in steps, and two
	// readings may be nearer to each other than its steps are.
	lump int64

	begun bool
	at    int64 // of the last value, CLOCK_MONOTONIC, nanoseconds
	last  int64
}

// valid says what is wrong with a value by itself.
func (c *counter) valid(value int64) error {
	if c.span > 0 && value > c.span {
		return fmt.Errorf("the counter says %d µJ, beyond its range of %d", value, c.span)
	}
	return nil
}

// step takes the next valid value and returns how much was used since the one
// before, or why that is not known: a gap. The first value has nothing before it.
//
// A value below the one before is taken for a wrap only where the range is
// known, the time between them too short for a second wrap, and the power that
// the wrap implies possible. The kernel's range is the counter's true modulus
// less one unit, so that a mended wrap may be one unit (15 to 61 µJ) too low.
func (c *counter) step(at, value int64) (used int64, gap string) {
	if c.begun {
		used, gap = c.used(at, value)
	}
	c.begun, c.at, c.last = true, at, value
	return used, gap
}

// used is what lies between the last value and this one.
func (c *counter) used(at, value int64) (used int64, gap string) {
	elapsed := time.Duration(at - c.at)
	possible := float64(c.lump) + float64(c.most)*elapsed.Seconds()
	switch used = value - c.last; {
	case c.span > 0 && possible > float64(c.span):
		return 0, fmt.Sprintf("no reading for %.1f s, in which the counter may have gone round more than once", elapsed.Seconds())
	case used < 0 && c.span == 0:
		return 0, fmt.Sprintf("the counter went back from %d to %d µJ, and its range is not known", c.last, value)
	case used < 0 && float64(used+c.span) > possible:
		return 0, fmt.Sprintf("the counter went back from %d to %d µJ, too far from its range of %d: it was reset", c.last, value, c.span)
	case used < 0:
		return used + c.span, ""
	case float64(used) > possible:
		return 0, fmt.Sprintf("the counter rose by %.1f J in %.3f s, more than %.0f W", float64(used)/1e6, elapsed.Seconds(), float64(c.most)/1e6)
	}
	return used, ""
}
