package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// syncVerb is `stopwatt sync`.
func (d *desk) syncVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "sync",
		Short: "Deliver the trials that waited for the database",
		Long: `Each finished trial is kept on this disk until the database has it. Where that was
away until the end of a run, sync delivers what waits, works out what the runs
amount to, and removes it from this disk. Every other command that opens the
database does so too. What is delivered twice is stored once.

A file that was cut short or changed is set aside under another name and named.
Exit status 4 says that something goes on waiting, 3 that something was set aside.`,
		Example: "  stopwatt sync\n  stopwatt sync --db postgres://bench@db.example.org/bench",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.sync(cmd.Context()) },
	}
}

// sync delivers what waits. Where nothing does, it starts no database.
func (d *desk) sync(ctx context.Context) error {
	runs, err := d.spool().Runs()
	if err != nil {
		return surroundings(err)
	}
	if len(runs) == 0 {
		fmt.Fprintln(d.stdout, "nothing waits")
		return nil
	}
	dsn, release, err := d.dsn(ctx)
	if err != nil {
		return err
	}
	defer release()
	store, err := storage.Open(ctx, dsn)
	if err != nil {
		return databaseError(err)
	}
	defer store.Close()
	all, err := deliverAll(ctx, d.spool(), store)
	if err != nil {
		return surroundings(err)
	}
	if all.runs > 0 {
		fmt.Fprintf(d.stdout, "delivered %s of %s\n", plural(all.trials, "trial"), plural(all.runs, "run"))
	} else if all.why == nil {
		fmt.Fprintln(d.stdout, "nothing waits")
	}
	return d.syncFailed(all)
}

// syncFailed is an error where not everything could be delivered.
func (d *desk) syncFailed(all arrears) error {
	for _, file := range all.aside {
		fmt.Fprintf(d.stderr, "set aside: %s\n", report.Clean(file))
	}
	switch {
	case all.why != nil:
		return surroundings(fmt.Errorf("%s: %w", stillWaiting(all.waiting), all.why))
	case len(all.aside) > 0:
		return incomplete(quiet{errors.New("some could not be delivered")})
	}
	return nil
}

// spoolFolder is where finished trials wait for the database.
func (d *desk) spoolFolder() string { return filepath.Join(d.dataFolder(), "spool") }
