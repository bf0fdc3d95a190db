package stopwatt

import (
	"cmp"
	"slices"
	"strings"
)

// CompareMetrics puts names of metrics into the order in which they are shown:
// that of Metrics, with those of energy meters behind the CPU times, meter by
// meter, each as EnergyMetrics has them. Names that nobody knows come last.
func CompareMetrics(a, b string) int {
	meterA, placeA := energyPlace(a)
	meterB, placeB := energyPlace(b)
	return cmp.Or(
		cmp.Compare(metricPlace(a), metricPlace(b)),
		cmp.Compare(meterA, meterB),
		cmp.Compare(placeA, placeB),
		cmp.Compare(a, b))
}

// metricPlace is where a metric stands: an even number for those of Metrics, the
// odd one behind the CPU times for those of energy meters.
func metricPlace(name string) int {
	if _, ok := energyMetric(name); ok {
		return 2*lastCPUTime() + 1
	}
	place := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	if place < 0 {
		place = len(Metrics)
	}
	return 2 * place
}

// lastCPUTime is the index in Metrics of the last CPU time.
func lastCPUTime() int {
	for i, metric := range slices.Backward(Metrics) {
		if strings.HasPrefix(metric.Name, "cpu_") {
			return i
		}
	}
	return -1
}

// energyPlace is the meter of an energy metric, and the metric's place among
// those of it.
func energyPlace(name string) (meter string, place int) {
	if _, ok := energyMetric(name); !ok {
		return "", 0
	}
	meter = strings.Split(name, "_")[1]
	return meter, slices.IndexFunc(EnergyMetrics(meter), func(m Metric) bool { return m.Name == name })
}
