package report

import (
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// SmallestSeen is, of each metric, the smallest change that most of its comparisons
// could have shown: "time 1.2 %, energy_board 1.9 %".
func SmallestSeen(j stopwatt.Judgement) string {
	return strings.Join(smallestSeen(j, func(metric stopwatt.Metric) string { return metric.Name }), ", ")
}

// smallestSeen is SmallestSeen, with metrics called as it is told.
func smallestSeen(j stopwatt.Judgement, called func(stopwatt.Metric) string) []string {
	var names []string
	seen := map[string][]float64{}
	for _, c := range j.Comparisons {
		if c.Estimate.N == 0 || !c.Estimate.Sees {
			continue
		}
		name := called(c.Metric)
		if seen[name] == nil {
			names = append(names, name)
		}
		seen[name] = append(seen[name], c.Estimate.Smallest)
	}
	var parts []string
	for _, name := range names {
		all := slices.Sorted(slices.Values(seen[name]))
		text := percentOf(all[0])
		if last := all[len(all)-1]; percentOf(last) != text {
			text = strings.TrimSuffix(text, " %") + " to " + percentOf(last)
		}
		parts = append(parts, name+" "+text)
	}
	return parts
}

// percentOf writes a share: "1.2 %".
func percentOf(share float64) string { return significant(100*share, 2) + " %" }
