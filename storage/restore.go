package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// A Restoration is a run that is being stored whole.
type Restoration struct {
	tx      pgx.Tx
	id      int64
	waiting []stopwatt.Trial // until there are restoredTogether of them
}

// restoredTogether is how many trials are stored at once: that many fold what each
// costs by itself, and their samples fit into memory.
const restoredTogether = 100

// Restore stores a run that was carried out before, on this database or another,
// with all that fill adds to it, or nothing of it: an error of fill's leaves nothing
// behind. The run keeps its key, its times and its status; a run that is stored
// already stays as it is, and fill is not called. It returns the run's number here.
func (s *Store) Restore(ctx context.Context, run stopwatt.Run, fill func(*Restoration) error) (id int64, stored bool, err error) {
	if run.Status == stopwatt.Running || run.Ended.IsZero() {
		return 0, false, fmt.Errorf("restore run %s: it has not ended", run.Key)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { // once: what fill reads may be gone
		if id, stored, err = runOfKey(ctx, tx, run.Key); err != nil || stored {
			return err
		}
		if id, err = s.insertEnded(ctx, tx, run); err != nil {
			return err
		}
		r := Restoration{tx: tx, id: id}
		if err := errors.Join(fill(&r), r.flush(ctx)); err != nil {
			return err
		}
		// Last, because a run enters history as it finishes.
		_, err := tx.Exec(ctx, "UPDATE stopwatt_store.runs SET status = $2, ended = $3 WHERE id = $1", id, run.Status, run.Ended)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("restore run %s: %w", run.Key, s.name(err))
	}
	return id, stored, nil
}

func runOfKey(ctx context.Context, tx pgx.Tx, key string) (id int64, stored bool, err error) {
	err = tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.runs WHERE key = $1", key).Scan(&id)
	if notFound(err) == ErrNotFound {
		return 0, false, nil
	}
	return id, err == nil, err
}

// insertEnded stores the run itself, its idle windows and the driver's shares.
func (s *Store) insertEnded(ctx context.Context, tx pgx.Tx, run stopwatt.Run) (int64, error) {
	machine, err := machineID(ctx, tx, run.Machine, run.Started)
	if err != nil {
		return 0, err
	}
	suite, project, err := suiteID(ctx, tx, run.Project, run.Suite)
	if err != nil {
		return 0, err
	}
	id, err := s.insertRun(ctx, tx, run, suite, project, machine)
	if err != nil {
		return 0, err
	}
	for _, idle := range run.Idle {
		if err := checkPowers(idle); err != nil {
			return 0, err
		}
		if err := saveIdle(ctx, tx, id, idle); err != nil {
			return 0, err
		}
	}
	for _, share := range run.DriverShares {
		if err := checkShare(share); err != nil {
			return 0, err
		}
		if err := saveShare(ctx, tx, id, share); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// Trial adds a trial, with its samples. It is stored with others, at the end at the
// latest.
func (r *Restoration) Trial(ctx context.Context, trial stopwatt.Trial) error {
	if err := checkTrial(plainNames(trial)); err != nil {
		return fmt.Errorf("trial %s, round %d: %w", trial.Case, trial.Round, err)
	}
	r.waiting = append(r.waiting, trial)
	if len(r.waiting) < restoredTogether {
		return nil
	}
	return r.flush(ctx)
}

// flush stores the trials that wait.
func (r *Restoration) flush(ctx context.Context) error {
	trials := r.waiting
	r.waiting = nil
	if len(trials) == 0 {
		return nil
	}
	if err := saveTrials(ctx, r.tx, r.id, trials); err != nil {
		return fmt.Errorf("trials: %w", err)
	}
	return nil
}

// Summaries adds what the trials add up to.
func (r *Restoration) Summaries(ctx context.Context, summaries []stopwatt.Summary) error {
	if err := r.flush(ctx); err != nil { // which may define what these are of
		return err
	}
	return saveSummaries(ctx, r.tx, r.id, summaries)
}

// Judgement adds what was said of the run, and when.
func (r *Restoration) Judgement(ctx context.Context, judgement stopwatt.Judgement, taken time.Time) error {
	if err := errors.Join(r.flush(ctx), saveJudgement(ctx, r.tx, r.id, judgement)); err != nil {
		return err
	}
	_, err := r.tx.Exec(ctx, `
		UPDATE stopwatt_store.judgements SET taken = $2
		WHERE id = (SELECT max(id) FROM stopwatt_store.judgements WHERE run_id = $1)`, r.id, taken)
	return err
}

// Calibration adds what the run said about its machine.
func (r *Restoration) Calibration(ctx context.Context, calibration stopwatt.Calibration) error {
	return errors.Join(r.flush(ctx), saveCalibration(ctx, r.tx, r.id, calibration))
}

// A TakenJudgement is what was said about a run, and when.
type TakenJudgement struct {
	Taken     time.Time
	Judgement stopwatt.Judgement
}

// Judgements returns all that was said about a run, the first first.
func (s *Store) Judgements(ctx context.Context, runID int64) ([]TakenJudgement, error) {
	var all []TakenJudgement
	err := s.reading(ctx, func(tx pgx.Tx) error {
		all = nil
		var ids []int64
		var id int64
		var taken time.Time
		err := forEach(ctx, tx, "SELECT id, taken FROM stopwatt_store.judgements WHERE run_id = $1 ORDER BY id", runID, []any{&id, &taken}, func() error {
			ids, all = append(ids, id), append(all, TakenJudgement{Taken: taken})
			return nil
		})
		for i := range ids {
			if err == nil {
				all[i].Judgement, err = judgementOf(ctx, tx, ids[i])
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the judgements of run %d: %w", runID, err)
	}
	return all, nil
}

// Calibrations returns what a run said about its machine: nothing, or once.
func (s *Store) Calibrations(ctx context.Context, runID int64) ([]stopwatt.Calibration, error) {
	var all []stopwatt.Calibration
	err := s.reading(ctx, func(tx pgx.Tx) error {
		all = nil
		var ids []int64
		var id int64
		var calibration stopwatt.Calibration
		err := forEach(ctx, tx, "SELECT id, document FROM stopwatt_store.calibrations WHERE run_id = $1 ORDER BY taken, id", runID, []any{&id, &calibration}, func() error {
			ids, all = append(ids, id), append(all, calibration)
			calibration = stopwatt.Calibration{}
			return nil
		})
		for i := range ids {
			if err == nil {
				all[i].Cases, err = readDocuments[stopwatt.CaseCalibration](ctx, tx,
					"SELECT document FROM stopwatt_store.calibration_cases WHERE calibration_id = $1 ORDER BY position", ids[i])
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the calibrations of run %d: %w", runID, err)
	}
	return all, nil
}

// An EndedQuery says which runs are meant that have ended. Fields that are empty
// narrow nothing.
type EndedQuery struct {
	IDs            []int64
	Project, Suite string
	Since          time.Time // begun then or later
}

// EndedRuns returns the numbers of the runs that are meant, in the order in which
// they began, which is the same in every database that holds them.
func (s *Store) EndedRuns(ctx context.Context, query EndedQuery) ([]int64, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT r.id
		FROM stopwatt_store.runs r
		JOIN stopwatt_store.suites s ON s.id = r.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		WHERE r.status <> 'running' AND r.ended IS NOT NULL AND (cardinality($1::bigint[]) IS NULL OR r.id = ANY($1::bigint[]))
		  AND ($2 = '' OR p.name = $2) AND ($3 = '' OR s.name = $3) AND r.started >= coalesce($4, '-infinity'::timestamptz)
		ORDER BY r.started, r.key COLLATE "C"`, query.IDs, query.Project, query.Suite, unlessZero(query.Since))
	if err != nil {
		return nil, fmt.Errorf("find ended runs: %w", s.name(err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("find ended runs: %w", s.name(err))
	}
	return ids, nil
}
