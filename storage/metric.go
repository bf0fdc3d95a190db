package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// insertMetrics inserts those metrics that are new, in the order in which they
// are shown, for the reason that insertCases gives. Beside those that stopwatt
// knows there are those that are defined now, and those that were before.
func insertMetrics(ctx context.Context, tx pgx.Tx, names []string, defined []stopwatt.Metric) error {
	wanted, err := wantedMetrics(names, defined)
	if err != nil {
		return err
	}
	var news, units, betters []string
	for _, metric := range wanted {
		news, units, betters = append(news, metric.Name), append(units, metric.Unit), append(betters, string(metric.Better))
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO stopwatt_store.metrics (name, unit, better)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
		ON CONFLICT DO NOTHING`, news, units, betters)
	if err != nil {
		return err
	}
	stored, err := storedMetrics(ctx, tx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, there := stored[name]; !there {
			return fmt.Errorf("metric %q is not known", name)
		}
	}
	for _, metric := range wanted {
		if err := sameMetric(stored[metric.Name], metric); err != nil {
			return err
		}
	}
	return nil
}

// wantedMetrics are the named metrics, as stopwatt knows them or as they are
// defined, each once and in the order in which they are shown.
func wantedMetrics(names []string, defined []stopwatt.Metric) ([]stopwatt.Metric, error) {
	names = slices.Compact(slices.SortedFunc(slices.Values(names), stopwatt.CompareMetrics))
	var wanted []stopwatt.Metric
	for _, name := range names {
		metric, known := stopwatt.MetricNamed(name)
		for _, d := range defined {
			if d.Name != name {
				continue
			}
			if !known {
				metric, known = d, true
			}
			if err := sameMetric(metric, d); err != nil {
				return nil, err
			}
		}
		if known {
			wanted = append(wanted, metric)
		}
	}
	return wanted, nil
}

// sameMetric refuses a metric whose name is known in another sense.
func sameMetric(known, metric stopwatt.Metric) error {
	if known.Unit == metric.Unit && known.Better == metric.Better {
		return nil
	}
	return fmt.Errorf("metric %q is known in the unit %q, better: %s; it cannot be in the unit %q, better: %s, too",
		metric.Name, known.Unit, known.Better, metric.Unit, metric.Better)
}

// Metrics are all metrics that are stored, stopwatt's own and what harnesses
// named: name, unit and direction, by name.
func (s *Store) Metrics(ctx context.Context) ([]stopwatt.Metric, error) {
	var metrics []stopwatt.Metric
	err := s.reading(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT name, unit, better FROM stopwatt_store.metrics ORDER BY name")
		if err != nil {
			return err
		}
		metrics, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (metric stopwatt.Metric, err error) {
			return metric, row.Scan(&metric.Name, &metric.Unit, &metric.Better)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return metrics, nil
}

// storedMetrics are those of the named metrics that are stored: name, unit and
// direction.
func storedMetrics(ctx context.Context, tx pgx.Tx, names []string) (map[string]stopwatt.Metric, error) {
	stored := map[string]stopwatt.Metric{}
	if len(names) == 0 {
		return stored, nil
	}
	rows, err := tx.Query(ctx, "SELECT name, unit, better FROM stopwatt_store.metrics WHERE name = ANY($1::text[])", names)
	if err != nil {
		return nil, err
	}
	var metric stopwatt.Metric
	_, err = pgx.ForEachRow(rows, []any{&metric.Name, &metric.Unit, &metric.Better}, func() error {
		stored[metric.Name] = metric
		return nil
	})
	return stored, err
}

// A metricOrder is where metrics stand when they are shown. CompareMetrics finds
// that out of names, again and again, which takes longer than reading a run.
type metricOrder map[string]int

func orderOfMetrics(names []string) metricOrder {
	order := metricOrder{}
	for i, name := range slices.SortedFunc(slices.Values(distinct(names)), stopwatt.CompareMetrics) {
		order[name] = i
	}
	return order
}

func (o metricOrder) compare(a, b string) int { return cmp.Compare(o[a], o[b]) }
