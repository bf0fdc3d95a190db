package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
)

// inPipeline takes over what the pipeline knows better than the checkout, whose HEAD
// is on no branch there, and what its flags ask for.
func (p *plannedRun) inPipeline(flags runFlags) error {
	if flags.pipeline == nil {
		return nil
	}
	state := &p.checkout.state
	if p.checkout.repo == nil {
		return askedWrongly(errors.New("the suite lies in no git checkout, which a pipeline needs; is GIT_STRATEGY none?"))
	}
	if state.Commit.SHA != flags.pipeline.Commit {
		return askedWrongly(fmt.Errorf("the checkout is at %s, and the pipeline is for %s: stopwatt ci measures the commit of its pipeline",
			state.Commit.Short(), stopwatt.Commit{SHA: flags.pipeline.Commit}.Short()))
	}
	state.Branch, state.Default = flags.pipeline.Ref, flags.pipeline.Kind == stopwatt.DefaultBranch
	p.pipeline, p.ends = flags.pipeline, flags.ends
	if flags.budget > 0 {
		p.file.suite.Plan.Budget = flags.budget
	}
	return nil
}

// pipelineBase finds what the merge request is measured against. Where nothing can be
// shown to be that, the head is measured alone, as often as a first look takes.
func (p *plannedRun) pipelineBase(ctx context.Context) error {
	commit, choice, err := p.checkout.repo.Base(ctx, *p.pipeline)
	switch {
	case errors.Is(err, git.ErrNoBaseline):
		p.noBase = err.Error()
		p.rounds = p.file.suite.Plan.MinRounds
		return nil
	case err != nil:
		return err
	}
	p.against, p.choice = stopwatt.Checkout{Commit: commit}, choice
	return nil
}

// afterMeasuring is how long a job needs behind its trials: cleaning, the reports,
// the note. What runs into its time limit is killed and tells nothing.
const afterMeasuring = time.Minute

// deadline is when a pipeline's job must have measured; zero where it is not told. It
// is found out when the command begins, and hangs on the clock no longer: one that is
// set in the middle of a run moves nothing.
func deadline(job stopwatt.Job, now time.Time) time.Time {
	if job.Timeout == 0 || job.Started.IsZero() {
		return time.Time{}
	}
	return now.Add(job.Started.Add(job.Timeout - afterMeasuring).Sub(now))
}
