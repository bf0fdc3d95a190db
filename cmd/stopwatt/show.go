package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// A view says how results are looked at.
type view struct {
	suite    string
	baseline string
	metrics  []string
	as       string
	unit     string
	mean     string
	format   string
	gross    bool
	meters   bool     // energy meters side by side
	only     []string // implementations; empty: all
	grids    bool     // a grid for each metric, whatever the form
	turned   bool     // workloads side by side
	by       string   // machine: runs on several of them; empty: one run
	labels   []string // KEY=VALUE that the run has
	cite     bool     // a paragraph on method, and a citation
}

// flags adds what a view can be told to a verb.
func (v *view) flags(verb *cobra.Command) {
	verb.Flags().StringVar(&v.suite, "suite", "", "the latest run of this suite")
	labelFlag(verb, &v.labels, "the latest run with this label: `KEY=VALUE`; may be repeated")
	verb.Flags().StringVar(&v.baseline, "baseline", "", "implementation that the others are shown against (default: the suite's)")
	verb.Flags().StringSliceVar(&v.metrics, "metric", nil, "metrics to show, see docs/metrics.md")
	verb.Flags().StringVar(&v.as, "as", "value", "show `FORM`: value, ratio, times or percent")
	verb.Flags().StringVar(&v.unit, "unit", "", "show in this unit, as in ns, ms, s, MiB (default: one that suits)")
	verb.Flags().StringVar(&v.mean, "mean", string(stopwatt.Arithmetic), "mean of the workloads' ratios: arithmetic or geometric")
	verb.Flags().BoolVar(&v.gross, "gross", false, "energy with idle power included")
	verb.Flags().StringVar(&v.format, "format", "text", "text, markdown, csv or json")
}

// showVerb is `stopwatt show`.
func (d *desk) showVerb() *cobra.Command {
	var v view
	var trial int
	var machine string
	verb := &cobra.Command{
		Use:   "show [RUN [CASE ROUND]]",
		Short: "A stored run, a trial of it, or a machine",
		Long: `Prints the table of a stored run: the one of this number, or the latest. With a case
and a round, or --trial and its place in the order of the run, one trial: its
figures, what was sampled while it lasted, and its latencies up to p99.99. With
--machine, what a machine is, what changed on it, and how small a change it sees.`,
		Example: `  stopwatt show
  stopwatt show 412 go/csv-svg-path 3
  stopwatt show 412 --trial 17 --format json
  stopwatt show --machine odroid-h3
  stopwatt show 412 --metric time,memory_peak
  stopwatt show --suite web-servers --as percent --baseline go`,
		Args: atMost(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case machine != "":
				return d.showMachine(cmd.Context(), machine, v)
			case trial > 0 && len(args) > 1 || len(args) == 2:
				return askedWrongly(errors.New("a trial is named by RUN CASE ROUND, or by RUN and --trial"))
			case trial > 0 || len(args) == 3:
				return d.showTrial(cmd.Context(), args, trial, v)
			}
			return d.show(cmd.Context(), first(args), v)
		},
	}
	v.flags(verb)
	verb.Flags().IntVar(&trial, "trial", 0, "the trial at this `PLACE` in the order of the run")
	verb.Flags().StringVar(&machine, "machine", "", "the machine of this `NAME`, or whose fingerprint begins so")
	verb.Flags().BoolVar(&v.cite, "cite", false, "a paragraph on method and a citation instead")
	return verb
}

// show prints a stored run.
func (d *desk) show(ctx context.Context, named string, v view) error {
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	id, err := d.findRun(ctx, store, named, v.suite, v.labels)
	if err != nil {
		return err
	}
	results, err := store.Results(ctx, id)
	if err != nil {
		return err
	}
	if results, err = onlyImplementations(results, v.only); err != nil {
		return askedWrongly(err)
	}
	return d.printResults(results, v)
}

// noRun says that there is no such run, and which there are.
func (d *desk) noRun(ctx context.Context, store *storage.Store, asked storage.RunQuery) error {
	latest, err := store.FindRun(ctx, storage.RunQuery{})
	switch {
	case err != nil:
		return errors.New("no run is stored yet; stopwatt run stores one")
	case asked.ID != 0 && asked.Suite != "":
		return fmt.Errorf("there is no run %d of suite %s; the latest run is %d", asked.ID, quote(asked.Suite), latest)
	case len(asked.Labels) > 0:
		return fmt.Errorf("no run that is asked for has the labels %s; stopwatt sql 'select run, labels from runs' lists them", labelsText(asked.Labels))
	case asked.ID != 0:
		return fmt.Errorf("there is no run %d; the latest is %d", asked.ID, latest)
	}
	return fmt.Errorf("there is no run of suite %s; the latest run is %d", quote(asked.Suite), latest)
}

// printResults writes results to standard output in the form that is asked for.
func (d *desk) printResults(results stopwatt.Results, v view) error {
	switch {
	case v.cite:
		return report.Cite(d.stdout, results)
	case v.meters:
		return d.printMeters(results, v)
	}
	contrast, err := lay(results, v)
	if err != nil {
		return askedWrongly(err)
	}
	if v.grids {
		return d.printGrids(v, func(o report.Options) (report.Grids, error) { return report.GridsOf(results.Run, contrast, o) })
	}
	as, err := report.ParseAs(v.as)
	if err != nil {
		return askedWrongly(err)
	}
	if err := report.CheckUnit(v.unit, contrast.Metrics); err != nil {
		return askedWrongly(err)
	}
	return write(d.stdout, only(results, v.metrics), contrast, v.format, report.Options{
		As:    as,
		Unit:  v.unit,
		Width: terminalWidth(d.stdout),
	})
}

// printMeters writes the energies of all meters side by side.
func (d *desk) printMeters(results stopwatt.Results, v view) error {
	options := report.Options{Unit: v.unit, Width: terminalWidth(d.stdout)}
	contrast := regression.LayMeters(results, v.gross)
	switch v.format {
	case "text":
		return report.Meters(d.stdout, results.Run, contrast, options)
	case "markdown":
		return report.MetersMarkdown(d.stdout, results.Run, contrast, options)
	case "json":
		return report.MetersJSON(d.stdout, results.Run, contrast)
	}
	return askedWrongly(fmt.Errorf("--format %s with --meters: write text, markdown or json", quote(v.format)))
}

// lay makes the contrast that a view asks for.
func lay(results stopwatt.Results, v view) (stopwatt.Contrast, error) {
	metrics := report.DefaultMetrics(results)
	if len(v.metrics) > 0 {
		metrics = nil
	}
	for _, name := range v.metrics {
		metric, known := results.Metric(name)
		if !known {
			return stopwatt.Contrast{}, fmt.Errorf("there is no metric %s; there are %s", quote(name), metricNames(results))
		}
		metrics = append(metrics, metric)
	}
	if v.gross {
		metrics = report.Gross(metrics)
	}
	mean := stopwatt.MeanKind(cmp.Or(v.mean, string(stopwatt.Arithmetic)))
	if mean != stopwatt.Arithmetic && mean != stopwatt.Geometric {
		return stopwatt.Contrast{}, fmt.Errorf("--mean %s: write arithmetic or geometric", quote(v.mean))
	}
	return regression.Lay(results, cmp.Or(v.baseline, results.Run.Baseline), metrics, mean)
}

// metricNames lists every metric, those that results alone know too.
func metricNames(results stopwatt.Results) string {
	var names []string
	for _, metric := range append(slices.Clone(stopwatt.Metrics), results.Metrics...) {
		if !slices.Contains(names, metric.Name) {
			names = append(names, metric.Name)
		}
	}
	return strings.Join(names, ", ")
}

// only keeps the summaries of the named metrics, or all when none is named.
func only(results stopwatt.Results, metrics []string) stopwatt.Results {
	if len(metrics) == 0 {
		return results
	}
	cases := slices.Clone(results.Cases)
	for i, result := range cases {
		cases[i].Summaries = slices.DeleteFunc(slices.Clone(result.Summaries), func(s stopwatt.Summary) bool {
			return !slices.Contains(metrics, s.Metric)
		})
	}
	results.Cases = cases
	return results
}

// write writes results in one of the formats.
func write(w io.Writer, results stopwatt.Results, contrast stopwatt.Contrast, format string, options report.Options) error {
	switch format {
	case "text":
		return report.Terminal(w, results.Run, contrast, options)
	case "markdown":
		return report.Markdown(w, results.Run, contrast, options)
	case "csv":
		return report.CSV(w, results)
	case "json":
		return report.JSON(w, results, nil)
	}
	return askedWrongly(fmt.Errorf("--format %s: write text, markdown, csv or json", quote(format)))
}
