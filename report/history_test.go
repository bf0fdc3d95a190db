package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// past is the history of two cases: one with a confirmed and a withheld change, one
// that is suspected and a relation in which the order changed.
func past() History {
	metric, _ := stopwatt.MetricNamed("time")
	points := func(values ...float64) (all []stopwatt.SeriesPoint) {
		for i, value := range values {
			all = append(all, stopwatt.SeriesPoint{Position: i + 1, SHA: fmt.Sprintf("%08x", 0xabc000+i), Time: time.Date(2026, 11, i+1, 8, 0, 0, 0, time.UTC), Value: value, N: 10, Machine: "f1", Epoch: "e"})
		}
		return all
	}
	change := func(state stopwatt.ChangeState, first int, before, after float64) stopwatt.ChangePoint {
		ratio := after / before
		return stopwatt.ChangePoint{
			State: state, Index: first - 1, First: stopwatt.CommitPlace{Position: first, SHA: "c3d18f0a00"},
			Past: stopwatt.CommitPlace{Position: first - 1, SHA: "e94b771000"}, Reached: stopwatt.CommitPlace{Position: first + 1, SHA: "0badcafe00"},
			Before: stopwatt.Level{N: first - 1, Mean: before, SD: 0.01}, After: stopwatt.Level{N: 9, Mean: after, SD: 0.01}, Shift: after - before, P: 0.0001,
			Ratio: stopwatt.Interval{Value: ratio, Known: true, Low: ratio - 0.007, High: ratio + 0.007, Bounded: true, Confidence: 0.95},
		}
	}
	withheld := change(stopwatt.Withheld, 3, 7.00, 7.08)
	withheld.Withheld = stopwatt.ControlShifted
	series := func(implementation, against string) stopwatt.Series {
		return stopwatt.Series{Case: stopwatt.Case{Implementation: implementation, Workload: "csv-svg-path"}, Metric: "time", Against: against}
	}
	merge := stopwatt.Landing{Position: 7, Merger: "Ada Lovelace", MergeRequest: "!212", Commit: stopwatt.Commit{SHA: "0badcafe00", Author: "Ada Lovelace",
		Subject: "Merge branch 'arena' into 'main'", Parents: []string{"c3d18f0a00", "77"}, Time: time.Date(2026, 11, 7, 8, 0, 0, 0, time.UTC)},
		Brought: []stopwatt.Commit{{SHA: "77", Author: "Bob", Subject: "validate every line"}, {SHA: "76", Author: "Bob", Subject: "use an arena"}}}
	plain := stopwatt.Landing{Position: 6, Merger: "Ada Lovelace", Commit: stopwatt.Commit{SHA: "c3d18f0a00", Author: "Carol", Subject: "read whole lines", Time: time.Date(2026, 11, 6, 8, 0, 0, 0, time.UTC)}}
	return History{Suite: "web-servers", Metric: metric, Landings: []stopwatt.Landing{plain, merge}, Machines: map[string]string{"f1": "odroid-h3"}, Outside: 2, Traced: []Traced{
		{Series: series("go", ""), Searches: []stopwatt.ChangeSearch{{Machine: "f1", Points: points(7, 7.01, 7.08, 7.07, 7.09, 7.23, 7.24, 7.22),
			ChangePoints: []stopwatt.ChangePoint{withheld, change(stopwatt.Confirmed, 6, 7.08, 7.23)}}}},
		{Series: series("rust-arena", ""), Searches: []stopwatt.ChangeSearch{{Machine: "f1", Points: points(6.9, 6.9, 6.9, 6.8),
			ChangePoints: []stopwatt.ChangePoint{change(stopwatt.Suspected, 4, 6.9, 6.8)}}}},
		{Series: series("go", "rust-arena"), Searches: []stopwatt.ChangeSearch{{Machine: "f1", Points: points(0.98, 0.98, 1.04, 1.04),
			ChangePoints: []stopwatt.ChangePoint{change(stopwatt.Confirmed, 3, 0.98, 1.04)}}},
			Orders: []stopwatt.OrderChange{{State: stopwatt.Confirmed, First: stopwatt.CommitPlace{Position: 3, SHA: "c3d18f0a00"},
				Before: stopwatt.Interval{Value: 0.98}, After: stopwatt.Interval{Value: 1.04}}}},
	}}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	empty := History{Suite: "web-servers", Metric: past().Metric}
	for file, write := range map[string]func(io.Writer) error{
		"history.txt":         func(w io.Writer) error { return HistoryText(w, past(), 0) },
		"history-changes.txt": func(w io.Writer) error { return ChangesText(w, past(), 0) },
		"history-stretch.txt": func(w io.Writer) error {
			return HistoryText(w, History{Suite: "web-servers", Metric: past().Metric, Stretch: "since 30d"}, 0)
		},
		"history-together.txt": func(w io.Writer) error { return HistoryTogether(w, withoutRelation(past()), 0) },
		"history.svg":          func(w io.Writer) error { return HistorySVG(w, past(), false) },
		"history-together.svg": func(w io.Writer) error { return HistorySVG(w, withoutRelation(past()), true) },
		"history-empty.svg":    func(w io.Writer) error { return HistorySVG(w, empty, false) },
		"history-changes.csv":  func(w io.Writer) error { return ChangesCSV(w, past()) },
		"history-empty.txt":    func(w io.Writer) error { return HistoryText(w, empty, 0) },
		"history.csv":          func(w io.Writer) error { return HistoryCSV(w, past()) },
		"history.json":         func(w io.Writer) error { return HistoryJSON(w, past()) },
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}

// withoutRelation leaves the series of values.
func withoutRelation(h History) History {
	h.Traced = h.Traced[:2]
	return h
}

func TestForeignNamesStayTextInAPictureOfHistory(t *testing.T) {
	t.Parallel()
	h := past()
	h.Suite, h.Machines["f1"] = "<script>", "\x1b[31m"
	for i := range h.Traced {
		h.Traced[i].Series.Case = stopwatt.Case{Implementation: "</text><script>alert(1)</script>", Workload: "\"a&b\""}
	}
	for _, together := range []bool{false, true} {
		var out bytes.Buffer
		if err := HistorySVG(&out, h, together); err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(&out)
		for {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if tag, is := token.(xml.StartElement); is && tag.Name.Local == "script" {
				t.Error("foreign text has become markup")
			}
		}
	}
}

func TestAHistoryIsNeverWiderThanAskedAndHoldsNoControlSequence(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	name := hostileNames(random)
	for range 40 {
		h := past()
		h.Suite, h.Machines["f1"] = name(), name()
		for i := range h.Landings {
			l := &h.Landings[i]
			l.Merger, l.Commit.Author, l.Commit.Subject, l.MergeRequest = name(), name(), name(), name()
			l.Brought = []stopwatt.Commit{{Author: name(), Subject: name()}}
		}
		for i := range h.Traced {
			h.Traced[i].Series.Case = stopwatt.Case{Implementation: name(), Workload: name()}
		}
		columns := 60 + random.IntN(80)
		var out bytes.Buffer
		if err := HistoryText(&out, h, columns); err != nil {
			t.Fatal(err)
		}
		if err := ChangesText(&out, h, columns); err != nil {
			t.Fatal(err)
		}
		if err := HistoryTogether(&out, h, columns); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if width(line) > columns || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("%d columns for %d: %q", width(line), columns, line)
			}
		}
	}
}
