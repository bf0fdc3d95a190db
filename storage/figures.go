package storage

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// largest is the bound that the schema sets: see its table measurements.
const largest = 1e100

// checkTrial refuses what is no number, and parts that are not told apart. The
// database would refuse them as well, in words that name nothing.
func checkTrial(trial stopwatt.Trial) error {
	if err := checkFigures(trial.Measurements, trial.Repetitions); err != nil {
		return err
	}
	cases := casesOf(trial)
	for i, part := range trial.Parts {
		if slices.Contains(cases[:i+1], part.Case) {
			return fmt.Errorf("two of its parts are called %s", part.Case)
		}
		if err := checkFigures(part.Measurements, part.Repetitions); err != nil {
			return fmt.Errorf("part %s: %w", part.Case, err)
		}
	}
	return nil
}

func checkFigures(figures []stopwatt.Measurement, repeated []stopwatt.Repetitions) error {
	for _, m := range figures {
		if !figure(m.Value) {
			return fmt.Errorf("%s is %g, which is no figure", m.Metric, m.Value)
		}
	}
	for _, r := range repeated {
		for i, value := range r.Values {
			if !figure(value) {
				return fmt.Errorf("repetition %d of %s is %g, which is no figure", i+1, r.Metric, value)
			}
		}
	}
	return nil
}

func figure(value float64) bool { return math.Abs(value) <= largest } // which NaN is not

// figureRows are the figures of a trial and its parts, in columns.
type figureRows struct {
	measured struct {
		of     []int64
		metric []string
		value  []float64
	}
	absent struct {
		of     []int64
		metric []string
		reason []string
	}
	repeated [][]any // trial, metric, values
	metrics  []string
}

// add adds the figures of one row of trials.
func (f *figureRows) add(of int64, figures []stopwatt.Measurement, absent []stopwatt.Absence, repeated []stopwatt.Repetitions) {
	for _, m := range figures {
		f.measured.of = append(f.measured.of, of)
		f.measured.metric = append(f.measured.metric, m.Metric)
		f.measured.value = append(f.measured.value, m.Value)
	}
	for _, a := range absent {
		f.absent.of = append(f.absent.of, of)
		f.absent.metric = append(f.absent.metric, a.Metric)
		f.absent.reason = append(f.absent.reason, plain(a.Reason))
	}
	for _, r := range repeated {
		f.repeated = append(f.repeated, []any{of, r.Metric, append([]float64{}, r.Values...)}) // {} and not null
		f.metrics = append(f.metrics, r.Metric)
	}
}

// save stores what the trial and its parts yielded, and why they did not yield
// the rest.
func (f *figureRows) save(ctx context.Context, tx pgx.Tx, defined []stopwatt.Metric) error {
	if err := insertMetrics(ctx, tx, slices.Concat(f.measured.metric, f.absent.metric, f.metrics), defined); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.measurements (trial_id, metric_id, value)
		SELECT v.trial, m.id, v.value
		FROM unnest($1::bigint[], $2::text[], $3::float8[]) v (trial, name, value) JOIN stopwatt_store.metrics m USING (name)`,
		f.measured.of, f.measured.metric, f.measured.value)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO stopwatt_store.absences (trial_id, metric_id, reason)
		SELECT v.trial, m.id, v.reason
		FROM unnest($1::bigint[], $2::text[], $3::text[]) v (trial, name, reason) JOIN stopwatt_store.metrics m USING (name)`,
		f.absent.of, f.absent.metric, f.absent.reason)
	if err != nil || len(f.repeated) == 0 {
		return err
	}
	batch := &pgx.Batch{}
	for _, row := range f.repeated {
		batch.Queue(`
			INSERT INTO stopwatt_store.repetitions (trial_id, metric_id, values)
			SELECT $1, id, $3 FROM stopwatt_store.metrics WHERE name = $2`, row...)
	}
	return tx.SendBatch(ctx, batch).Close()
}

// namesAndValues lays figures out in columns.
func namesAndValues(figures []stopwatt.Measurement) (names []string, values []float64) {
	for _, m := range figures {
		names, values = append(names, m.Metric), append(values, m.Value)
	}
	return names, values
}

// A figureSet is where the figures of one row of trials are gathered.
type figureSet struct {
	measured *[]stopwatt.Measurement
	absent   *[]stopwatt.Absence
	repeated *[]stopwatt.Repetitions
}

// figureSets are those of the trials and their parts.
func figureSets(trials []stopwatt.Trial, at map[int64]place) map[int64]figureSet {
	sets := map[int64]figureSet{}
	for id, place := range at {
		trial := &trials[place.trial]
		sets[id] = figureSet{&trial.Measurements, &trial.Absent, &trial.Repetitions}
		if place.part != itself {
			part := &trial.Parts[place.part]
			sets[id] = figureSet{&part.Measurements, &part.Absent, &part.Repetitions}
		}
	}
	return sets
}

// readFigures adds to the trials what they and their parts yielded.
func readFigures(ctx context.Context, tx pgx.Tx, runID int64, which string, trials []stopwatt.Trial, at map[int64]place) error {
	sets := figureSets(trials, at)
	var id int64
	var m stopwatt.Measurement
	err := forEach(ctx, tx, figuresOf("measurements", "v.value", which), runID, []any{&id, &m.Metric, &m.Value}, func() error {
		*sets[id].measured = append(*sets[id].measured, m)
		return nil
	})
	if err != nil {
		return err
	}
	var a stopwatt.Absence
	err = forEach(ctx, tx, figuresOf("absences", "v.reason", which), runID, []any{&id, &a.Metric, &a.Reason}, func() error {
		*sets[id].absent = append(*sets[id].absent, a)
		return nil
	})
	if err != nil {
		return err
	}
	var r stopwatt.Repetitions
	err = forEach(ctx, tx, figuresOf("repetitions", "v.values", which), runID, []any{&id, &r.Metric, &r.Values}, func() error {
		*sets[id].repeated = append(*sets[id].repeated, r)
		r.Values = nil // the next row gets an array of its own
		return nil
	})
	if err != nil {
		return err
	}
	var names []string
	for _, trial := range trials {
		names = append(names, metricsOf(trial)...)
	}
	order := orderOfMetrics(names)
	for _, set := range sets {
		slices.SortFunc(*set.measured, func(a, b stopwatt.Measurement) int { return order.compare(a.Metric, b.Metric) })
		slices.SortFunc(*set.absent, func(a, b stopwatt.Absence) int { return order.compare(a.Metric, b.Metric) })
		slices.SortFunc(*set.repeated, func(a, b stopwatt.Repetitions) int { return order.compare(a.Metric, b.Metric) })
	}
	return readDefines(ctx, tx, trials)
}

// figuresOf asks for the rows about those trials t of a run that meet a condition,
// in a table of figures.
func figuresOf(table, column, which string) string {
	return `
		SELECT v.trial_id, x.name, ` + column + `
		FROM stopwatt_store.` + table + ` v JOIN stopwatt_store.metrics x ON x.id = v.metric_id JOIN stopwatt_store.trials t ON t.id = v.trial_id
		WHERE t.run_id = $1 AND ` + which
}

// readDefines adds to the trials the metrics that they have defined.
func readDefines(ctx context.Context, tx pgx.Tx, trials []stopwatt.Trial) error {
	names := make([][]string, len(trials))
	for i, trial := range trials {
		names[i] = metricsOf(trial)
	}
	defined := strange(distinct(slices.Concat(names...)))
	if len(defined) == 0 {
		return nil
	}
	stored, err := storedMetrics(ctx, tx, defined)
	for i := range trials {
		for _, name := range defined {
			if slices.Contains(names[i], name) {
				trials[i].Defines = append(trials[i].Defines, stored[name])
			}
		}
	}
	return err
}

// strange are those metrics that are not among stopwatt.Metrics, each once, in
// the order in which they are shown.
func strange(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool {
		_, known := stopwatt.MetricNamed(name)
		return known
	})
	slices.SortFunc(names, stopwatt.CompareMetrics)
	return slices.Compact(names)
}

// metricsOf are the metrics of the figures of a trial and its parts.
func metricsOf(trial stopwatt.Trial) []string {
	whole := stopwatt.Part{Measurements: trial.Measurements, Absent: trial.Absent, Repetitions: trial.Repetitions}
	var names []string
	for _, part := range append(slices.Clone(trial.Parts), whole) {
		for _, m := range part.Measurements {
			names = append(names, m.Metric)
		}
		for _, a := range part.Absent {
			names = append(names, a.Metric)
		}
		for _, r := range part.Repetitions {
			names = append(names, r.Metric)
		}
	}
	return names
}
