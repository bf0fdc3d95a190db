package simulated

import "sort"

// The script's grain: noise changes every tick, the power of a load every step.
const (
	tick = 10_000_000  // ns
	step = 700_000_000 // ns
)

// A script says how much power the machine's CPU draws at any time. All of it
// follows from the seed, but for when the load is switched.
type script struct {
	seed     uint64
	switches []int64 // CLOCK_MONOTONIC; on at the first, off at the second, and so on
}

// draw is a number from 0 to 1 that the seed has for a time. The mixing is that
// of SplitMix64 (Steele, Lea and Flood, 2014).
func (s *script) draw(kind uint64, when int64) float64 {
	z := s.seed ^ kind<<56 + uint64(when)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// watts is the power of the CPU at a time: 1.5 to 2.5 W without load; 24 W when
// a load begins, then steps of 14 to 24 W; all with noise of up to 4 %.
func (s *script) watts(at int64) float64 {
	level := 1.5 + s.draw(1, 0)
	switched := sort.Search(len(s.switches), func(i int) bool { return s.switches[i] > at })
	if switched%2 == 1 {
		level = 14 + 10*s.draw(2, at/step)
		if at-s.switches[switched-1] < step {
			level = 24
		}
	}
	return level * (0.96 + 0.08*s.draw(3, at/tick))
}

// joules is the script's own integral.
func (s *script) joules(from, to int64) float64 {
	sum := 0.0
	for at := from; at < to; {
		next := min(to, (at/tick+1)*tick)
		for _, t := range s.switches {
			if t > at && t < next {
				next = t
			}
		}
		sum += s.watts(at) * float64(next-at) / 1e9
		at = next
	}
	return sum
}

// The shares of the CPU's power that the meters see. The board's regulators and
// fans come on top.
const (
	memoryShare = 0.125 // of the CPU's power, beside it
	boardBase   = 2.0   // W
	boardShare  = 1.25  // of CPU and memory
	firstShare  = 0.625 // of the first of two sockets
)

// board is the energy of the whole board, in joules.
func (s *script) board(from, to int64) float64 {
	return boardBase*float64(to-from)/1e9 + boardShare*(1+memoryShare)*s.joules(from, to)
}
