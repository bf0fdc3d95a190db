package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/spool"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// An archive is what a courier delivers to: the database of a run.
type archive interface {
	orchestrator.Store
	RunOfKey(ctx context.Context, key string) (stopwatt.Run, error)
	Claim(ctx context.Context, runID int64) (bool, error)
}

// deliverWithin bounds how long one delivery may take.
const deliverWithin = 10 * time.Second

var (
	errOtherDatabase = errors.New("this database has no such run; --db names the one that it was measured into")
	errCarriedOut    = errors.New("the run is being carried out by another process")
)

// A courier delivers what waits of one run.
type courier struct {
	archive archive
	run     int64 // 0: not looked up yet
}

// deliver gives the archive all that waits in a queue, until something is not taken.
func (c *courier) deliver(ctx context.Context, queue *spool.Queue) (spool.Delivery, error) {
	return queue.Deliver(func(key string, item spool.Item) error {
		within, cancel := context.WithTimeout(ctx, deliverWithin)
		defer cancel()
		return refusal(c.give(within, key, item))
	})
}

// refusal marks what will never be taken.
func refusal(err error) error {
	if err == nil || storage.Away(err) || errors.Is(err, errOtherDatabase) || errors.Is(err, errCarriedOut) {
		return err
	}
	return fmt.Errorf("%w: %w", spool.ErrRefused, err)
}

// give gives it one item. What it has already it keeps once.
func (c *courier) give(ctx context.Context, key string, item spool.Item) error {
	if item.End != nil {
		return c.end(ctx, key, *item.End)
	}
	if c.run == 0 {
		run, err := c.find(ctx, key)
		if err != nil {
			return err
		}
		c.run = run.ID
	}
	switch {
	case item.Trial != nil:
		return c.archive.SaveTrial(ctx, c.run, *item.Trial)
	case item.Idle != nil:
		return c.archive.SaveIdle(ctx, c.run, *item.Idle)
	case item.DriverShare != nil:
		return c.archive.SaveDriverShare(ctx, c.run, *item.DriverShare)
	default:
		return c.archive.SaveJudgement(ctx, c.run, *item.Judgement)
	}
}

// find looks the run up: its number is this database's, and its key is nobody else's.
func (c *courier) find(ctx context.Context, key string) (stopwatt.Run, error) {
	run, err := c.archive.RunOfKey(ctx, key)
	if errors.Is(err, stopwatt.ErrNotFound) {
		return run, errOtherDatabase
	}
	return run, err
}

// end concludes a run whose other items have been delivered. One that somebody
// carries out again is left to them, and one that somebody has finished stays so.
func (c *courier) end(ctx context.Context, key string, end spool.End) error {
	run, err := c.find(ctx, key)
	if err != nil {
		return err
	}
	ours, err := c.archive.Claim(ctx, run.ID)
	if err != nil {
		return err
	}
	if !ours {
		return errCarriedOut
	}
	if run.Status != stopwatt.Finished {
		run.Status, run.Ended = end.Status, end.At
	}
	return orchestrator.Conclude(ctx, c.archive, run)
}

// spool is where finished trials wait for the database.
func (d *desk) spool() spool.Spool {
	return spool.Spool{Folder: d.spoolFolder(), Sync: syncSpool}
}

// syncSpool is what makes files of the spool last; nil: what the system offers.
var syncSpool spool.Syncer

// arrears are what came of delivering all that waited.
type arrears struct {
	trials, runs int      // that were delivered
	aside        []string // what was set aside just now, with the reasons
	waiting      int      // trials that go on waiting
	why          error    // the last reason for it
}

// deliverAll gives an archive what waits of all runs but those that another process has.
func deliverAll(ctx context.Context, waiting spool.Spool, archive archive) (arrears, error) {
	var all arrears
	runs, err := waiting.Runs()
	for _, name := range runs {
		queue, openErr := waiting.Open(name)
		if openErr != nil { // in use, or gone meanwhile
			continue
		}
		c := &courier{archive: archive}
		delivery, deliverErr := c.deliver(ctx, queue)
		items, trials, waitErr := queue.Waiting()
		err = errors.Join(err, waitErr, queue.Close())
		all.trials += delivery.Trials
		all.aside = append(all.aside, delivery.Aside...)
		if delivery.Items > 0 {
			all.runs++
		}
		if items > 0 {
			all.waiting, all.why = all.waiting+trials, deliverErr
		}
	}
	return all, err
}

// tellArrears says what was delivered on the way, in the lines of a run.
func (d *desk) tellArrears(all arrears) {
	if all.runs > 0 {
		fmt.Fprintf(d.stderr, "spool   %s of %s that waited on this disk: delivered\n", plural(all.trials, "trial"), plural(all.runs, "run"))
	}
	for _, file := range all.aside {
		fmt.Fprintf(d.stderr, "spool   set aside: %s\n", report.Clean(file))
	}
	if all.why != nil {
		fmt.Fprintf(d.stderr, "spool   %s on this disk: %s\n", stillWaiting(all.waiting), report.Clean(all.why.Error()))
	}
}

// stillWaiting says how many trials wait; there may be none, but how their run ended.
func stillWaiting(trials int) string {
	switch trials {
	case 0:
		return "the end of a run waits"
	case 1:
		return "1 trial waits"
	}
	return fmt.Sprintf("%d trials wait", trials)
}
