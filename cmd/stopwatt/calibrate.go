package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// calibrationRounds are two stretches of those in which false alarms are counted.
const calibrationRounds = 2 * stopwatt.AlarmRounds

// calibrateVerb is `stopwatt calibrate`.
func (d *desk) calibrateVerb() *cobra.Command {
	var flags runFlags
	verb := &cobra.Command{
		Use:   "calibrate [SUITE]",
		Short: "How often this machine cries wolf, and how small a change it can see",
		Long: `Measures every case against itself: base and head are the same image. What differs
then is the machine's. How small a change it could have shown is kept for this
machine and suite; nothing smaller is called worse or better.`,
		Example: "  stopwatt calibrate\n  stopwatt calibrate suites/web-servers --rounds 48",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.seedGiven = cmd.Flags().Changed("seed")
			flags.roundsGiven = cmd.Flags().Changed("rounds")
			if !flags.roundsGiven {
				flags.rounds = calibrationRounds
			}
			if flags.rounds < stopwatt.AlarmRounds { // what is kept would be worse than what was known
				return askedWrongly(fmt.Errorf("--rounds %d: false alarms are counted in stretches of %d rounds; write so many or more", flags.rounds, stopwatt.AlarmRounds))
			}
			flags.calibrating = true
			return d.run(cmd.Context(), first(args), flags)
		},
	}
	d.measuringFlags(verb, &flags)
	return verb
}

// knownCalibration is what was found last about this machine with this suite; zero
// where it was never calibrated.
func knownCalibration(ctx context.Context, store *storage.Store, run stopwatt.Run) (stopwatt.Calibration, error) {
	if run.Settings.DriverHost != nil {
		return stopwatt.Calibration{}, nil // machines are calibrated over their loopback
	}
	calibration, err := store.Calibration(ctx, run.Project, run.Suite, run.Machine)
	if errors.Is(err, storage.ErrNotFound) {
		return stopwatt.Calibration{}, nil
	}
	return calibration, err
}

// tellCalibration works out what a run of the same against the same says of the
// machine, keeps it, and prints it.
func (d *desk) tellCalibration(ctx context.Context, store *storage.Store, run stopwatt.Run, comparing orchestrator.Comparing) error {
	trials, err := store.Trials(ctx, run.ID)
	if err != nil {
		return err
	}
	procedure := stopwatt.Adaptive(run.Settings.Plan.MinRounds, run.Settings.Plan.Rounds)
	calibration := regression.Calibrate(procedure, run.Suite, comparing.Paired(run, trials))
	if err := store.SaveCalibration(ctx, run.ID, calibration); err != nil {
		return err
	}
	fmt.Fprintln(d.stdout)
	return report.Calibration(d.stdout, run, calibration, report.JudgementOptions{Width: terminalWidth(d.stdout)})
}
