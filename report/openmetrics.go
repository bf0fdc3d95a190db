package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A family is one metric of OpenMetrics with its lines.
type family struct {
	name, unit, help string
	lines            []string
}

// unitWords are what OpenMetrics calls base units.
var unitWords = map[string]string{"s": "seconds", "B": "bytes", "J": "joules", "W": "watts", "1/s": "per_second"}

// OpenMetrics writes the medians of the head's cases, the changes, and how many
// comparisons have each verdict. GitLab compares such a file with that of the target
// branch as text: so every number has five significant digits, the order is always
// the same, labels are names alone, and nothing has a time.
func OpenMetrics(w io.Writer, runs ...stopwatt.Results) error {
	families := append(valueFamilies(runs), changeFamily(runs), verdictFamily(runs))
	var out strings.Builder
	for _, f := range families {
		if len(f.lines) == 0 {
			continue
		}
		fmt.Fprintf(&out, "# TYPE %s gauge\n", f.name)
		if f.unit != "" {
			fmt.Fprintf(&out, "# UNIT %s %s\n", f.name, f.unit)
		}
		fmt.Fprintf(&out, "# HELP %s %s\n", f.name, labelText(f.help))
		for _, line := range f.lines {
			out.WriteString(line + "\n")
		}
	}
	out.WriteString("# EOF\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// valueFamilies have a family for each metric that is shown or judged.
func valueFamilies(runs []stopwatt.Results) []family {
	var families []family
	used := map[string]bool{}
	for _, metric := range openMetricsOf(runs) {
		f := family{unit: unitWords[metric.Unit], help: "Median of the valid trials of " + metric.Name + " at the head."}
		f.name = familyName(metric, f.unit, used)
		for _, results := range runs {
			for _, result := range results.Cases {
				if s, has := result.Summary(metric.Name); has && result.Revision != stopwatt.Base && !math.IsNaN(s.Median) && !math.IsInf(s.Median, 0) {
					f.lines = append(f.lines, f.name+labels(results, result.Case)+" "+steady(s.Median))
				}
			}
		}
		families = append(families, f)
	}
	return families
}

// openMetricsOf are the metrics that are shown by default, and those that were judged.
func openMetricsOf(runs []stopwatt.Results) []stopwatt.Metric {
	var metrics []stopwatt.Metric
	for _, results := range runs {
		all := DefaultMetrics(results)
		if results.Judgement != nil {
			for _, c := range results.Judgement.Comparisons {
				all = append(all, c.Metric)
			}
		}
		for _, metric := range all {
			if !isAmong(metrics, metric) {
				metrics = append(metrics, metric)
			}
		}
	}
	return metrics
}

// familyName is a metric's name as OpenMetrics has it, its unit last. Two that would
// have the same are numbered.
func familyName(metric stopwatt.Metric, unit string, used map[string]bool) string {
	plain := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, metric.Name)
	for n := 1; ; n++ {
		name := "stopwatt_" + plain
		if n > 1 {
			name += "_" + strconv.Itoa(n)
		}
		if unit != "" {
			name += "_" + unit
		}
		if !used[name] {
			used[name] = true
			return name
		}
	}
}

// changeFamily is the ratio of head to base of each comparison.
func changeFamily(runs []stopwatt.Results) family {
	f := family{name: "stopwatt_change_ratio", unit: "ratio", help: "Head divided by base, of the paired trials."}
	for _, results := range runs {
		if results.Judgement == nil {
			continue
		}
		for _, c := range results.Judgement.Comparisons {
			if c.Estimate.Ratio.Known {
				f.lines = append(f.lines, f.name+labels(results, c.Case, "metric", c.Metric.Name)+" "+steady(c.Estimate.Ratio.Value))
			}
		}
	}
	return f
}

// verdictFamily counts the comparisons of each verdict; those that nobody has are 0,
// so that the lines are always the same.
func verdictFamily(runs []stopwatt.Results) family {
	f := family{name: "stopwatt_comparisons", help: "Comparisons of head against base, by verdict."}
	for _, results := range runs {
		if results.Judgement == nil {
			continue
		}
		for _, verdict := range ranks {
			f.lines = append(f.lines, fmt.Sprintf("%s{suite=%s,machine=%s,verdict=%s} %d", f.name,
				labelValue(results.Run.Suite), labelValue(results.Run.Machine.Name), labelValue(string(verdict)), results.Judgement.Count(verdict)))
		}
	}
	return f
}

// labels are those of a case, and others by name and value.
func labels(results stopwatt.Results, of stopwatt.Case, others ...string) string {
	all := []string{"suite", results.Run.Suite, "machine", results.Run.Machine.Name, "implementation", of.Implementation, "workload", of.Workload}
	var pairs []string
	all = append(all, others...)
	for i := 0; i < len(all); i += 2 {
		pairs = append(pairs, all[i]+"="+labelValue(all[i+1]))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func labelValue(text string) string { return `"` + labelText(text) + `"` }

// labelText is foreign text within a label or a help.
func labelText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Clean(text))
}

// steady is a number of five significant digits, the others 0.
func steady(value float64) string {
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'e', 4, 64), 64); err == nil {
		value = rounded
	}
	return strconv.FormatFloat(value, 'f', decimalsFor(value, 5), 64)
}
