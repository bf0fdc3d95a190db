package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/campaign"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// The values of --suite-at: whose suite file says what is measured of a commit.
const (
	suiteOfHead   = "head"
	suiteOfCommit = "commit"
)

// campaignFlags are what the verbs that measure commits of the past can be told.
type campaignFlags struct {
	runFlags
	suiteAt string
}

func (d *desk) campaignFlags(verb *cobra.Command, flags *campaignFlags) {
	d.planFlags(verb, &flags.runFlags)
	verb.Flags().StringVar(&flags.suiteAt, "suite-at", suiteOfHead, "what is measured is said by the suite file of `head`, the commit that is checked out, or of the commit itself")
}

// A timeMachine plans runs of commits of the past. They are built from the commits'
// archives: the work tree is neither read nor touched.
type timeMachine struct {
	*desk
	flags   campaignFlags
	named   string // the suite
	branch  branch
	project string
	head    suiteFile // as the commit that is checked out has it
}

// openTimeMachine reads the suite as the commit that is checked out has it: so that
// figures are of something that is committed, too.
func (d *desk) openTimeMachine(ctx context.Context, named string, flags campaignFlags) (timeMachine, error) {
	if flags.suiteAt != suiteOfHead && flags.suiteAt != suiteOfCommit {
		return timeMachine{}, askedWrongly(fmt.Errorf("--suite-at %s: write head or commit", quote(flags.suiteAt)))
	}
	branch, err := d.openBranch(ctx)
	if err != nil {
		return timeMachine{}, err
	}
	m := timeMachine{desk: d, flags: flags, named: named, branch: branch, project: branch.repo.Project(ctx)}
	if m.head, err = m.suiteOf(ctx, "HEAD"); err != nil {
		return timeMachine{}, askedWrongly(fmt.Errorf("as HEAD has it: %w", err))
	}
	if _, err := jobs.Select(m.head.suite, flags.cases); err != nil {
		return timeMachine{}, askedWrongly(err)
	}
	return m, nil
}

// suiteOf reads the suite as a commit has it, with its files.
func (m timeMachine) suiteOf(ctx context.Context, revision string) (suiteFile, error) {
	path := suitePath(m.named)
	absolute, err := filepath.Abs(path)
	if err != nil {
		return suiteFile{}, err
	}
	file := suiteFile{path: path, folder: filepath.Dir(absolute)}
	tree, err := m.branch.repo.Tree(ctx, file.folder, revision)
	if err != nil {
		return suiteFile{}, err
	}
	text, err := tree.ReadFile(filepath.Base(path))
	if err != nil {
		return suiteFile{}, fmt.Errorf("there is no suite %s", quote(path))
	}
	file.suite, err = jobs.Read(path, text, tree, jobs.Options{Profile: m.flags.profile, Rounds: m.flags.rounds})
	return file, err
}

// plan plans a run of a commit. What cannot be planned is a CannotMeasure.
func (m timeMachine) plan(ctx context.Context, commit stopwatt.Commit) (plannedRun, error) {
	file, gone, err := m.suiteFor(ctx, commit)
	if err != nil {
		return plannedRun{}, err
	}
	standIns, err := parseBases(m.flags.bases, m.getenv("STOPWATT_BASES"))
	if err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	labels, err := parseLabels(m.flags.labels)
	if err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	cases, err := jobs.Select(file.suite, m.flags.cases)
	if err != nil {
		return plannedRun{}, campaign.CannotMeasure{Why: firstLine(err.Error())}
	}
	if cases, err = withControl(file.suite, cases); err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	cases = slices.DeleteFunc(slices.Clone(cases), func(c stopwatt.Case) bool { return gone[c.Implementation] })
	if judgedCases(file.suite, cases) == 0 {
		return plannedRun{}, campaign.CannotMeasure{Why: "it has none of these implementations"}
	}
	place := checkout{repo: m.branch.repo, project: m.project, at: commit.SHA, state: m.state(commit)}
	if file.suite, err = place.resolved(ctx, file.suite); err != nil {
		return plannedRun{}, campaign.CannotMeasure{Why: firstLine(err.Error())}
	}
	return plannedRun{
		file: file, checkout: place, cases: cases, seed: uint64(rand.Uint32()), standIns: standIns, labels: labels, rounds: file.suite.Plan.Rounds,
	}, nil
}

// state is that of a clean checkout of a commit.
func (m timeMachine) state(commit stopwatt.Commit) stopwatt.Checkout {
	state := stopwatt.Checkout{Commit: commit}
	if m.branch.places[commit.SHA] != 0 {
		state.Branch, state.Default = git.BranchName(m.branch.name), true
	}
	return state
}

// suiteFor is the suite that a commit is measured by, and which of its
// implementations the commit does not have. That of head asks every commit the same;
// how implementations are built and run, and what they answer, is the commit's own
// matter, as it is that of a base.
func (m timeMachine) suiteFor(ctx context.Context, commit stopwatt.Commit) (suiteFile, map[string]bool, error) {
	own, err := m.suiteOf(ctx, commit.SHA)
	if err != nil && ctx.Err() != nil {
		return suiteFile{}, nil, ctx.Err()
	}
	if m.flags.suiteAt == suiteOfCommit {
		if err != nil {
			return suiteFile{}, nil, campaign.CannotMeasure{Why: firstLine(err.Error())}
		}
		return own, nil, nil
	}
	var past *stopwatt.Suite // else it is run with head's settings
	if err == nil {
		past = &own.suite
	}
	tree, err := m.branch.repo.Tree(ctx, m.head.folder, commit.SHA)
	if err != nil {
		return suiteFile{}, nil, err
	}
	file, gone := m.head, map[string]bool{}
	file.suite.Implementations, file.suite.Workloads = slices.Clone(file.suite.Implementations), slices.Clone(file.suite.Workloads)
	for i, implementation := range file.suite.Implementations {
		if implementation.Name == file.suite.Control || implementation.Null {
			continue
		}
		was, known := asItWas(past, m.head.suite, implementation)
		gone[implementation.Name] = !known || !builds(tree, was)
		if known {
			file.suite.Implementations[i] = was
		}
	}
	if past != nil {
		asked, _ := jobs.AtBase(*past, m.head.suite)
		for i, workload := range file.suite.Workloads {
			file.suite.Workloads[i] = asked[workload.Name]
		}
	}
	return file, gone, nil
}

// builds tells whether a commit has the folder that an implementation is built from.
func builds(tree git.Tree, implementation stopwatt.Implementation) bool {
	build := implementation.Build
	if build == nil || build.Ref != "" || build.Repository != "" {
		return true
	}
	_, err := tree.Stat(build.Context)
	return err == nil
}

// measureAt measures a planned run of a commit. What is wrong with the commit is a
// CannotMeasure; any other error is of the surroundings, or the run was interrupted.
func (m timeMachine) measureAt(ctx context.Context, place *workplace, planned plannedRun) (measuredRun, error) {
	measured, err := place.measure(ctx, planned, m.flags.runFlags)
	var known failure
	if err != nil && ctx.Err() == nil && errors.As(err, &known) && (known.status == exitIncomplete || known.status == exitAskedWrongly) {
		return measured, campaign.CannotMeasure{Why: firstLine(err.Error())}
	}
	return measured, err
}

// machine is the fingerprint of the machine that a workplace measures on.
func (m timeMachine) machine(place *workplace) string {
	return storage.Fingerprint(place.instruments.machine(place.docker.Engine()).Identity)
}
