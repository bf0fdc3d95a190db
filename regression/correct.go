package regression

import (
	"cmp"
	"slices"
)

// A placed p stands among the others of its family.
type placed struct {
	rank     int     // how many are as small or smaller, from 1
	level    float64 // it is rejected if it is not above this
	rejected bool
}

// falseDiscoveries places every p among a family and says which are rejected, so that
// of those rejected at most the share rate is expected to be false (Y. Benjamini,
// Y. Hochberg, Controlling the False Discovery Rate, J. R. Stat. Soc. B 57, 1995):
// with m in the family, all up to the greatest that is no more than its rank × rate
// ÷ m. The family may be larger than the p given: the others count as 1.
func falseDiscoveries(p []float64, family int, rate float64) []placed {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	all := make([]placed, len(p))
	greatest := 0.0
	for place := len(order) - 1; place >= 0; place-- {
		at := order[place]
		rank := place + 1
		if place+1 < len(order) && p[order[place+1]] == p[at] {
			rank = all[order[place+1]].rank
		}
		own := float64(rank) * rate / float64(family)
		if p[at] <= own {
			greatest = max(greatest, own)
		}
		level := max(own, greatest)
		all[at] = placed{rank, level, p[at] <= level}
	}
	return all
}
