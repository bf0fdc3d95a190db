package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// An AlertQuery says which alerts are meant. Fields that are empty narrow nothing.
type AlertQuery struct {
	ID             string // whole, or its beginning
	Project, Suite string
	Case           stopwatt.Case
	Metric         string
	Machine        string // its Fingerprint
	// States are those that are asked for, acknowledged apart from open.
	States []stopwatt.AlertState
}

// mostAlerts is how many alerts one question returns at most.
const mostAlerts = 10_000

// SaveAlerts stores alerts in the place of those of the same ID. Who acknowledged
// them, and when they were first found, stays as it is stored.
func (s *Store) SaveAlerts(ctx context.Context, alerts []stopwatt.Alert) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		for _, alert := range alerts {
			if err := saveAlert(ctx, tx, alert); err != nil {
				return fmt.Errorf("alert %s: %w", alert.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save alerts: %w", err)
	}
	return nil
}

func saveAlert(ctx context.Context, tx pgx.Tx, alert stopwatt.Alert) error {
	suite, _, err := suiteID(ctx, tx, alert.Project, alert.Suite)
	if err != nil {
		return err
	}
	of, err := seriesOf(ctx, tx, suite, stopwatt.Series{Case: alert.Case, Metric: alert.Metric.Name, Profile: alert.Profile})
	if err != nil {
		return err
	}
	text, err := document(alert.Change)
	if err != nil {
		return err
	}
	state := alert.State
	if state == stopwatt.AlertAcknowledged { // which it is by what was said, for as long as that holds
		state = stopwatt.AlertOpen
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO stopwatt_store.alerts AS a (id, case_id, metric_id, profile, fingerprint, state, document) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE
			SET state = excluded.state, document = excluded.document, changed = CASE WHEN a.state = excluded.state THEN a.changed ELSE now() END
			WHERE (a.state, a.document) IS DISTINCT FROM (excluded.state, excluded.document)`,
		alert.ID, of.caseID, of.metricID, of.profile, alert.Machine, state, text)
	return err
}

// Alerts returns the alerts that are meant, with what was said to each last: those
// that were found last first.
func (s *Store) Alerts(ctx context.Context, query AlertQuery) ([]stopwatt.Alert, error) {
	var alerts []stopwatt.Alert
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var err error
		alerts, err = readAlerts(ctx, tx, query)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	return alerts, nil
}

// alertState is how the view alerts tells it.
const alertState = `CASE WHEN a.state = 'open' AND g.id IS NOT NULL AND (g.until IS NULL OR g.until > now()) THEN 'acknowledged' ELSE a.state END`

func readAlerts(ctx context.Context, tx pgx.Tx, query AlertQuery) ([]stopwatt.Alert, error) {
	var states []string
	for _, state := range query.States {
		states = append(states, string(state))
	}
	rows, err := tx.Query(ctx, `
		SELECT a.id, p.name, s.name, a.profile, k.implementation, k.workload, x.name, x.unit, x.better, a.fingerprint, `+alertState+`, a.found, a.document,
		       g.id IS NOT NULL, coalesce(g.reason, ''), coalesce(g.said_by, ''), coalesce(g.commit, ''),
		       coalesce(g.said_at, '0001-01-01Z'), coalesce(g.until, '0001-01-01Z')
		FROM stopwatt_store.alerts a
		JOIN stopwatt_store.metrics x ON x.id = a.metric_id
		JOIN stopwatt_store.cases k ON k.id = a.case_id
		JOIN stopwatt_store.suites s ON s.id = k.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		LEFT JOIN LATERAL (SELECT * FROM stopwatt_store.acknowledgements g WHERE g.alert_id = a.id ORDER BY g.id DESC LIMIT 1) g ON true
		WHERE ($1 = '' OR starts_with(a.id, $1)) AND ($2 = '' OR p.name = $2) AND ($3 = '' OR s.name = $3)
		  AND ($4 = '' OR k.implementation = $4) AND ($5 = '' OR k.workload = $5) AND ($6 = '' OR x.name = $6) AND ($7 = '' OR a.fingerprint = $7)
		  AND (cardinality($8::text[]) IS NULL OR `+alertState+` = ANY($8::text[]))
		ORDER BY a.found DESC, a.id
		LIMIT $9`,
		query.ID, query.Project, query.Suite, query.Case.Implementation, query.Case.Workload, query.Metric, query.Machine, states, mostAlerts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.Alert, error) {
		var a stopwatt.Alert
		var said bool
		var by stopwatt.Acceptance
		err := row.Scan(&a.ID, &a.Project, &a.Suite, &a.Profile, &a.Case.Implementation, &a.Case.Workload, &a.Metric.Name, &a.Metric.Unit, &a.Metric.Better,
			&a.Machine, &a.State, &a.Found, &a.Change, &said, &by.Reason, &by.By, &by.Commit, &by.At, &by.Until)
		if metric, known := stopwatt.MetricNamed(a.Metric.Name); known {
			a.Metric = metric
		}
		if said {
			by.Case, by.Metric = a.Case.String(), a.Metric.Name
			a.Accepted = &by
		}
		return a, err
	})
}

// Acknowledge adds what somebody said to an alert, and returns it as it is from
// then on. What was said before stays, and what is said again is stored once. The
// ID may be cut short where it still means one; a missing alert makes an error that
// is ErrNotFound, and several one that is ErrAmbiguous.
func (s *Store) Acknowledge(ctx context.Context, id string, by stopwatt.Acceptance) (stopwatt.Alert, error) {
	var alert stopwatt.Alert
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		found, err := theAlert(ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO stopwatt_store.acknowledgements (alert_id, reason, said_by, commit, said_at, until) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, found.ID, plain(by.Reason), plain(by.By), plain(by.Commit), by.At, unlessZero(by.Until))
		if err != nil {
			return err
		}
		alert, err = theAlert(ctx, tx, found.ID)
		return err
	})
	if err != nil {
		return stopwatt.Alert{}, fmt.Errorf("acknowledge alert %s: %w", id, err)
	}
	return alert, nil
}

// ErrAmbiguous says that the beginning of an ID is that of several.
var ErrAmbiguous = errors.New("several begin so")

// theAlert is the one whose ID is this, or begins so.
func theAlert(ctx context.Context, tx pgx.Tx, id string) (stopwatt.Alert, error) {
	if id == "" {
		return stopwatt.Alert{}, ErrNotFound
	}
	alerts, err := readAlerts(ctx, tx, AlertQuery{ID: id})
	switch {
	case err != nil:
		return stopwatt.Alert{}, err
	case len(alerts) == 0:
		return stopwatt.Alert{}, ErrNotFound
	case len(alerts) > 1:
		return stopwatt.Alert{}, ErrAmbiguous
	}
	return alerts[0], nil
}
