package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// printGrids writes what a view asks for as grids, in one of the formats.
func (d *desk) printGrids(v view, grids func(report.Options) (report.Grids, error)) error {
	as, err := report.ParseAs(v.as)
	if err != nil {
		return askedWrongly(err)
	}
	options := report.Options{As: as, Unit: v.unit, Width: terminalWidth(d.stdout), Transpose: v.turned}
	g, err := grids(options)
	if err != nil {
		return askedWrongly(err)
	}
	switch v.format {
	case "text":
		return g.Terminal(d.stdout, options)
	case "markdown":
		return g.Markdown(d.stdout)
	case "html":
		return g.HTML(d.stdout)
	case "csv":
		return g.CSV(d.stdout)
	case "json":
		return g.JSON(d.stdout)
	}
	return askedWrongly(fmt.Errorf("--format %s: write text, markdown, html, csv or json", quote(v.format)))
}

// compareMachines prints the latest run of a suite on each machine. Two names are
// the implementations whose ratio stands in the last column.
func (d *desk) compareMachines(ctx context.Context, args []string, v view) error {
	switch {
	case v.by != "machine":
		return askedWrongly(fmt.Errorf("--by %s: write machine", quote(v.by)))
	case len(args)%2 == 1 || v.meters || v.turned:
		return askedWrongly(errors.New("--by machine shows the latest run on each machine: leave the run, --meters and --transpose out, and name a --suite"))
	}
	against := ""
	if len(args) == 2 {
		v.baseline, against = args[0], args[1]
	}
	runs, err := d.latestOfEachMachine(ctx, storage.RunQuery{Suite: v.suite})
	if err != nil {
		return err
	}
	metric, err := metricOfMachines(runs, v)
	if err != nil {
		return askedWrongly(err)
	}
	contrast, err := regression.LayMachines(runs, v.baseline, against, metric)
	if err != nil {
		return askedWrongly(err)
	}
	return d.printGrids(v, func(o report.Options) (report.Grids, error) { return report.GridsByMachine(contrast, o) })
}

// latestOfEachMachine reads the latest run of each machine from the database.
func (d *desk) latestOfEachMachine(ctx context.Context, query storage.RunQuery) ([]stopwatt.Results, error) {
	store, release, err := d.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	ids, err := store.LatestOfEachMachine(ctx, query)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, askedWrongly(d.noRun(ctx, store, query))
	}
	if err != nil {
		return nil, err
	}
	var runs []stopwatt.Results
	for _, id := range ids {
		results, err := store.Results(ctx, id)
		if err != nil {
			return nil, err
		}
		runs = append(runs, results)
	}
	return runs, nil
}

// metricOfMachines is the one metric that machines are laid side by side in: the
// one that is asked for, or else the first that a table would show.
func metricOfMachines(runs []stopwatt.Results, v view) (stopwatt.Metric, error) {
	if len(v.metrics) > 1 {
		return stopwatt.Metric{}, errors.New("--by machine shows one metric: name one with --metric")
	}
	if len(v.metrics) == 0 {
		metrics := report.DefaultMetrics(runs[0])
		if v.gross {
			metrics = report.Gross(metrics)
		}
		return metrics[0], nil
	}
	at := slices.IndexFunc(runs, func(r stopwatt.Results) bool { _, known := r.Metric(v.metrics[0]); return known })
	if at < 0 {
		return stopwatt.Metric{}, fmt.Errorf("there is no metric %s; there are %s", quote(v.metrics[0]), metricNames(runs[0]))
	}
	metric, _ := runs[at].Metric(v.metrics[0])
	return metric, nil
}
