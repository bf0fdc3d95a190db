package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// conclude tells of what the jobs of this pipeline have stored, one for each machine,
// in one note. It waits for nothing: what is not there is named as missing.
func (j ciJob) conclude(ctx context.Context, named string) error {
	if err := makeReportFolder(j.flags.out); err != nil {
		return err
	}
	file, err := readSuite(named, jobs.Options{Profile: j.flags.profile})
	if err != nil {
		return err
	}
	checkout, err := j.checkout(ctx, file)
	if err != nil {
		return err
	}
	store, release, err := j.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	runs, err := store.RunsOf(ctx, storage.RunQuery{
		Project: checkout.project, Suite: file.suite.Name, Pipeline: j.pipeline.ID, API: j.pipeline.API,
	})
	if err != nil {
		return err
	}
	finished, missing := byMachine(runs, j.flags.machines)
	of := report.NoteOf{
		Suite: file.suite.Name, SuiteFile: suiteArgument(checkout.fromTop(file)),
		Missing: missing, Links: j.links(), NotKept: j.notKept(),
	}
	of.Links.Report = "" // each machine has one of its own
	var verdicts []error
	for _, results := range finished {
		outcome, err := j.outcome(ctx, store, results.Run)
		if err != nil {
			return err
		}
		if err := j.tell(outcome, filepath.Join(j.flags.out, strconv.FormatInt(results.Run.ID, 10))); err != nil {
			return err
		}
		earlier, err := store.EarlierAttempts(ctx, results.Run)
		if err != nil {
			return err
		}
		measured, err := j.measuredBy(ctx, store, outcome, earlier)
		if err != nil {
			return err
		}
		if j.pipeline.Job.URL != "" {
			measured.Links.Report = j.artifact(strconv.FormatInt(results.Run.ID, 10) + "/" + report.Page)
		}
		of.Machines = append(of.Machines, measured)
		verdicts = append(verdicts, outcome.verdict(), regressedEarlier(outcome, earlier))
	}
	j.conclusion(ctx, of, file, checkout.fromTop(file))
	for _, machine := range missing {
		verdicts = append(verdicts, incomplete(fmt.Errorf("%s: %s", machine.Name, machine.Why)))
	}
	if len(finished)+len(missing) == 0 {
		verdicts = append(verdicts, incomplete(fmt.Errorf("the jobs of pipeline %d have stored no run of suite %s here; have they the same database, and did they measure?",
			j.pipeline.ID, quote(file.suite.Name))))
	}
	return worst(verdicts)
}

// byMachine are the latest runs of a pipeline on each of its machines, in the order of
// their names, and the machines of which there is none that is finished.
func byMachine(runs []stopwatt.Results, expected []string) (finished []stopwatt.Results, missing []report.MissingMachine) {
	latest := map[string]stopwatt.Results{}
	for _, results := range runs { // in the order in which they began
		name := results.Run.Machine.Name
		if before, known := latest[name]; !known || results.Run.Status == stopwatt.Finished || before.Run.Status != stopwatt.Finished {
			latest[name] = results
		}
	}
	names := append(slices.Sorted(maps.Keys(latest)), slices.DeleteFunc(slices.Clone(expected), func(name string) bool {
		_, known := latest[name]
		return known
	})...)
	for _, name := range names {
		switch results, known := latest[name]; {
		case !known:
			missing = append(missing, report.MissingMachine{Name: name, Why: "its job has stored nothing"})
		case results.Run.Status != stopwatt.Finished:
			missing = append(missing, report.MissingMachine{Name: name, Why: fmt.Sprintf("run %d is %s", results.Run.ID, results.Run.Status)})
		default:
			finished = append(finished, results)
		}
	}
	return finished, missing
}

// worst is the error that says most: a regression before what could not be measured,
// and that before what is undecided.
func worst(all []error) error {
	for _, status := range []int{exitRegressed, exitSurroundings, exitIncomplete, exitUndecided} {
		for _, err := range all {
			var known failure
			if errors.As(err, &known) && known.status == status {
				return err
			}
		}
	}
	return nil
}
