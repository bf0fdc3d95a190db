package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/campaign"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/gitlab"
	"gitlab.com/stopwatt/stopwatt/report"
)

// ciFlags are what `stopwatt ci` can be told.
type ciFlags struct {
	runFlags
	note     string   // when a note is written
	conclude bool     // write the note of what other jobs have measured
	machines []string // that are to have measured, for conclude
	send     string   // a file: write the note that could not be written then
	backfill int      // on the default branch: so many commits before it are measured too
}

// When a note is written: always; only where something is worse, or a note is there;
// as a thread that can be resolved; never.
const (
	noteAlways = "always"
	noteAlerts = "alerts"
	noteThread = "thread"
	noteNone   = "none"
)

// ciFolder is where a job writes its reports, beside the checkout's files.
const ciFolder = "stopwatt-report"

// ciVerb is `stopwatt ci`.
func (d *desk) ciVerb() *cobra.Command {
	var flags ciFlags
	var failOn string
	verb := &cobra.Command{
		Use:   "ci [SUITE]",
		Short: "The main job within a GitLab pipeline: base and head, note, reports",
		Long: `Measures what a pipeline is for. Of a merge request, base and head are measured
interleaved and judged, and what came of it is written into one note, which later
pipelines edit. Of the default branch, the commit is measured and enters history.
Elsewhere it is measured and stored.

The note needs a token that may write notes, STOPWATT_GITLAB_TOKEN; a job's own
token may not. Without one everything is measured and stored all the same, and
the note lies in the reports. Outside GitLab, stopwatt run does the same by hand.

Exit status: 0 nothing worse, or accepted; 10 regressed; 11 undecided, where the
suite's judge asks for it; 3 not all could be measured; 4 Docker or the database
failed. Writing the note changes none of them.`,
		Example: `  stopwatt ci
  stopwatt ci suites/web-servers --budget 30m --fail-on regressed,undecided
  stopwatt ci --conclude --machines odroid-h3,rpi4
  stopwatt ci --send stopwatt-report/note.json`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.seedGiven = cmd.Flags().Changed("seed")
			flags.roundsGiven = cmd.Flags().Changed("rounds")
			if cmd.Flags().Changed("fail-on") {
				var err error
				if flags.failOn, err = failOnOf(failOn); err != nil {
					return err
				}
			}
			return d.ci(cmd.Context(), first(args), flags)
		},
	}
	d.measuringFlags(verb, &flags.runFlags)
	verb.Flags().StringVar(&flags.against, "against", "", "measure against this `REVISION` (default: the merge request's base)")
	verb.Flags().StringVar(&flags.judge, "judge", judgedByBase, "judge by the suite file of the `base` or of the head")
	verb.Flags().DurationVar(&flags.budget, "budget", 0, "begin no look that would not be reached within `DURATION` (default: the suite's)")
	verb.Flags().StringVar(&failOn, "fail-on", "", "`VERDICTS` that the exit status tells: regressed, undecided, none (default: the suite's)")
	verb.Flags().StringVar(&flags.note, "note", noteAlways, "`WHEN` a note is written: always, alerts, thread, none")
	verb.Flags().BoolVar(&flags.conclude, "conclude", false, "measure nothing: write one note of what the jobs of this pipeline have stored")
	verb.Flags().StringSliceVar(&flags.machines, "machines", nil, "with --conclude: the `NAMES` of the machines that were to measure")
	verb.Flags().IntVar(&flags.backfill, "backfill", 0, "on the default branch: measure also what was not measured of the `N` commits before")
	verb.Flags().StringVar(&flags.send, "send", "", "measure nothing: write the note that is kept in this `FILE`")
	return verb
}

// failOnOf reads a list of verdicts.
func failOnOf(text string) ([]stopwatt.Verdict, error) {
	verdicts := []stopwatt.Verdict{}
	for _, word := range strings.Split(text, ",") {
		switch verdict := stopwatt.Verdict(strings.TrimSpace(word)); verdict {
		case stopwatt.Regressed, stopwatt.Undecided:
			verdicts = append(verdicts, verdict)
		case "none":
		default:
			return nil, askedWrongly(fmt.Errorf("--fail-on %s: write regressed, undecided, both with a comma, or none", quote(text)))
		}
	}
	return verdicts, nil
}

// ci does what this pipeline is for.
func (d *desk) ci(ctx context.Context, named string, flags ciFlags) error {
	if !slices.Contains([]string{noteAlways, noteAlerts, noteThread, noteNone}, flags.note) {
		return askedWrongly(fmt.Errorf("--note %s: write always, alerts, thread or none", quote(flags.note)))
	}
	if flags.send != "" {
		return d.sendParcel(ctx, flags.send)
	}
	pipeline, err := gitlab.Read(d.getenv)
	if err != nil {
		return askedWrongly(err)
	}
	flags.pipeline, flags.ends = &pipeline, deadline(pipeline.Job, time.Now())
	flags.out = cmp.Or(flags.out, ciFolder)
	job := ciJob{desk: d, pipeline: pipeline, flags: flags}
	fmt.Fprintf(d.stderr, "ci      %s\n", pipelineText(pipeline))
	if flags.conclude {
		return job.conclude(ctx, named)
	}
	err = job.measure(ctx, named)
	if job.measuresThePast(ctx, err) {
		err = cmp.Or(err, job.measurePast(ctx, named))
	}
	return err
}

// measuresThePast tells whether commits before this one are measured too: what was
// asked of this one comes first, and has to have come about.
func (j ciJob) measuresThePast(ctx context.Context, err error) bool {
	var known failure
	measured := err == nil || errors.As(err, &known) && known.status != exitSurroundings && known.status != exitAskedWrongly
	return j.flags.backfill > 0 && j.pipeline.Kind == stopwatt.DefaultBranch && measured && ctx.Err() == nil
}

// measurePast measures those of the commits before this one that were not measured, as
// far as the job has time.
func (j ciJob) measurePast(ctx context.Context, named string) error {
	flags := backfillFlags{campaignFlags: campaignFlags{runFlags: j.flags.runFlags, suiteAt: suiteOfHead}, order: campaign.Order{Every: 1}}
	flags.out = ""
	if ends := j.flags.ends; !ends.IsZero() {
		if flags.budget = time.Until(ends); flags.budget <= 0 {
			return nil
		}
	}
	commits, err := j.before(ctx, j.flags.backfill)
	if err != nil || commits == "" {
		return err
	}
	defer j.section("backfill", "measure commits before this one")()
	return j.desk.backfill(ctx, commits, named, flags)
}

// before is the stretch of so many commits before this one, as git names it; empty where
// there is none.
func (j ciJob) before(ctx context.Context, most int) (string, error) {
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return "", askedWrongly(err)
	}
	repo.Getenv = j.getenv
	if err := repo.Lengthen(ctx, most+1); err != nil {
		return "", surroundings(err)
	}
	history, err := repo.FirstParents(ctx, j.pipeline.Commit)
	if err != nil || len(history) < 2 {
		return "", err
	}
	return stretchBefore(history, most), nil
}

// stretchBefore is the last commit of a history with so many before it, as git names a
// stretch: the commit before the first dots is left out, so where the history is no
// longer there is none.
func stretchBefore(history []string, most int) string {
	past := ""
	if leftOut := len(history) - 2 - most; leftOut >= 0 {
		past = history[leftOut]
	}
	return past + ".." + history[len(history)-1]
}

// pipelineText says what a pipeline is for.
func pipelineText(p stopwatt.Pipeline) string {
	text := string(p.Kind)
	if p.Kind.OfMergeRequest() {
		text += fmt.Sprintf(", merge request !%d into %s", p.MergeRequest.IID, report.Clean(p.MergeRequest.TargetBranch))
	} else {
		text += " " + report.Clean(p.Ref)
	}
	if p.Fork {
		text += ", of a fork"
	}
	return fmt.Sprintf("%s; commit %s", text, stopwatt.Commit{SHA: p.Commit}.Short())
}

// A ciJob is one job of a pipeline.
type ciJob struct {
	*desk
	pipeline stopwatt.Pipeline
	flags    ciFlags
}

// measure is the main job: it measures, tells, writes the reports and the note.
func (j ciJob) measure(ctx context.Context, named string) error {
	planned, err := j.plan(ctx, named, j.flags.runFlags)
	if err != nil {
		return j.tellUnplanned(ctx, named, err)
	}
	fmt.Fprintf(j.stderr, "base    %s\n", baseText(planned))
	place, err := j.openWorkplace(ctx, planned, j.flags.runFlags)
	if err != nil {
		return j.tellFailure(ctx, planned, err)
	}
	defer place.close()
	end := j.section("measure", "build and measure "+report.Clean(planned.file.suite.Name))
	measured, err := place.measure(ctx, planned, j.flags.runFlags)
	end()
	if err != nil {
		return j.tellFailure(ctx, planned, err)
	}
	acceptances, err := j.accept(ctx, place.store, planned, measured.run)
	if err != nil {
		return err
	}
	outcome, err := j.outcome(ctx, place.store, measured.run)
	if err != nil {
		return err
	}
	outcome.acceptances = acceptances
	earlier, err := place.store.EarlierAttempts(ctx, measured.run)
	if err != nil {
		return err
	}
	if err := j.tell(outcome, j.flags.out); err != nil {
		return err
	}
	of, err := j.noteOf(ctx, place.store, planned, outcome, earlier)
	if err != nil {
		return err
	}
	if j.notKept() != "" {
		j.writeRun(ctx, place.store, measured.run.ID)
	}
	j.conclusion(ctx, of, planned.file, planned.checkout.fromTop(planned.file))
	j.tellBringers(ctx, planned, outcome)
	return cmp.Or(outcome.verdict(), regressedEarlier(outcome, earlier), unmatched(measured.comparing))
}

// baseText says what the head is measured against, and how that was found.
func baseText(p plannedRun) string {
	switch {
	case p.noBase != "":
		return report.Clean(p.noBase)
	case !p.compares():
		return "none: measured alone"
	}
	text := fmt.Sprintf("%s: %s", p.against.Commit.Short(), p.choice.Rule)
	if p.choice.Behind > 0 {
		text += fmt.Sprintf(", %s is %s ahead of it", report.Clean(p.pipeline.MergeRequest.TargetBranch), plural(p.choice.Behind, "commit"))
	}
	for _, note := range p.choice.Notes {
		text += "\n        " + report.Clean(note)
	}
	return text
}

// regressedEarlier is an error when an earlier measurement of the same head confirmed
// a change for the worse that nobody accepted: nobody measures until it is gone.
func regressedEarlier(o outcome, earlier []stopwatt.Results) error {
	for _, before := range earlier {
		if before.Judgement == nil {
			continue
		}
		for _, c := range before.Judgement.Comparisons {
			if c.Verdict == stopwatt.Regressed && !acceptedNow(o, c) && o.results.Run.Settings.Judge.Fails(stopwatt.Regressed) {
				return failure{exitRegressed, fmt.Errorf("%s %s regressed in run %d, an earlier measurement of the same commit: measuring again does not undo it; push a change, or accept it",
					c.Case, c.Metric.Name, before.Run.ID)}
			}
		}
	}
	return nil
}

// acceptedNow tells whether somebody has accepted this comparison of an earlier run:
// then, or by what the head says now.
func acceptedNow(o outcome, c stopwatt.Comparison) bool {
	if c.Accepted != nil {
		return true
	}
	if o.results.Judgement == nil {
		return false
	}
	return slices.ContainsFunc(o.acceptances, func(a stopwatt.Acceptance) bool { return a.Covers(c.Case, c.Metric.Name, time.Now()) })
}

// section begins a part of the job's log that can be folded.
func (j ciJob) section(name, header string) (end func()) {
	fmt.Fprint(j.stderr, gitlab.Section(name, header, time.Now()))
	return func() { fmt.Fprint(j.stderr, gitlab.EndSection(name, time.Now())) }
}
