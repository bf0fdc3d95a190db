package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// Begin inserts the run, or continues one: that of the same key, or else the
// latest unfinished one of the same plan on the same machine that no living
// process carries out. It returns the run as it is stored, with its ID, key and
// seed, and the trials that are done, valid and invalid alike. With fresh,
// unfinished ones are left, marked as aborted, and the run begins anew. Idle
// windows and the driver's shares are not taken from run: see SaveIdle and
// SaveDriverShare.
func (s *Store) Begin(ctx context.Context, run stopwatt.Run, fresh bool) (stopwatt.Run, []stopwatt.PlannedTrial, error) {
	var stored stopwatt.Run
	var done []stopwatt.PlannedTrial
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		id, err := s.place(ctx, tx, run, fresh)
		if err != nil {
			return err
		}
		if stored, err = readRun(ctx, tx, id); err != nil {
			return err
		}
		done, err = readDone(ctx, tx, id)
		return err
	})
	if err != nil {
		return stopwatt.Run{}, nil, fmt.Errorf("begin run: %w", err)
	}
	return stored, done, nil
}

// place finds the run that is continued, or inserts a new one.
func (s *Store) place(ctx context.Context, tx pgx.Tx, run stopwatt.Run, fresh bool) (int64, error) {
	machine, err := machineID(ctx, tx, run.Machine, run.Started)
	if err != nil {
		return 0, err
	}
	suite, project, err := suiteID(ctx, tx, run.Project, run.Suite)
	if err != nil {
		return 0, err
	}
	id, err := s.sameKey(ctx, tx, run)
	if err != nil || id != 0 {
		return id, err
	}
	id, err = s.unfinished(ctx, tx, run, suite, machine, fresh)
	if err != nil || id != 0 {
		return id, err
	}
	return s.insertRun(ctx, tx, run, suite, project, machine)
}

// sameKey returns the run of this key: a job that was started again, or an
// insert whose answer was lost.
func (s *Store) sameKey(ctx context.Context, tx pgx.Tx, run stopwatt.Run) (int64, error) {
	var id int64
	var planKey string
	err := tx.QueryRow(ctx, "SELECT id, plan_key FROM stopwatt_store.runs WHERE key = $1", run.Key).Scan(&id, &planKey)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, err
	case planKey != run.PlanKey:
		return 0, fmt.Errorf("run %s is stored already, with another plan", run.Key)
	}
	ours, err := s.hold(ctx, id)
	if err == nil && !ours {
		err = fmt.Errorf("run %s is being carried out by another process", run.Key)
	}
	if err != nil {
		return 0, err
	}
	_, err = reopen(ctx, tx, id, run)
	return id, err
}

// reopen marks an unfinished run as running, and tells whether it was one. It is
// then measured in the pipeline that continues it, and is found by the labels of
// both.
func reopen(ctx context.Context, tx pgx.Tx, id int64, run stopwatt.Run) (bool, error) {
	pipeline, _, labels, err := originDocuments(run)
	if err != nil {
		return false, err
	}
	tag, err := tx.Exec(ctx, `
		UPDATE stopwatt_store.runs SET status = 'running', ended = NULL, pipeline = coalesce($2::jsonb, pipeline), labels = labels || $3::jsonb
		WHERE id = $1 AND status <> 'finished'`, id, pipeline, labels)
	return tag.RowsAffected() == 1, err
}

// unfinished returns the run to continue, or 0. With fresh there is none:
// those that nobody carries out any more are marked as aborted.
func (s *Store) unfinished(ctx context.Context, tx pgx.Tx, run stopwatt.Run, suite, machine int64, fresh bool) (int64, error) {
	rows, err := tx.Query(ctx, `
		SELECT id FROM stopwatt_store.runs
		WHERE plan_key = $1 AND suite_id = $2 AND machine_id = $3 AND status <> 'finished'
		ORDER BY id DESC`, run.PlanKey, suite, machine)
	if err != nil {
		return 0, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		ours, err := s.hold(ctx, id)
		if err != nil {
			return 0, err
		}
		if !ours {
			continue // somebody else is at it
		}
		take := reopen // which somebody may have finished since we looked
		if fresh {
			take = abandon
		}
		if taken, err := take(ctx, tx, id, run); taken || err != nil {
			return id, err
		}
	}
	return 0, nil
}

// abandon marks a run whose process died as aborted. It is never taken.
func abandon(ctx context.Context, tx pgx.Tx, id int64, _ stopwatt.Run) (bool, error) {
	_, err := tx.Exec(ctx, "UPDATE stopwatt_store.runs SET status = 'aborted', ended = now() WHERE id = $1 AND status = 'running'", id)
	return false, err
}

// hold claims the run for this process, as long as it lives. It tells whether
// that was possible: claiming what is claimed by this Store already is.
func (s *Store) hold(ctx context.Context, id int64) (bool, error) {
	s.holding.Lock()
	defer s.holding.Unlock()
	ours, err := s.tryHold(ctx, id)
	if err != nil && s.holder != nil && s.holder.IsClosed() { // since the server was away: nobody had told
		return s.tryHold(ctx, id)
	}
	return ours, err
}

func (s *Store) tryHold(ctx context.Context, id int64) (ours bool, err error) {
	if s.holder == nil || s.holder.IsClosed() {
		conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
		if err != nil {
			return false, err
		}
		s.holder = conn
	}
	err = s.holder.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended('stopwatt run ' || $1::bigint, 0))", id).Scan(&ours)
	return ours, err
}

// insertRun stores the run, its images and its cases.
func (s *Store) insertRun(ctx context.Context, tx pgx.Tx, run stopwatt.Run, suite, project, machine int64) (int64, error) {
	commit, err := commitID(ctx, tx, project, run.Checkout.Commit)
	if err != nil {
		return 0, err
	}
	base, err := commitID(ctx, tx, project, run.Against.Commit)
	if err != nil {
		return 0, err
	}
	epoch, err := epochID(ctx, tx, machine, run.Machine, run.Started)
	if err != nil {
		return 0, err
	}
	settings, engine, meters, err := runDocuments(run)
	if err != nil {
		return 0, err
	}
	pipeline, choice, labels, err := originDocuments(run)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.runs (key, plan_key, suite_id, machine_id, commit_id, branch, on_default, dirty,
			profile, baseline, seed, rounds, planned, status, started, tool, command, settings, engine, meters, epoch_id,
			base_commit_id, base_branch, base_on_default, imported, source,
			pipeline, choice, labels)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::numeric, $12, $13, 'running', $14, $15, $16, $17, $18, $19, $20,
			$21, $22, $23, $24, $25, $26, $27, $28)
		RETURNING id`,
		run.Key, run.PlanKey, suite, machine, commit, plain(run.Checkout.Branch), run.Checkout.Default, run.Checkout.Dirty,
		run.Profile, run.Baseline, fmt.Sprint(run.Seed), run.Rounds, run.Planned, run.Started, run.Tool, plain(run.Command),
		settings, engine, meters, epoch,
		base, plain(run.Against.Branch), run.Against.Default, run.Imported, plain(run.Source),
		pipeline, choice, labels).Scan(&id)
	if err != nil {
		return 0, err
	}
	if err := insertImages(ctx, tx, headImages, id, run.Images); err != nil {
		return 0, err
	}
	if err := insertImages(ctx, tx, baseImages, id, run.BaseImages); err != nil {
		return 0, err
	}
	if err := insertCases(ctx, tx, suite, run.Settings.Cases()); err != nil {
		return 0, err
	}
	_, err = s.hold(ctx, id) // nobody else knows the run yet
	return id, err
}

// Finish records how the run ended. When it is finished, the private server,
// which does no work by itself, is then told to tidy up: after the last trial,
// where that disturbs no measurement.
func (s *Store) Finish(ctx context.Context, runID int64, status stopwatt.RunStatus, ended time.Time) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE stopwatt_store.runs SET status = $2, ended = $3 WHERE id = $1", runID, status, ended)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("finish run %d: %w", runID, err)
	}
	if status != stopwatt.Finished {
		return nil // it was interrupted, and somebody waits for the end
	}
	if err := s.tidy(ctx); err != nil {
		return fmt.Errorf("finish run %d: tidy up: %w", runID, err)
	}
	return nil
}

// tidy does what a server does by itself that is not told, as ours is, to keep
// still while trials are measured.
func (s *Store) tidy(ctx context.Context) error {
	is, err := s.standing(ctx)
	if err != nil || !is.private {
		return err
	}
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := s.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
