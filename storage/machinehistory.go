package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// pageEpochs and pageCalibrations are how many of each a machine's page lists.
	pageEpochs       = 100
	pageCalibrations = 20
	// pageIdle is at how many times idle power is shown, spread evenly.
	pageIdle = 400
	// idleAmong is among how many of its latest runs the idle power of a machine is
	// looked for.
	idleAmong = 50
)

// readMachineLines reads machines as they stand in a list, in the order of their
// keys.
func readMachineLines(ctx context.Context, tx pgx.Tx, ids []int64) ([]stopwatt.MachineLine, error) {
	rows, err := tx.Query(ctx, `
		SELECT m.fingerprint, m.name, coalesce(e.identity, m.identity), m.first_seen, m.last_seen,
		       (SELECT max(taken) FROM stopwatt_store.calibrations WHERE machine_id = m.id), coalesce(i.id, 0)
		FROM unnest($1::bigint[]) WITH ORDINALITY w (id, place)
		JOIN stopwatt_store.machines m ON m.id = w.id
		LEFT JOIN LATERAL (
			SELECT identity - 'CPUInfo' AS identity FROM stopwatt_store.machine_epochs WHERE machine_id = m.id ORDER BY last_seen DESC, id DESC LIMIT 1
		) e ON true
		LEFT JOIN LATERAL (
			SELECT i.id
			FROM (SELECT id, started FROM stopwatt_store.runs WHERE machine_id = m.id ORDER BY started DESC, id DESC LIMIT $2) r
			JOIN stopwatt_store.idle_windows i ON i.run_id = r.id
			ORDER BY r.started DESC, i.started DESC LIMIT 1
		) i ON true
		ORDER BY w.place`, ids, idleAmong)
	if err != nil {
		return nil, err
	}
	var lines []stopwatt.MachineLine
	var windows []int64
	var line stopwatt.MachineLine
	var identity []byte
	var calibrated *time.Time
	var window int64
	_, err = pgx.ForEachRow(rows, []any{&line.Fingerprint, &line.Name, &identity, &line.FirstSeen, &line.LastSeen, &calibrated, &window}, func() error {
		one, err := identified(line, identity)
		if calibrated != nil {
			one.Calibrated = *calibrated
		}
		lines, windows = append(lines, one), append(windows, window)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, window := range windows {
		if lines[i].Idle, err = readPowers(ctx, tx, window); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// identified adds to a line what a machine's identity says.
func identified(line stopwatt.MachineLine, identity []byte) (stopwatt.MachineLine, error) {
	var is stopwatt.MachineIdentity
	if err := json.Unmarshal(identity, &is); err != nil {
		return line, fmt.Errorf("decode %T: %w", is, err)
	}
	line.Named = strings.HasPrefix(line.Fingerprint, named)
	line.CPUModel, line.Threads, line.MemoryBytes, line.Virtual = is.CPUModel, is.Threads, is.MemoryBytes, is.Virtual
	return line, nil
}

// MachineHistory returns all that is known of a machine, or ErrNotFound. Its idle
// power is that of runs spread evenly over the time in which it was seen.
func (a *Archive) MachineHistory(ctx context.Context, fingerprint string) (stopwatt.MachineHistory, error) {
	var h stopwatt.MachineHistory
	err := a.reading(ctx, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.machines WHERE fingerprint = $1", fingerprint).Scan(&id)
		if err != nil {
			return notFound(err)
		}
		h, err = readMachineHistory(ctx, tx, id)
		return err
	})
	if err != nil {
		return stopwatt.MachineHistory{}, fmt.Errorf("read the history of machine %s: %w", fingerprint, err)
	}
	return h, nil
}

func readMachineHistory(ctx context.Context, tx pgx.Tx, id int64) (stopwatt.MachineHistory, error) {
	var h stopwatt.MachineHistory
	lines, err := readMachineLines(ctx, tx, []int64{id})
	if err != nil {
		return h, err
	}
	h.Line = lines[0]
	if h.Machine, h.Epochs, err = readEpochs(ctx, tx, id); err != nil {
		return h, err
	}
	h.Machine.Name, h.Machine.Named = h.Line.Name, h.Line.Named
	if h.Idle, err = readIdleSeen(ctx, tx, id); err != nil {
		return h, err
	}
	if h.Calibrations, err = readCalibrations(ctx, tx, id); err != nil {
		return h, err
	}
	ids, err := readIDs(ctx, tx, "SELECT id FROM stopwatt_store.runs WHERE machine_id = $1 ORDER BY started DESC, id DESC LIMIT $2", id, pageRuns)
	if err != nil {
		return h, err
	}
	h.Runs, err = readRunLines(ctx, tx, ids)
	return h, err
}

// readEpochs reads what a machine was like, and when; and what it is like now.
func readEpochs(ctx context.Context, tx pgx.Tx, id int64) (stopwatt.Machine, []stopwatt.EpochSeen, error) {
	var now stopwatt.Machine
	var epochs []stopwatt.EpochSeen
	// A machine that no epoch is stored of has its identity alone.
	err := forEach(ctx, tx, "SELECT identity FROM stopwatt_store.machines WHERE id = $1", id, []any{&now.Identity}, func() error { return nil })
	if err != nil {
		return now, nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT key, epoch, first_seen, last_seen, identity
		FROM stopwatt_store.machine_epochs WHERE machine_id = $1
		ORDER BY last_seen DESC, id DESC LIMIT $2`, id, pageEpochs)
	if err != nil {
		return now, nil, err
	}
	for rows.Next() {
		var seen stopwatt.EpochSeen
		var identity stopwatt.MachineIdentity
		if err := rows.Scan(&seen.Fingerprint, &seen.Epoch, &seen.First, &seen.Last, &identity); err != nil {
			return now, nil, err
		}
		if len(epochs) == 0 {
			now.Identity, now.Epoch = identity, seen.Epoch
		}
		epochs = append(epochs, seen)
	}
	return now, epochs, rows.Err()
}

// readIdleSeen reads the idle power of runs that are spread evenly over the time in
// which the machine was seen: for each of so many times, that of the next run.
func readIdleSeen(ctx context.Context, tx pgx.Tx, id int64) ([]stopwatt.IdleSeen, error) {
	rows, err := tx.Query(ctx, `
		SELECT i.run_id, i.started, i.place, p.meter, coalesce(p.watts, 0), coalesce(p.error, 0), p.over, p.absent, p.warnings
		FROM (
			SELECT DISTINCT n.id
			FROM stopwatt_store.machines m
			CROSS JOIN generate_series(0, $2) AS step
			CROSS JOIN LATERAL (
				SELECT id FROM stopwatt_store.runs
				WHERE machine_id = $1 AND started >= m.first_seen + (m.last_seen - m.first_seen) * (step / $2::float8)
				ORDER BY started, id LIMIT 1
			) n
			WHERE m.id = $1
		) r
		JOIN stopwatt_store.idle_windows i ON i.run_id = r.id
		JOIN stopwatt_store.idle_powers p ON p.idle_id = i.id
		ORDER BY i.started, p.position`, id, pageIdle)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.IdleSeen, error) {
		var seen stopwatt.IdleSeen
		p := &seen.Power
		err := row.Scan(&seen.Run, &seen.At, &seen.Place, &p.Meter, &p.Watts, &p.Error, &p.Over, &p.Absent, &p.Warnings)
		return seen, err
	})
}

// readCalibrations reads a machine's calibrations, the latest first.
func readCalibrations(ctx context.Context, tx pgx.Tx, id int64) ([]stopwatt.Calibration, error) {
	ids, err := readIDs(ctx, tx, "SELECT id FROM stopwatt_store.calibrations WHERE machine_id = $1 ORDER BY taken DESC, id DESC LIMIT $2", id, pageCalibrations)
	if err != nil {
		return nil, err
	}
	var all []stopwatt.Calibration
	for _, id := range ids {
		var one stopwatt.Calibration
		if err := tx.QueryRow(ctx, "SELECT document FROM stopwatt_store.calibrations WHERE id = $1", id).Scan(&one); err != nil {
			return nil, err
		}
		one.Cases, err = readDocuments[stopwatt.CaseCalibration](ctx, tx,
			"SELECT document FROM stopwatt_store.calibration_cases WHERE calibration_id = $1 ORDER BY position", id)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
