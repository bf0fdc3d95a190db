package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// showTrial prints one trial of a run: that of a place in the order of the run, or of
// a case and a round.
func (d *desk) showTrial(ctx context.Context, args []string, position int, v view) error {
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	id, err := d.findRun(ctx, store, first(args), v.suite, v.labels)
	if err != nil {
		return err
	}
	trials, err := store.Trials(ctx, id)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(trials, func(t stopwatt.Trial) bool { return t.Position == position })
	if len(args) > 1 {
		if at, err = placeOfTrial(trials, args[1], first(args[2:])); err != nil {
			return askedWrongly(err)
		}
	}
	if at < 0 {
		return askedWrongly(fmt.Errorf("run %d has no trial %d; it has %d", id, position, len(trials)))
	}
	trial := trials[at]
	if trial.Samples, err = store.Samples(ctx, id, trial.PlannedTrial); err != nil {
		return err
	}
	switch v.format {
	case "json":
		return report.TrialJSON(d.stdout, trial)
	case "text":
		results, err := store.Results(ctx, id)
		if err != nil {
			return err
		}
		return report.TrialText(d.stdout, results.Run, trial, terminalWidth(d.stdout))
	}
	return askedWrongly(fmt.Errorf("--format %s: of a trial write text or json", quote(v.format)))
}

// placeOfTrial finds the trial of a case in a round: that of head, and of several
// attempts the last.
func placeOfTrial(trials []stopwatt.Trial, of, round string) (int, error) {
	n, err := strconv.Atoi(round)
	if err != nil {
		return 0, fmt.Errorf("%s is no number of a round; write RUN CASE ROUND, as in 412 go/csv 3", quote(round))
	}
	found := -1
	var cases []string
	for i, t := range trials {
		if name := t.Case.String(); !slices.Contains(cases, name) {
			cases = append(cases, name)
		}
		if t.Case.String() == of && t.Round == n && t.Revision == stopwatt.Head && (found < 0 || t.Attempt > trials[found].Attempt) {
			found = i
		}
	}
	if !slices.Contains(cases, of) {
		return 0, fmt.Errorf("the run has no case %s; there are %s", quote(of), strings.Join(cases, ", "))
	}
	if found < 0 {
		return 0, fmt.Errorf("%s has no trial of round %d", of, n)
	}
	return found, nil
}

// showMachine prints what is known of the machines of this name.
func (d *desk) showMachine(ctx context.Context, name string, v view) error {
	if v.format != "text" && v.format != "json" {
		return askedWrongly(fmt.Errorf("--format %s: of a machine write text or json", quote(v.format)))
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	machines, err := store.MachinesNamed(ctx, name)
	if errors.Is(err, storage.ErrNotFound) {
		return askedWrongly(fmt.Errorf("there is no machine %s; stopwatt sql 'select machine, fingerprint from machines' lists them", quote(name)))
	}
	if err != nil {
		return err
	}
	if v.format == "json" {
		return report.MachinesJSON(d.stdout, machines)
	}
	for i, machine := range machines {
		if i > 0 {
			fmt.Fprintln(d.stdout)
		}
		if err := report.MachineText(d.stdout, machine, terminalWidth(d.stdout)); err != nil {
			return err
		}
	}
	return nil
}
