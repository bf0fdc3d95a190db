package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// Alerts returns the alerts that are meant; see Store.Alerts.
func (a *Archive) Alerts(ctx context.Context, query AlertQuery) ([]stopwatt.Alert, error) {
	var alerts []stopwatt.Alert
	err := a.reading(ctx, func(tx pgx.Tx) error {
		var err error
		alerts, err = readAlerts(ctx, tx, query)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	return alerts, nil
}
