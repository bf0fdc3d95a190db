package stopwatt

import (
	"cmp"
	"slices"
	"strings"
)

// Coverage is the share of a window, 0 to 1, that lies between the first
// reading and the last, and in no gap.
func (s Samples) Coverage(window Window) float64 {
	if len(s.Times) == 0 || window.Duration() <= 0 {
		return 0
	}
	covered, at := int64(0), max(s.Times[0], window.Start)
	end := min(s.Times[len(s.Times)-1], window.End)
	gaps := slices.SortedFunc(slices.Values(s.Gaps), func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	for _, gap := range gaps {
		covered += max(min(gap.From, end)-at, 0)
		at = max(at, gap.To)
	}
	covered += max(end-at, 0)
	return float64(covered) / float64(window.Duration())
}

// Base is by what samples of the quantity are divided to be in its base unit, and
// what that is called: J, W, s, B, B/s, 1/s, or 1 for counts and shares.
func (q Quantity) Base() (by float64, unit string) {
	switch q {
	case EnergyUsed:
		return 1e6, "J"
	case PowerDrawn:
		return 1e6, "W"
	case CPUUsed, LatencyP50, LatencyP99:
		return 1e9, "s"
	case RightAnswers, WrongAnswers:
		return 1, "1"
	case BytesReceived:
		return 1, "B"
	case "swpd", "free", "buff", "cache":
		return 1e3, "B"
	case "si", "so", "bi", "bo":
		return 1e3, "B/s"
	case "in", "cs":
		return 1e3, "1/s"
	}
	return 1e3, "1"
}

// Share tells whether samples of the quantity are shares of the time of all
// CPUs.
func (q Quantity) Share() bool {
	return slices.Contains(strings.Fields("us sy id wa st"), string(q))
}
