package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func pageOf(t *testing.T, results stopwatt.Results, trials []stopwatt.Trial) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, results, contrastOf(results, DefaultMetrics(results)), trials); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tags are the opening tags of a page; text between them is left out.
func tags(page string) []string {
	_, body, _ := strings.Cut(page, "</style>")
	return regexp.MustCompile(`<[a-zA-Z][^>]*>`).FindAllString(body, -1)
}

func TestForeignTextStaysTextInHTML(t *testing.T) {
	t.Parallel()
	page := pageOf(t, first(hostile()), second(hostile()))
	ours := regexp.MustCompile(`^<(body|header|main|section|p|h1|h2|span|strong|b|ul|li|div|figure|figcaption|svg|title|desc|line|rect|path|text|tspan|details|summary|table|caption|thead|tbody|tr|th|td|small|br|dl|dt|dd|code|i)\b`)
	handler := regexp.MustCompile(`\s(on\w+|src|href|style|action)\s*=`)
	for _, tag := range tags(page) {
		if !ours.MatchString(tag) || handler.MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`)) {
			t.Errorf("a tag that the template does not have: %s", tag)
		}
	}
	head, _, _ := strings.Cut(page, "</head>")
	if strings.Count(head, "<title>") != 1 || strings.Contains(page, "<script") || strings.Contains(page, "\x1b") {
		t.Error("foreign text has become markup")
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the name of the implementation is gone")
	}
}

func first(results stopwatt.Results, _ []stopwatt.Trial) stopwatt.Results { return results }
func second(_ stopwatt.Results, trials []stopwatt.Trial) []stopwatt.Trial { return trials }

func TestPageAsksNobodyForAnything(t *testing.T) {
	t.Parallel()
	page := pageOf(t, first(servers(2)), second(servers(2)))
	for _, outside := range []string{"http:", "https:", "url(", "@import", "<script", "//cdn", "<iframe", "<img"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page contains %q", outside)
		}
	}
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1])
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]
	sum := sha256.Sum256([]byte(style))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("the policy %q does not allow the page's own style, %s", policy, want)
	}
}

func TestChartBarsBeginAtZeroAndAreAsLongAsTheirValues(t *testing.T) {
	t.Parallel()
	results := first(servers(10))
	c := contrastOf(results, DefaultMetrics(results))
	for w, block := range c.Workloads {
		for m, metric := range c.Metrics {
			drawn := chartOf(c, block, m, "id")
			if zero := drawn.Ticks[0]; zero.X != "0" || strings.Trim(zero.Text, "0.") != "" {
				t.Errorf("the axis of %s begins at %s with %s", metric.Name, zero.X, zero.Text)
			}
			longest := 0.0
			for _, b := range drawn.Bars {
				longest = max(longest, number(t, b.W))
			}
			for i, b := range drawn.Bars {
				s, _ := block.Rows[i].Result.Summary(metric.Name)
				top, _ := block.Rows[0].Result.Summary(metric.Name)
				for _, row := range block.Rows {
					if other, _ := row.Result.Summary(metric.Name); other.Mean > top.Mean {
						top = other
					}
				}
				if want := longest * s.Mean / top.Mean; b.X != "0" || abs(number(t, b.W)-want) > 0.11 {
					t.Errorf("workload %d, %s: bar of %s from %s, %s long, want %.1f", w, metric.Name, b.Name, b.X, b.W, want)
				}
			}
		}
	}
}

func TestChartErrorBarsReachOneStandardDeviation(t *testing.T) {
	t.Parallel()
	a := axis{low: -10, high: 90} // 3.56 places a unit, zero at 35.6
	u := unit{name: "s", size: 1}
	tests := []struct {
		name              string
		summary           stopwatt.Summary
		x, w, from, until string
	}{
		{"a positive value", stopwatt.Summary{N: 2, Mean: 50, SD: 10}, "35.6", "178", "178", "249.2"},
		{"a negative value grows to the left", stopwatt.Summary{N: 2, Mean: -5, SD: 1}, "17.8", "17.8", "14.2", "21.4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var b bar
			b.draw(a, u, test.summary, 0)
			if b.X != test.x || b.W != test.w || !strings.HasPrefix(b.ErrorBar, "M"+test.from+" 26H"+test.until+"M") {
				t.Errorf("bar at %s, %s long, error %s", b.X, b.W, b.ErrorBar)
			}
		})
	}
	var single bar
	single.draw(a, u, stopwatt.Summary{N: 1, Mean: 50}, 0)
	if single.ErrorBar != "" {
		t.Errorf("a single trial has an error bar: %s", single.ErrorBar)
	}
}

func TestChartSaysAllItsFiguresInWords(t *testing.T) {
	t.Parallel()
	c := contrastOf(first(hostile()), DefaultMetrics(stopwatt.Results{}))
	drawn := chartOf(c, c.Workloads[0], 5, "id")
	for _, want := range []string{"memory_peak, MiB of a|b # heading", "dead: absent, exited with 137 (out of memory)", "MiB; "} {
		if !strings.Contains(drawn.Title+" "+drawn.Summary, want) {
			t.Errorf("%q is missing in %q, %q", want, drawn.Title, drawn.Summary)
		}
	}
}

func TestTicksAreRoundAndWithinTheAxis(t *testing.T) {
	t.Parallel()
	for _, a := range []axis{{0, 1}, {0, 7.3}, {0, 1e9}, {0, 3e-7}, {-3, 12}, {-5, 0}} {
		ticks := a.ticks(0)
		if len(ticks) < 3 || len(ticks) > 9 {
			t.Errorf("%+v has %d ticks", a, len(ticks))
		}
		for _, tick := range ticks {
			if x := number(t, tick.X); x < 0 || x > chartWidth-chartEdge+0.1 {
				t.Errorf("%+v: tick %s lies at %s", a, tick.Text, tick.X)
			}
		}
	}
}

func TestTickTextsDoNotTouch(t *testing.T) {
	t.Parallel()
	for _, high := range []float64{1, 9.7, 45, 120000, 128000, 1e6, 123456789, 9.99e11, 3e-7} {
		for _, a := range []axis{{0, high}, {-high / 3, high}} {
			if ticks := a.ticks(0); touching(ticks) || len(ticks) < 2 {
				t.Errorf("%+v: %+v", a, ticks)
			}
		}
		visible := stretch{-0.02 * high, high}
		if ticks := timeTicks(visible, 0); touching(ticks) || len(ticks) < 2 || !strings.HasSuffix(ticks[len(ticks)-1].Text, " s") {
			t.Errorf("over %g s: %+v", high, ticks)
		}
	}
}

func TestLinesOfAChartLeaveItsTextFree(t *testing.T) {
	t.Parallel()
	results := first(servers(2))
	c := contrastOf(results, DefaultMetrics(results))
	drawn := chartOf(c, c.Workloads[0], 0, "id")
	segments := regexp.MustCompile(`M[0-9.]+ ([0-9.]+)v([0-9.]+)`).FindAllStringSubmatch(drawn.Baseline+drawn.Ticks[0].Path, -1)
	if len(segments) != 2*len(drawn.Bars) {
		t.Fatalf("%d segments for %d rows", len(segments), len(drawn.Bars))
	}
	for _, s := range segments {
		top := number(t, s[1])
		bottom := top + number(t, s[2])
		for _, b := range drawn.Bars {
			if text := number(t, b.TextY); top < text && bottom > text-10 {
				t.Errorf("a line from %g to %g runs through the text at %g", top, bottom, text)
			}
		}
	}
}

func TestTheListOfTrialsHasOneUnit(t *testing.T) {
	t.Parallel()
	var trials []stopwatt.Trial
	for _, seconds := range []float64{0.0625, 0.1512, 1.2} {
		trials = append(trials, stopwatt.Trial{Status: stopwatt.Valid, Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}}})
	}
	list, _ := trialsShown(trials)
	for i, want := range []string{"valid, 62.5 ms", "valid, 151 ms", "valid, 1,200 ms"} {
		if list[i].Status != want {
			t.Errorf("%q, want %q", list[i].Status, want)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func abs(x float64) float64 { return max(x, -x) }
