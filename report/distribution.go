package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// shares of latencies that a distribution names: at or below each lie so many.
var distributionShares = []struct {
	name  string
	share float64
}{{"p0", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}

// distributionNines is how many nines the axis reaches to: p99.99 has four.
const distributionNines = 4.0

// A Percentile is one number of a distribution, written.
type Percentile struct{ Name, Value string }

// Percentiles are those of a histogram up to p99.99, then the largest. One beyond
// which fewer than one latency lies is absent, with the reason.
func Percentiles(h *stopwatt.Histogram) []Percentile {
	if h == nil || h.Count() == 0 {
		return nil
	}
	seconds := stopwatt.Metric{Unit: "s"}
	var all []Percentile
	for _, s := range distributionShares {
		if beyond := float64(h.Count()) * (1 - s.share); beyond < 1-1e-9 {
			all = append(all, Percentile{s.name, fmt.Sprintf("%s fewer than %s answers", absent, thousands(fmt.Sprintf("%.0f", 1/(1-s.share))))})
			continue
		}
		value := h.Quantile(s.share)
		if s.share == 0 {
			value = h.Min()
		}
		all = append(all, Percentile{s.name, Value(seconds, float64(value)/1e9)})
	}
	return append(all, Percentile{"max", Value(seconds, float64(h.Max())/1e9)})
}

// Distribution draws latencies by their percentiles, each nine as wide as the
// last, so that the slow ones can be seen; empty when there are none.
func Distribution(id string, h *stopwatt.Histogram) template.HTML {
	if h == nil || h.Count() == 0 {
		return ""
	}
	reached := min(distributionNines, math.Log10(float64(h.Count())))
	highest := float64(h.Quantile(1-math.Pow(10, -reached))) / 1e9
	metric := stopwatt.Metric{Name: "latency", Unit: "s"}
	u := suitable(metric, highest/4, highest)
	up := axis{0, max(highest/u.size*1.05, 1e-9)}
	bottom := timeTop + 1.6*timeHeight
	at := func(nines float64) float64 { return nines / distributionNines * chartWidth }
	var path strings.Builder
	const steps = 160
	for i := range steps + 1 {
		nines := reached * float64(i) / steps
		value := float64(h.Quantile(1-math.Pow(10, -nines))) / 1e9 / u.size
		if i == 0 {
			value = float64(h.Min()) / 1e9 / u.size
		}
		path.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + place(at(nines)) + " " + place(up.yAt(value, timeTop, bottom)))
	}
	var across []tick
	for _, s := range distributionShares {
		x := at(-math.Log10(1 - s.share))
		across = append(across, tickAt(x, bottom, s.name))
	}
	var words []string
	for _, p := range Percentiles(h) {
		words = append(words, p.Name+" "+p.Value)
	}
	return figure("distribution", struct {
		ID, Heading, Title, Summary, Width, Height, Bottom string
		Legend                                             []legend
		Up, Across                                         []tick
		Lines                                              []timeLine
	}{
		ID: id, Heading: heading(metric, u), Title: "latency by percentile", Summary: strings.Join(words, "; ") + ".",
		Width: place(chartWidth), Height: place(bottom + axisHeight), Bottom: place(bottom),
		Up: distributionTicks(up, bottom), Across: across, Lines: []timeLine{{1, path.String()}},
	})
}

// distributionTicks are round values from zero on.
func distributionTicks(up axis, bottom float64) []tick {
	step := niceStep(up.high / 3)
	decimals := max(0, -int(math.Floor(math.Log10(step))))
	var ticks []tick
	for n := 0.0; n*step <= up.high; n++ {
		text := fixed(n*step, decimals)
		if n == 0 {
			text = ""
		}
		ticks = append(ticks, tick{Y: place(up.yAt(n*step, timeTop, bottom)), Text: text})
	}
	return ticks
}

// PercentileShares are the shares of a histogram's latencies that Percentiles has
// numbers of.
func PercentileShares(h *stopwatt.Histogram) []float64 {
	var shares []float64
	for _, s := range distributionShares[1:] {
		if float64(h.Count())*(1-s.share) >= 1-1e-9 {
			shares = append(shares, s.share)
		}
	}
	return shares
}
