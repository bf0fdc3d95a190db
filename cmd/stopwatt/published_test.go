package main

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/harness"
	"gitlab.com/stopwatt/stopwatt/regression"
)

// Every value that the authors computed from their figures is what comes out of
// the imported figures, as exactly as the rounding of these and of it allows.
func TestImportedFiguresAgreeWithThePublishedValues(t *testing.T) {
	for name, experiment := range map[string]published{
		"types":        publishedTypes,
		"wasm":         publishedWasm,
		"interpreters": publishedInterpreters,
		"schedulers":   publishedSchedulers,
	} {
		t.Run(name, func(t *testing.T) {
			summaries := imported(t, experiment.csv)
			written := writtenFigures(experiment.csv)
			for _, value := range experiment.computed {
				checkPublished(t, value, summaries, written)
			}
		})
	}
}

// imported reads a CSV as import does: the mean of the first metric of each
// case, by MACHINE/WORKLOAD and implementation.
func imported(t *testing.T, csv string) map[[2]string]float64 {
	t.Helper()
	benchmarks, err := harness.Read("csv", []byte(csv), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sheets, err := harness.Lay([]harness.Results{{File: "published.csv", Format: "csv", Benchmarks: benchmarks}})
	if err != nil {
		t.Fatal(err)
	}
	means := map[[2]string]float64{}
	for _, sheet := range sheets {
		for _, s := range regression.Summarize(sheet.Trials) {
			if s.Metric == "time" || s.Metric == "wall" {
				means[[2]string{strings.TrimPrefix(sheet.Machine+"/"+s.Case.Workload, "/"), s.Case.Implementation}] = s.Mean
			}
		}
	}
	return means
}

// writtenFigures are the figures of a CSV as they are written, by the same keys:
// how many digits they have says how exact they are.
func writtenFigures(csv string) map[[2]string]string {
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	header := strings.Split(lines[0], ",")
	written := map[[2]string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, ",") {
			row[header[i]] = cell
		}
		if row["metric"] == "time" || row["metric"] == "wall" {
			written[[2]string{strings.TrimPrefix(row["machine"]+"/"+row["workload"], "/"), row["implementation"]}] = row["value"]
		}
	}
	return written
}

// checkPublished compares one published value.
func checkPublished(t *testing.T, value publishedValue, means map[[2]string]float64, written map[[2]string]string) {
	t.Helper()
	key, base := [2]string{value.workload, value.implementation}, [2]string{value.workload, value.baseline}
	mean, found := means[key]
	baseline, foundBase := means[base]
	if !found || !foundBase {
		t.Errorf("%v: not imported", value)
		return
	}
	ours := regression.RatioOf(mean, baseline)
	if value.value == "?" || !ours.Known {
		if value.value != "?" || ours.Known {
			t.Errorf("%v: ours is %+v", value, ours)
		}
		return
	}
	// Each figure lies within half of its last digit.
	spread := relativeError(written[key]) + relativeError(written[base])
	want, _ := strconv.ParseFloat(value.value, 64)
	got, factor := ours.Value, ours.Value
	switch value.as {
	case times:
		got = 1 / ours.Value
		factor = got
	case faster:
		got = 100 * (1 - ours.Value)
		factor = 100 * ours.Value
	case slower:
		got = 100 * (ours.Value - 1)
		factor = 100 * ours.Value
	}
	if allowed := lastDigit(value.value)/2 + factor*spread + 1e-9; math.Abs(got-want) > allowed {
		t.Errorf("%s of %s to %s, %s: published %s, ours is %.4f, which is more than %.4f away",
			value.workload, value.implementation, value.baseline, value.as, value.value, got, allowed)
	}
}

// relativeError is half of a figure's last digit, by the figure.
func relativeError(written string) float64 {
	value, _ := strconv.ParseFloat(written, 64)
	if value == 0 {
		return 0
	}
	return lastDigit(written) / 2 / value
}

// lastDigit is what 1 in a number's last digit is worth.
func lastDigit(written string) float64 {
	mantissa, exponent, _ := strings.Cut(written, "e")
	power, _ := strconv.Atoi(exponent)
	if _, decimals, found := strings.Cut(mantissa, "."); found {
		power -= len(decimals)
	}
	return math.Pow10(power)
}

// The conclusion of the authors of publishedWasm is the arithmetic mean of their
// multipliers.
func TestThePublishedConclusionIsTheArithmeticMean(t *testing.T) {
	means := imported(t, publishedWasm.csv)
	sum := 0.0
	for _, value := range publishedWasm.computed {
		sum += means[[2]string{value.workload, value.baseline}] / means[[2]string{value.workload, value.implementation}]
	}
	if mean := sum / float64(len(publishedWasm.computed)); math.Round(mean) != 54 {
		t.Errorf("the mean of the multipliers is %.2f, published is about 54", mean)
	}
}
