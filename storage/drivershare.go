package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveDriverShare stores what the driver takes by itself under a workload of a
// run. One that is stored already stays as it is.
func (s *Store) SaveDriverShare(ctx context.Context, runID int64, share stopwatt.DriverShare) error {
	err := checkShare(share)
	if err == nil {
		err = s.atomically(ctx, func(tx pgx.Tx) error { return saveShare(ctx, tx, runID, share) })
	}
	if err != nil {
		return fmt.Errorf("save the driver's share of run %d: %w", runID, err)
	}
	return nil
}

// checkShare refuses what is no number, for the reason that checkFigures gives.
func checkShare(share stopwatt.DriverShare) error {
	for _, m := range share.Measurements {
		if math.IsNaN(m.Value) || math.Abs(m.Value) > largest {
			return fmt.Errorf("%s of the driver is %g, which is no figure", m.Metric, m.Value)
		}
	}
	return nil
}

func saveShare(ctx context.Context, tx pgx.Tx, runID int64, share stopwatt.DriverShare) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT true FROM stopwatt_store.runs WHERE id = $1", runID).Scan(&there); err != nil {
		return notFound(err)
	}
	figures, err := document(append([]stopwatt.Measurement{}, share.Measurements...)) // [] and not null
	if err != nil {
		return err
	}
	absent, err := document(append([]stopwatt.Absence{}, share.Absent...))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO stopwatt_store.driver_shares (run_id, workload, started, window_start, window_end, reason, figures, absent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (run_id, workload) DO NOTHING`,
		runID, plain(share.Workload), share.Started, share.Window.Start, share.Window.End, plain(share.Reason), figures, absent)
	return err
}

// readShares reads the driver's shares of a run, in the order in which they were
// measured.
func readShares(ctx context.Context, tx pgx.Tx, runID int64) ([]stopwatt.DriverShare, error) {
	rows, err := tx.Query(ctx, `
		SELECT workload, started, window_start, window_end, reason, figures, absent
		FROM stopwatt_store.driver_shares WHERE run_id = $1 ORDER BY started, workload`, runID)
	if err != nil {
		return nil, err
	}
	shares, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.DriverShare, error) {
		var share stopwatt.DriverShare
		var figures, absent []byte
		err := row.Scan(&share.Workload, &share.Started, &share.Window.Start, &share.Window.End, &share.Reason, &figures, &absent)
		if err == nil {
			err = json.Unmarshal(figures, &share.Measurements)
		}
		if err == nil {
			err = json.Unmarshal(absent, &share.Absent)
		}
		return share, err
	})
	if len(shares) == 0 {
		return nil, err
	}
	return shares, err
}
