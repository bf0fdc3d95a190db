package stopwatt

import (
	"slices"
	"strings"
)

// A MeterContrast lays the energies that several meters of one machine measured
// beside each other, case by case. It is for reading; it gives no verdict.
type MeterContrast struct {
	Meters    []Meter // two or more; the first is divided by each of the others
	Gross     bool    // gross energy, else net
	Workloads []MeterWorkload
	// Comparable counts the workloads in which two implementations or more have a
	// number of every meter, and Alike those of them in which all meters order
	// the implementations alike.
	Comparable, Alike int
}

// Metrics are those that are laid beside each other, in the order of Meters.
func (c MeterContrast) Metrics() []Metric {
	var metrics []Metric
	for _, meter := range c.Meters {
		all := EnergyMetrics(meter.Name)
		if c.Gross {
			all = all[1:]
		}
		metrics = append(metrics, all[0])
	}
	return metrics
}

// A MeterWorkload is a MeterContrast's block for one workload.
type MeterWorkload struct {
	Workload string
	Rows     []MeterRow
	Swaps    []Swap
}

// A MeterRow is one implementation under one workload.
type MeterRow struct {
	Implementation string
	Result         CaseResult
	Ratios         []Ratio // the first meter's mean to that of each other, in their order
}

// A Swap is two implementations that two meters order differently.
type Swap struct {
	Implementations [2]string     // in the order of the first meter: the one that used less comes first
	Meters          [2]string     // by name
	Means           [2][2]float64 // of each meter, of each implementation, J
	// Near is true when, by one of the meters, the means lie within two standard
	// errors of their difference: then it may be chance.
	Near bool
}

// EnergyMeters are the meters of a run's energy that could be read, and those
// that a case has a number of: those of Run.Meters first, then others by name.
func (r Results) EnergyMeters() []Meter {
	var meters []Meter
	measured := r.measuredBy()
	for _, meter := range r.Run.Meters {
		if meter.Absent == "" || slices.Contains(measured, meter.Name) {
			meters = append(meters, meter)
		}
	}
	for _, name := range measured {
		if !slices.ContainsFunc(meters, func(m Meter) bool { return m.Name == name }) {
			meters = append(meters, Meter{Name: name})
		}
	}
	return meters
}

// measuredBy names the meters that a case has a number of, sorted.
func (r Results) measuredBy() []string {
	var names []string
	for _, result := range r.Cases {
		for _, s := range result.Summaries {
			if name, ok := MeterOf(s.Metric); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// MeterOf is the energy meter that yields the named metric.
func MeterOf(metric string) (meter string, ok bool) {
	if _, ok := energyMetric(metric); !ok {
		return "", false
	}
	_, rest, _ := strings.Cut(metric, "_")
	meter, _, _ = strings.Cut(rest, "_")
	return meter, true
}
