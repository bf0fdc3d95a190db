package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/spool"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// probeWithin bounds how long a database that is known to be away is asked between
// two trials.
const probeWithin = time.Second

// A spooled is the store of one run behind the spool: what is saved is on this disk first,
// then in the database. While that is away, measuring goes on.
type spooled struct {
	archive
	spool spool.Spool
	tell  func(format string, values ...any)

	queue   *spool.Queue // nil: nothing can be kept on this disk
	courier *courier
	away    error // why the database took nothing the last time; nil: it did
	late    bool  // it could not be asked what the run amounts to
	full    bool  // it was said that this disk takes nothing
	closing bool
}

// Begin begins the run and opens its queue. What an earlier process has left in it goes
// to the database first: those trials are done.
func (s *spooled) Begin(ctx context.Context, run stopwatt.Run, fresh bool) (stopwatt.Run, []stopwatt.PlannedTrial, error) {
	begun, done, err := s.archive.Begin(ctx, run, fresh)
	if err != nil {
		return begun, done, err
	}
	s.courier = &courier{archive: s.archive, run: begun.ID}
	if s.queue, err = s.spool.Queue(ctx, begun.Key); err != nil {
		s.unspooled(err)
		return begun, done, ctx.Err()
	}
	items, _, err := s.queue.Waiting()
	if err != nil || items == 0 {
		return begun, done, err
	}
	if _, err := s.courier.deliver(ctx, s.queue); err != nil {
		return begun, done, fmt.Errorf("trials of this run wait in %s: %w", s.queue.Path(), err)
	}
	run.Key = begun.Key // the same one, also where it was to be a fresh one
	return s.archive.Begin(ctx, run, false)
}

// unspooled says once that the database alone keeps what is finished.
func (s *spooled) unspooled(err error) {
	if !s.full {
		s.tell("spool   finished trials cannot be kept on this disk, and go to the database alone: %s", report.Clean(err.Error()))
	}
	s.full = true
}

// SaveTrial, and the others that save what was measured, keep it whatever the database does.
func (s *spooled) SaveTrial(ctx context.Context, _ int64, trial stopwatt.Trial) error {
	return s.save(ctx, spool.Item{Trial: &trial})
}

func (s *spooled) SaveIdle(ctx context.Context, _ int64, idle stopwatt.IdleWindow) error {
	return s.save(ctx, spool.Item{Idle: &idle})
}

func (s *spooled) SaveDriverShare(ctx context.Context, _ int64, share stopwatt.DriverShare) error {
	return s.save(ctx, spool.Item{DriverShare: &share})
}

func (s *spooled) SaveJudgement(ctx context.Context, _ int64, judgement stopwatt.Judgement) error {
	return s.save(ctx, spool.Item{Judgement: &judgement})
}

// save keeps an item, then delivers what waits.
func (s *spooled) save(ctx context.Context, item spool.Item) error {
	if s.queue == nil {
		return s.courier.give(ctx, "", item)
	}
	err := s.queue.Put(item)
	if err == nil {
		return s.deliver(ctx)
	}
	s.unspooled(err)
	if giveErr := s.courier.give(ctx, "", item); giveErr != nil {
		return surroundings(fmt.Errorf("%w; and %w: make room in %s, or have the database back; the same command goes on then", giveErr, err, s.spool.Folder))
	}
	return nil
}

// deliver gives the database what waits. That it is away is no error.
func (s *spooled) deliver(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	wasAway := s.away != nil
	delivery, err := s.queue.Deliver(func(key string, item spool.Item) error {
		within := deliverWithin
		if s.away != nil && !s.closing {
			within = probeWithin
		}
		bounded, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		err := refusal(s.courier.give(bounded, key, item))
		s.noteAway(err)
		return err
	})
	if len(delivery.Aside) > 0 {
		return fmt.Errorf("what was finished was set aside: %s", delivery.Aside[0])
	}
	if err == nil && wasAway {
		s.back(ctx, delivery.Trials)
	}
	return nil
}

// back says that the database is there again. It has forgotten who carries the run out.
func (s *spooled) back(ctx context.Context, trials int) {
	s.tell("spool   the database is back, and has the %s that waited", plural(trials, "trial"))
	bounded, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	if ours, err := s.archive.Claim(bounded, s.courier.run); err == nil && !ours {
		s.tell("note    another process carries this run out, too, since the database was away; each trial is kept once")
	}
}

// noteAway remembers whether the database took something, and says it once when it does
// not.
func (s *spooled) noteAway(err error) {
	if errors.Is(err, spool.ErrRefused) {
		return // it answers
	}
	if err != nil && s.away == nil {
		s.tell("spool   the database takes nothing, and finished trials wait in %s; measuring goes on: %s", s.queue.Path(), report.Clean(err.Error()))
	}
	s.away = err
}

// Trials reads them back when all have arrived.
func (s *spooled) Trials(ctx context.Context, runID int64) ([]stopwatt.Trial, error) {
	if err := s.deliver(ctx); err != nil {
		return nil, err
	}
	if s.away != nil {
		return nil, s.waits(s.away)
	}
	trials, err := s.archive.Trials(ctx, runID)
	return trials, s.waits(err)
}

func (s *spooled) SaveNet(ctx context.Context, runID int64, trial stopwatt.PlannedTrial, figures []stopwatt.Measurement) error {
	return s.waits(s.archive.SaveNet(ctx, runID, trial, figures))
}

func (s *spooled) SaveSummaries(ctx context.Context, runID int64, summaries []stopwatt.Summary) error {
	return s.waits(s.archive.SaveSummaries(ctx, runID, summaries))
}

// waits makes ErrWaits of a database that is away.
func (s *spooled) waits(err error) error {
	if err == nil || s.queue == nil || !storage.Away(err) {
		return err
	}
	s.noteAway(err)
	s.late = true
	return fmt.Errorf("%w: %w", stopwatt.ErrWaits, err)
}

// Finish records how the run ended. Where the database has not got all by then, the
// end waits as its trials do.
func (s *spooled) Finish(ctx context.Context, runID int64, status stopwatt.RunStatus, ended time.Time) error {
	if !s.late {
		err := s.archive.Finish(ctx, runID, status, ended)
		if err == nil || s.queue == nil || !storage.Away(err) {
			return err
		}
		s.noteAway(err)
	}
	return s.queue.Put(spool.Item{End: &spool.End{Status: status, At: ended}})
}

// close delivers what waits once more, and gives the queue free. The error says what
// waits still, and what to type.
func (s *spooled) close(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	queue := s.queue
	s.closing = true
	items, _, err := queue.Waiting()
	if err == nil && items > 0 && ctx.Err() == nil {
		err = s.deliver(ctx)
	}
	items, trials, waitErr := queue.Waiting()
	if err = errors.Join(err, waitErr, queue.Close()); err != nil || items == 0 {
		return err
	}
	return surroundings(fmt.Errorf("%s in %s until the database takes them; then type: stopwatt sync", stillWaiting(trials), queue.Path()))
}
