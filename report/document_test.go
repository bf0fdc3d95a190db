package report

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	metricsDocument = "../docs/metrics.md"
	tableBegins     = "<!-- metrics: this table is written by `go test ./report -run MetricsDocument -update` from metric.go -->\n"
	tableEnds       = "<!-- end of metrics -->\n"
)

func TestMetricsDocumentListsEveryMetric(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(metricsDocument)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s has lost the marks round its table", metricsDocument)
	}
	want := metricsTable()
	if *update {
		if err := os.WriteFile(metricsDocument, []byte(before+tableBegins+want+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("%s does not say what metric.go says (-want +got), -update rewrites it:\n%s", metricsDocument, diff)
	}
}

func metricsTable() string {
	var out strings.Builder
	out.WriteString("| metric | unit | better | window | what |\n|:--|:--|:--|:--|:--|\n")
	for _, metric := range stopwatt.Metrics {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", metric.Name, metric.Unit, metric.Better, metric.Window, metric.What)
	}
	for _, metric := range stopwatt.EnergyMetrics("METER") {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", metric.Name, metric.Unit, metric.Better, metric.Window, metric.What)
	}
	return out.String()
}

func TestMetricsDocumentExplainsEveryWindowAndUnit(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(metricsDocument)
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range stopwatt.Metrics {
		if !strings.Contains(string(content), "\n| "+metric.Window+" | ") {
			t.Errorf("the window %q of %s is not explained", metric.Window, metric.Name)
		}
	}
	for base, list := range units {
		_, line, found := strings.Cut(string(content), "\n| "+base+" | ")
		line, _, _ = strings.Cut(line, "\n")
		for _, u := range list {
			if !found || !strings.Contains(line, "`"+u.name+"`") {
				t.Errorf("the unit %s of %s is not listed", u.name, base)
			}
		}
	}
}
