package harness

import (
	"cmp"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Senses are metrics by their names: where they are read and stored, a name
// stands for one unit and one direction. But authors name counters as they like,
// and a counter that JMH counts per second in one mode it counts in seconds in
// another.
type Senses map[string]stopwatt.Metric

// name is the name by which a metric is known beside the others: its own, or,
// where that means something else, one led by the format's, or one that says unit
// and direction as well.
func (s Senses) name(metric stopwatt.Metric, format string) string {
	led := format + "_" + metric.Name
	for _, name := range []string{metric.Name, led} {
		if s.know(name, metric) {
			return name
		}
	}
	return fmt.Sprintf("%s_%s_%s", led, metric.Unit, metric.Better)
}

// know notes what a name means, and says whether it means this.
func (s Senses) know(name string, metric stopwatt.Metric) bool {
	known, taken := stopwatt.MetricNamed(name)
	if !taken {
		known, taken = s[name]
	}
	if !taken {
		s[name] = metric
		return true
	}
	return known.Unit == metric.Unit && known.Better == metric.Better
}

// TellApart renames metrics whose names mean something else already, and notes
// it. The benchmarks stay as they are; copies are returned.
func (s Senses) TellApart(benchmarks []stopwatt.Benchmark, format string) []stopwatt.Benchmark {
	apart := slices.Clone(benchmarks)
	for i, b := range apart {
		b.Figures = slices.Clone(b.Figures)
		for j, figure := range b.Figures {
			was := figure.Metric.Name
			is := s.name(figure.Metric, format)
			if is == was {
				continue
			}
			b.Figures[j].Metric.Name = is
			b.Notes = append(slices.Clip(b.Notes), fmt.Sprintf("%s in the unit %s, better: %s, is kept as %s: the name means something else already",
				quote(was), quote(figure.Metric.Unit), cmp.Or(figure.Metric.Better, stopwatt.Neither), quote(is)))
		}
		apart[i] = b
	}
	return apart
}
