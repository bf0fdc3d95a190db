package report

import (
	"fmt"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// As says in which form values stand beside their baseline.
type As string

// The forms. A percentage is always the change relative to the baseline's
// value; how many times faster something is, is baseline ÷ value.
const (
	AsValue   As = "value"   // mean ± standard deviation, median, n and ratio
	AsRatio   As = "ratio"   // 0.55
	AsTimes   As = "times"   // 1.82 times faster
	AsPercent As = "percent" // −45.1 % less
)

// ParseAs reads the name of a form; an empty one is AsValue.
func ParseAs(name string) (As, error) {
	switch as := As(name); as {
	case "":
		return AsValue, nil
	case AsValue, AsRatio, AsTimes, AsPercent:
		return as, nil
	}
	return "", fmt.Errorf("form %q is unknown; there are value, ratio, times and percent", name)
}

// Ratio writes a ratio in a form, worded by the metric's direction: "1.17×",
// "1.82 times faster", "−45.1 % less". One that has no value is "?"; one that is
// near 1 begins with "≈".
func Ratio(metric stopwatt.Metric, ratio stopwatt.Ratio, as As) string {
	switch {
	case !ratio.Known:
		return unknown
	case as == AsTimes:
		return nearSign(ratio) + times(metric, ratio.Value)
	case as == AsPercent:
		return nearSign(ratio) + percent(ratio.Value)
	}
	return nearSign(ratio) + plainRatio(ratio.Value) + "×"
}

// nearSign is what stands before a ratio whose trials show no difference.
func nearSign(ratio stopwatt.Ratio) string {
	if ratio.Near {
		return near
	}
	return ""
}

// plainRatio writes a ratio with two decimals, fewer when it is large, more
// when that would leave less than two digits of it.
func plainRatio(ratio float64) string { return fixed(ratio, ratioDecimals(ratio)) }

func ratioDecimals(ratio float64) int {
	switch {
	case ratio >= 999.995:
		return 0
	case ratio > 0 && ratio < 0.0995:
		return decimalsFor(ratio, 2)
	}
	return 2
}

// times says how many times more or less of the metric something has.
func times(metric stopwatt.Metric, ratio float64) string {
	less, more := words(metric)
	word := more
	if ratio < 1 {
		ratio, word = 1/ratio, less
	}
	switch number := significant(ratio, 3); {
	case math.IsInf(ratio, 0):
		return unknown
	case number == "1.00":
		return "equal"
	default:
		return number + " times " + word
	}
}

// percent says how much more or less than the baseline's value something is.
func percent(ratio float64) string {
	change := (ratio - 1) * 100
	if math.Abs(change) >= 999.95 {
		return changed(change, 0)
	}
	return changed(change, 1)
}

// changed writes a change in percent with so many decimals.
func changed(change float64, decimals int) string {
	number := fixed(math.Abs(change), decimals)
	switch {
	case strings.Trim(number, "0.") == "":
		return number + " % equal"
	case change < 0:
		return minus + number + " % less"
	default:
		return "+" + number + " % more"
	}
}

// words are what having less and more of a metric is called.
func words(metric stopwatt.Metric) (less, more string) {
	switch {
	case metric.Unit == "s" && !strings.HasPrefix(metric.Name, "cpu_"):
		return "faster", "slower"
	case metric.Unit == "1/s":
		return "lower", "higher"
	case metric.Unit == "B":
		return "smaller", "larger"
	case metric.Unit == "1":
		return "fewer", "more"
	}
	return "less", "more"
}

// direction says which end of a metric is the good one.
func direction(metric stopwatt.Metric) string {
	switch metric.Better {
	case stopwatt.Less:
		return "less is better"
	case stopwatt.More:
		return "more is better"
	}
	return "neither direction is better"
}
