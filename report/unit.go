package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A unit is a name and how many base units it is.
type unit struct {
	name  string
	size  float64
	asked bool // shown only when asked for
}

// units lists the units of each base unit, the smallest first. Prefixes are
// those of the International System; KiB and its kin those of IEC 80000-13.
var units = map[string][]unit{
	"s":   {{"ns", 1e-9, false}, {"µs", 1e-6, false}, {"ms", 1e-3, false}, {"s", 1, false}, {"min", 60, true}, {"h", 3600, true}},
	"B":   {{"B", 1, false}, {"kB", 1e3, true}, {"KiB", 1 << 10, false}, {"MB", 1e6, true}, {"MiB", 1 << 20, false}, {"GB", 1e9, true}, {"GiB", 1 << 30, false}, {"TiB", 1 << 40, false}},
	"J":   {{"µJ", 1e-6, false}, {"mJ", 1e-3, false}, {"J", 1, false}, {"kJ", 1e3, false}, {"Wh", 3600, true}},
	"W":   {{"µW", 1e-6, false}, {"mW", 1e-3, false}, {"W", 1, false}, {"kW", 1e3, false}},
	"1/s": {{"1/min", 1.0 / 60, true}, {"1/s", 1, false}},
	"1":   {{"1", 1, false}},
}

// unitsOf lists the units that fit a metric. A base unit that this room does
// not know has itself alone.
func unitsOf(metric stopwatt.Metric) []unit {
	if known, has := units[metric.Unit]; has {
		return known
	}
	return []unit{{metric.Unit, 1, false}}
}

// spelled undoes the other spellings of µ.
func spelled(name string) string {
	name = strings.ReplaceAll(name, "μ", "µ") // the Greek letter
	if strings.HasPrefix(name, "u") {
		return "µ" + name[1:]
	}
	return name
}

// unitNamed finds a metric's unit by its name.
func unitNamed(metric stopwatt.Metric, name string) (unit, bool) {
	for _, u := range unitsOf(metric) {
		if u.name == spelled(name) {
			return u, true
		}
	}
	return unit{}, false
}

// CheckUnit tells whether a unit fits at least one of the metrics; metrics that
// it does not fit keep their own. The error lists those that would fit.
func CheckUnit(name string, metrics []stopwatt.Metric) error {
	var fitting []string
	for _, metric := range metrics {
		if _, fits := unitNamed(metric, name); fits || name == "" {
			return nil
		}
		for _, u := range unitsOf(metric) {
			if !slices.Contains(fitting, u.name) {
				fitting = append(fitting, u.name)
			}
		}
	}
	return fmt.Errorf("unit %q fits none of the metrics shown; these do: %s", name, strings.Join(fitting, ", "))
}

// A scale is how the numbers of one column are written: their unit, and
// decimals, or -1 where every number has its own.
type scale struct {
	unit     unit
	decimals int
}

// scaleOf chooses the scale of a column: one unit, in which the smallest value
// is at least 1 while the largest is not absurd, and decimals that show three
// or four significant digits. A spread larger than its value counts instead of
// it. An asked unit is taken when it fits.
func scaleOf(metric stopwatt.Metric, asked string, summaries []stopwatt.Summary) scale {
	low, high, whole := math.Inf(1), 0.0, true
	for _, s := range summaries {
		if size := max(math.Abs(s.Mean), s.SD); size > 0 {
			low, high = min(low, size), max(high, size)
		}
		whole = whole && s.Mean == math.Trunc(s.Mean) && s.Median == math.Trunc(s.Median)
	}
	u, given := unitNamed(metric, asked)
	if !given {
		u = suitable(metric, low, high)
	}
	switch {
	case high == 0, whole && u.size == 1 && (metric.Unit == "1" || metric.Unit == "B"):
		return scale{u, 0}
	case high/low >= 1000:
		return scale{u, -1}
	}
	return scale{u, max(decimalsFor(high/u.size, 4), decimalsFor(low/u.size, 3))}
}

// suitable is the largest unit in which the smallest value is at least 1, or a
// larger one while the largest value needs six digits.
func suitable(metric stopwatt.Metric, low, high float64) unit {
	var own []unit
	for _, u := range unitsOf(metric) {
		if !u.asked {
			own = append(own, u)
		}
	}
	if high == 0 { // nothing but zeros: the base unit
		return own[max(slices.IndexFunc(own, func(u unit) bool { return u.size == 1 }), 0)]
	}
	chosen := own[0]
	for _, u := range own[1:] {
		if low/u.size >= 1 || high/chosen.size >= 1e5 {
			chosen = u
		}
	}
	return chosen
}

// write writes a value in the scale, without its unit.
func (s scale) write(value float64) string { return s.beside(value, value) }

// beside writes a value with the decimals of the one that it belongs to.
func (s scale) beside(value, owner float64) string {
	decimals := s.decimals
	if decimals < 0 {
		decimals = decimalsFor(owner/s.unit.size, 3)
	}
	return fixed(value/s.unit.size, decimals)
}

// with puts a unit behind a number: "19.9 s", "10,055/s", "12".
func (u unit) with(number string) string {
	switch {
	case u.name == "1":
		return number
	case strings.HasPrefix(u.name, "1/"):
		return number + u.name[1:]
	}
	return number + " " + u.name
}

// heading is a metric's name, what it covers, and the unit of the column under it.
func heading(metric stopwatt.Metric, u unit) string {
	if u.name == "1" {
		return label(metric)
	}
	return label(metric) + ", " + u.name
}

// Value writes one value of a metric, given in its base unit, in the unit that
// suits it: "19.9 s", "10,055/s", "1.24 GiB". A NaN or infinity is absent: "–".
func Value(metric stopwatt.Metric, value float64) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return absent
	}
	size := math.Abs(value)
	u := suitable(metric, size, size)
	if value == math.Trunc(value) && u.size == 1 && (metric.Unit == "1" || metric.Unit == "B") {
		return u.with(fixed(value, 0))
	}
	return u.with(significant(value/u.size, 3))
}

// Seconds writes how long something took, for people: "87.4 ms", "19.9 s",
// "1 min 12 s", "1 h 09 min".
func Seconds(seconds float64) string {
	switch whole := math.Round(seconds); {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0):
		return absent
	case seconds < 0.0995:
		return Value(stopwatt.Metric{Unit: "s"}, seconds)
	case seconds < 59.95:
		return fixed(seconds, 1) + " s"
	case whole < 3600:
		return fmt.Sprintf("%d min %02d s", int64(whole)/60, int64(whole)%60)
	default:
		minutes := int64(math.Round(min(seconds, 1e15) / 60))
		return fmt.Sprintf("%s h %02d min", thousands(fmt.Sprint(minutes/60)), minutes%60)
	}
}
