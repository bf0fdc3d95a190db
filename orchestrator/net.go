package orchestrator

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// correctNet takes the idle power off anew when it has been measured after the
// last round too. While a trial was stored, only that before it was known.
func correctNet(ctx context.Context, store Store, run stopwatt.Run, trials []stopwatt.Trial) error {
	after := func(w stopwatt.IdleWindow) bool { return w.Place == stopwatt.IdleAfter }
	if !slices.ContainsFunc(run.Idle, after) {
		return nil
	}
	idle := run.IdlePowers()
	for i, trial := range trials {
		figures := netFigures(trial, idle)
		if len(figures) == 0 {
			continue
		}
		if err := store.SaveNet(ctx, run.ID, trial.PlannedTrial, figures); err != nil {
			return fmt.Errorf("correct the net energy of %s, round %d: %w", trial.Case, trial.Round, err)
		}
		trials[i] = corrected(trial, figures)
	}
	return nil
}

// netFigures are the figures of a trial that idle power enters.
func netFigures(trial stopwatt.Trial, idle []stopwatt.IdlePower) []stopwatt.Measurement {
	work := workOf(trial)
	var figures []stopwatt.Measurement
	for _, power := range idle {
		metrics := stopwatt.EnergyMetrics(power.Meter)
		gross, known := trial.Value(metrics[1].Name)
		if !known {
			continue
		}
		energy := stopwatt.Energy{Meter: power.Meter, Gross: int64(math.Round(gross * 1e6))}
		all, _ := energy.Figures(power, trial.Window, work)
		for _, figure := range all {
			if figure.Metric != metrics[1].Name && figure.Metric != metrics[4].Name { // gross and mean power stand
				figures = append(figures, figure)
			}
		}
	}
	return figures
}

// workOf is what was done in a trial, as it was recorded.
func workOf(trial stopwatt.Trial) stopwatt.Work {
	if requests, ok := trial.Value("requests"); ok {
		return stopwatt.Work{Per: stopwatt.RightAnswer, Count: int64(requests)}
	}
	if repetitions, ok := trial.Value("repetitions"); ok {
		return stopwatt.Work{Per: stopwatt.OneRun, Count: int64(repetitions)}
	}
	return stopwatt.Work{}
}

// corrected is the trial with these figures in the place of its own.
func corrected(trial stopwatt.Trial, figures []stopwatt.Measurement) stopwatt.Trial {
	replaced := func(metric string) bool {
		return slices.ContainsFunc(figures, func(f stopwatt.Measurement) bool { return f.Metric == metric })
	}
	trial.Measurements = slices.DeleteFunc(slices.Clone(trial.Measurements), func(m stopwatt.Measurement) bool { return replaced(m.Metric) })
	trial.Measurements = append(trial.Measurements, figures...)
	trial.Absent = slices.DeleteFunc(slices.Clone(trial.Absent), func(a stopwatt.Absence) bool { return replaced(a.Metric) })
	return trial
}
