package report

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestFixed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		x        float64
		decimals int
		want     string
	}{
		{"thousands are separated", 1234567.891, 1, "1,234,567.9"},
		{"hundreds are not", 999, 0, "999"},
		{"rounding may add a thousand", 999.96, 1, "1,000.0"},
		{"negative numbers have a minus, no hyphen", -45.34, 1, "−45.3"},
		{"what rounds to nothing has no sign", -0.04, 1, "0.0"},
		{"a negative zero has no sign", math.Copysign(0, -1), 2, "0.00"},
		{"very large numbers have an exponent", 1.234e12, 1, "1.23e+12"},
		{"very small ones too", -0.0000123, 7, "−1.23e-05"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := fixed(test.x, test.decimals); got != test.want {
				t.Errorf("fixed(%g, %d) = %q, want %q", test.x, test.decimals, got, test.want)
			}
		})
	}
}

func TestSignificantShowsThreeDigitsAndIsClose(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		x := math.Pow(10, random.Float64()*12-3)
		text := strings.ReplaceAll(significant(x, 3), ",", "")
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(back-x) > 0.0051*x {
			t.Fatalf("significant(%g, 3) = %q (%v)", x, text, err)
		}
		if digits := strings.TrimLeft(strings.ReplaceAll(text, ".", ""), "0"); len(digits) < 3 {
			t.Fatalf("significant(%g, 3) = %q has fewer than 3 digits", x, text)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	tests := []struct {
		metric string
		value  float64
		want   string
	}{
		{"time", 19.9, "19.9 s"},
		{"time", 684.231, "684 s"},
		{"time", 0.000159110188484, "159 µs"},
		{"time", 2e-9, "2.00 ns"},
		{"time", 0, "0 s"},
		{"time", 0.9999, "1,000 ms"},
		{"throughput", 10055.3, "10,055/s"},
		{"throughput", 0.5, "0.500/s"},
		{"memory_peak", 1331439861, "1.24 GiB"},
		{"memory_peak", 512 << 20, "512 MiB"},
		{"bytes_sent", 17, "17 B"},
		{"requests", 20000, "20,000"},
		{"errors", 0, "0"},
		{"errors", 0.3, "0.300"},
		{"time", math.NaN(), "–"},
		{"time", math.Inf(1), "–"},
	}
	for _, test := range tests {
		t.Run(test.metric+" "+test.want, func(t *testing.T) {
			t.Parallel()
			metric, _ := stopwatt.MetricNamed(test.metric)
			if got := Value(metric, test.value); got != test.want {
				t.Errorf("Value(%s, %g) = %q, want %q", test.metric, test.value, got, test.want)
			}
		})
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{
		0.0874: "87.4 ms", 0.0000001: "100 ns", 0.1: "0.1 s", 19.94: "19.9 s", 59.94: "59.9 s", 59.96: "1 min 00 s",
		72.4: "1 min 12 s", 3599.6: "1 h 00 min", 4140: "1 h 09 min", 3.6e6: "1,000 h 00 min",
	} {
		if got := Seconds(seconds); got != want {
			t.Errorf("Seconds(%g) = %q, want %q", seconds, got, want)
		}
	}
}

func summary(mean, sd float64) stopwatt.Summary {
	return stopwatt.Summary{N: 10, Mean: mean, SD: sd, Median: mean}
}

func TestScaleOfAColumn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		metric string
		asked  string
		column []stopwatt.Summary
		unit   string
		want   []string // value ± spread
	}{
		{"one unit and one number of decimals", "time", "", []stopwatt.Summary{summary(25.123, 0.108), summary(28.314, 0.191)}, "s", []string{"25.12 ± 0.11", "28.31 ± 0.19"}},
		{"the smallest value chooses the unit", "time", "", []stopwatt.Summary{summary(2.392, 0.02), summary(0.0177, 0.0001)}, "ms", []string{"2,392.0 ± 20.0", "17.7 ± 0.1"}},
		{"microseconds", "time", "", []stopwatt.Summary{summary(159.11e-6, 0.4e-6), summary(87.41e-6, 0.3e-6)}, "µs", []string{"159.1 ± 0.4", "87.4 ± 0.3"}},
		{"a range beyond a thousand lets each have its digits", "time", "", []stopwatt.Summary{summary(30e-9, 1e-9), summary(10.8837e-3, 1e-5)}, "µs", []string{"0.0300 ± 0.0010", "10,884 ± 10"}},
		{"an asked unit is taken", "time", "ns", []stopwatt.Summary{summary(30e-9, 1e-9), summary(801e-9, 2e-9)}, "ns", []string{"30.0 ± 1.0", "801.0 ± 2.0"}},
		{"u stands for µ", "time", "us", []stopwatt.Summary{summary(0.5, 0.01)}, "µs", []string{"500,000 ± 10,000"}},
		{"a unit of something else is not", "throughput", "ms", []stopwatt.Summary{summary(10055, 31)}, "1/s", []string{"10,055 ± 31"}},
		{"counts are whole", "requests", "", []stopwatt.Summary{summary(20000, 0)}, "1", []string{"20,000 ± 0"}},
		{"means of counts may not be", "errors", "", []stopwatt.Summary{summary(0.3, 0.4)}, "1", []string{"0.3000 ± 0.4000"}},
		{"only zeros are in the base unit", "time", "", []stopwatt.Summary{summary(0, 0)}, "s", []string{"0 ± 0"}},
		{"a zero beside others is written like them", "time", "", []stopwatt.Summary{summary(0, 0), summary(600e-9, 3e-9)}, "ns", []string{"0.0 ± 0.0", "600.0 ± 3.0"}},
		{"a spread larger than its value shows whole", "time", "", []stopwatt.Summary{summary(0.02, 3.1)}, "s", []string{"0.020 ± 3.100"}},
		{"a spread below the last decimal is not called nothing", "memory_peak", "", []stopwatt.Summary{summary(1<<30, 3)}, "GiB", []string{"1.000 ± <0.001"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			metric, _ := stopwatt.MetricNamed(test.metric)
			scale := scaleOf(metric, test.asked, test.column)
			if scale.unit.name != test.unit {
				t.Errorf("unit %s, want %s", scale.unit.name, test.unit)
			}
			for i, s := range test.column {
				f := scale.figures(s)
				if got := f.value + " ± " + f.spread; got != test.want[i] {
					t.Errorf("row %d: %s, want %s", i, got, test.want[i])
				}
			}
		})
	}
}

func TestASingleTrialHasNoSpread(t *testing.T) {
	t.Parallel()
	s := summary(2, 0)
	s.N = 1
	if f := scaleOf(stopwatt.Metrics[0], "", []stopwatt.Summary{s}).figures(s); f.spread != absent {
		t.Errorf("spread of one trial: %q, want %q", f.spread, absent)
	}
}

func TestCheckUnit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "ms", "us", "µs", "μs", "MiB", "1/min"} {
		if err := CheckUnit(name, DefaultMetrics(stopwatt.Results{})); err != nil {
			t.Errorf("unit %q: %v", name, err)
		}
	}
	err := CheckUnit("MiB", DefaultMetrics(stopwatt.Results{})[:2])
	want := `unit "MiB" fits none of the metrics shown; these do: ns, µs, ms, s, min, h, 1/min, 1/s`
	if err == nil || err.Error() != want {
		t.Errorf("a unit that does not fit: %v, want %s", err, want)
	}
}

func TestRatio(t *testing.T) {
	t.Parallel()
	known := func(value float64) stopwatt.Ratio { return stopwatt.Ratio{Value: value, Known: true} }
	tests := []struct {
		name   string
		metric string
		ratio  stopwatt.Ratio
		as     As
		want   string
	}{
		{"17 % more energy than the baseline, as published", "time", known(1.17), AsRatio, "1.17×"},
		{"equal", "time", known(1), AsRatio, "1.00×"},
		{"a small one keeps two digits", "time", known(0.0123), AsRatio, "0.012×"},
		{"a large one has no decimals", "time", known(12345.6), AsRatio, "12,346×"},
		{"nothing against something", "time", known(0), AsRatio, "0.00×"},
		{"unknown", "time", stopwatt.Ratio{}, AsRatio, "?"},
		// 159.11 µs → 87.41 µs was published as "a 45% speed increase".
		{"159 to 87 µs is 45 % less time, never faster", "time", known(87.41 / 159.11), AsPercent, "−45.1 % less"},
		{"159 to 87 µs is 1.82 times faster", "time", known(87.41 / 159.11), AsTimes, "1.82 times faster"},
		// 684.231 s against 7.451 s was published as 91.8x.
		{"smp is 91.8 times slower", "time", known(684.231 / 7.451), AsTimes, "91.8 times slower"},
		// 17.7 ms against 2.392 s was published as 135 times faster.
		{"pahi is 135 times faster", "time", known(0.0177 / 2.392), AsTimes, "135 times faster"},
		{"more requests per second are higher", "throughput", known(1.5), AsTimes, "1.50 times higher"},
		{"fewer are lower", "throughput", known(0.5), AsTimes, "2.00 times lower"},
		{"memory is smaller", "memory_peak", known(0.25), AsTimes, "4.00 times smaller"},
		{"CPU time is less", "cpu_server", known(0.5), AsTimes, "2.00 times less"},
		{"errors are fewer", "errors", known(0.5), AsTimes, "2.00 times fewer"},
		{"what rounds to 1.00 is equal", "time", known(1.004), AsTimes, "equal"},
		{"what has no time at all has no times", "time", known(0), AsTimes, "?"},
		{"nothing left is all of it less", "time", known(0), AsPercent, "−100.0 % less"},
		{"twice is 100 % more", "time", known(2), AsPercent, "+100.0 % more"},
		{"a hundred times", "time", known(100), AsPercent, "+9,900 % more"},
		{"a change that rounds to nothing has no sign", "time", known(0.9999), AsPercent, "0.0 % equal"},
		{"one that shows no difference says so", "time", stopwatt.Ratio{Value: 0.71, Known: true, Near: true}, AsRatio, "≈0.71×"},
		{"so it does as a change", "time", stopwatt.Ratio{Value: 0.71, Known: true, Near: true}, AsPercent, "≈−29.0 % less"},
		{"and in times", "time", stopwatt.Ratio{Value: 0.5, Known: true, Near: true}, AsTimes, "≈2.00 times faster"},
		{"unknown as a change", "time", stopwatt.Ratio{}, AsPercent, "?"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			metric, _ := stopwatt.MetricNamed(test.metric)
			if got := Ratio(metric, test.ratio, test.as); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestParseAs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]As{"": AsValue, "value": AsValue, "ratio": AsRatio, "times": AsTimes, "percent": AsPercent} {
		if got, err := ParseAs(name); err != nil || got != want {
			t.Errorf("ParseAs(%q) = %q, %v", name, got, err)
		}
	}
	if _, err := ParseAs("speedup"); err == nil || !strings.Contains(err.Error(), "value, ratio, times and percent") {
		t.Errorf("an unknown form: %v", err)
	}
}

func TestRoughRatioShowsNoMoreDigitsThanItsErrorAllows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		ratio         stopwatt.Ratio
		times, change string
	}{
		{"a small error leaves all", stopwatt.Ratio{Value: 2.317, Known: true, Error: 0.0004}, "2.32×", "+131.7 % more"},
		{"no error at all too", stopwatt.Ratio{Value: 2.317, Known: true}, "2.32×", "+131.7 % more"},
		{"one percent takes the decimal", stopwatt.Ratio{Value: 2.317, Known: true, Error: 0.012}, "2.32×", "+132 % more"},
		{"a tenth takes more", stopwatt.Ratio{Value: 2.317, Known: true, Error: 0.12}, "2.3×", "+130 % more"},
		{"one digit is left", stopwatt.Ratio{Value: 0.713, Known: true, Error: 4, Near: true}, "≈0.7×", "≈−30 % less"},
		{"of a single trial, a hundredth", stopwatt.Ratio{Value: 26.64, Known: true, Near: true}, "≈26.6×", "≈+2,560 % more"},
		{"of a single trial near its baseline too", stopwatt.Ratio{Value: 1.0234, Known: true, Near: true}, "≈1.02×", "≈+2 % more"},
		{"of a small one, one", stopwatt.Ratio{Value: 0.0123, Known: true, Error: 0.1}, "0.01×", "−100 % less"},
		{"equal stays equal", stopwatt.Ratio{Value: 1, Known: true}, "1.00×", "0 % equal"},
		{"unknown stays unknown", stopwatt.Ratio{}, "?", "?"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := roughRatio(test.ratio); got != test.times {
				t.Errorf("%q, want %q", got, test.times)
			}
			if got := roughChange(test.ratio); got != test.change {
				t.Errorf("%q, want %q", got, test.change)
			}
		})
	}
}
