package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// A pruneOrder says what is to be dropped.
type pruneOrder struct {
	olderThan string
	yes       bool
}

// pruneVerb is `stopwatt prune`.
func (d *desk) pruneVerb() *cobra.Command {
	var order pruneOrder
	verb := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Drop samples and latency histograms of old runs",
		Long: `Drops what is large and read by nothing but its own trial: the samples of meters
and the histograms of latencies of runs that are older than asked. Measurements,
repetitions, summaries, verdicts and history stay. Without --yes it says what would
go, and changes nothing.`,
		Example: "  stopwatt prune --older-than 180d\n  stopwatt prune --older-than 180d --yes",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.prune(cmd.Context(), order) },
	}
	verb.Flags().StringVar(&order.olderThan, "older-than", "", "of runs that began before this `DATE`, or so long ago: 180d, 26w, 2026-01-01; needed")
	verb.Flags().BoolVar(&order.yes, "yes", false, "do it")
	return verb
}

// prune says what would go, and lets it go when it is told to.
func (d *desk) prune(ctx context.Context, order pruneOrder) error {
	if order.olderThan == "" {
		return askedWrongly(errors.New("say how old: --older-than 180d"))
	}
	before, err := momentOf(order.olderThan, time.Now())
	if err != nil {
		return askedWrongly(fmt.Errorf("--older-than %w", err))
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	found, err := store.Prunable(ctx, before)
	if err != nil {
		return err
	}
	if !order.yes {
		fmt.Fprintf(d.stdout, "would drop %s\n", prunedText(found))
		if found.Runs > 0 {
			fmt.Fprintln(d.stdout, "--yes drops them; stopwatt export keeps a copy")
		}
		return nil
	}
	if err := store.Prune(ctx, before); err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "dropped %s\n", prunedText(found))
	return nil
}

func prunedText(p storage.Pruned) string {
	return fmt.Sprintf("%s rows of samples and %s histograms of %s, %s bytes", report.Thousands(p.Samples), report.Thousands(p.Histograms),
		report.Count(int(p.Runs), "run"), report.Thousands(p.Bytes))
}
