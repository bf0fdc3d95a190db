package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
)

// findBase finds the commit that the head is measured against, where there is to be
// one: what was asked for, or what the pipeline is to be merged into.
func (p *plannedRun) findBase(ctx context.Context, flags runFlags) error {
	switch {
	case flags.against != "":
		return p.resolveBase(ctx, flags.against)
	case p.pipeline != nil && p.pipeline.Kind.OfMergeRequest():
		return p.pipelineBase(ctx)
	}
	return nil
}

// resolveBase finds the commit that was asked for.
func (p *plannedRun) resolveBase(ctx context.Context, revision string) error {
	if p.checkout.repo == nil {
		return askedWrongly(fmt.Errorf("--against %s: the suite lies in no git checkout", quote(revision)))
	}
	commit, err := p.checkout.repo.Resolve(ctx, revision)
	if err != nil {
		return askedWrongly(fmt.Errorf("--against: %w", err))
	}
	p.against = stopwatt.Checkout{Commit: commit}
	p.choice = stopwatt.BaseChoice{Rule: "as asked", Behind: -1}
	return nil
}

// againstSomething is an error where a base was meant and none is named: a variable
// of a pipeline that is empty must not turn a comparison into a run that never fails.
func againstSomething(flags runFlags, given bool) error {
	switch {
	case given && flags.against == "":
		return askedWrongly(errors.New("--against names no revision: write a commit, branch or tag, as in --against main"))
	case flags.all && !given:
		return askedWrongly(errors.New("--all is for --against: without a base every case is measured anyway"))
	case flags.judge != judgedByBase && flags.judge != judgedByHead:
		return askedWrongly(fmt.Errorf("--judge %s: write base or head", quote(flags.judge)))
	}
	return nil
}

// reachable is an error when the plan could never tell a change from none.
func reachable(suite stopwatt.Suite, cases int) error {
	procedure := stopwatt.Adaptive(suite.Plan.MinRounds, suite.Plan.Rounds)
	family := comparisonsOf(suite, cases)
	if procedure.Reachable(family) {
		return nil
	}
	return askedWrongly(fmt.Errorf("%s can tell nothing of %s judged together: it takes %d; write plan: {rounds: {min: 12, max: 32}}, or --rounds %d",
		plural(suite.Plan.Rounds, "round"), plural(family, "comparison"), procedure.Reach(family), procedure.Reach(family)))
}

// base gets the images that the head's are measured against, and says which cases
// are measured how; nothing where the head is measured alone.
func (d *desk) base(ctx context.Context, planned plannedRun, suite stopwatt.Suite, head map[string]stopwatt.Image, docker *containers.Docker, screen *screen) (map[string]stopwatt.Image, *orchestrator.Comparing, error) {
	switch {
	case planned.calibrating:
		return head, &orchestrator.Comparing{Pairs: planned.cases, Calibrating: true}, nil
	case planned.compares():
		labels := map[string]string{stopwatt.LabelOwner: meter.Host{}.Self(), stopwatt.LabelRole: "image"}
		return baseBuilder{desk: d, planned: planned, docker: docker, screen: screen, all: planned.all, labels: labels}.comparing(ctx, suite, head)
	}
	return nil, nil, nil
}

// A baseBuilder gets the images of the commit that the head is measured against.
type baseBuilder struct {
	*desk
	planned plannedRun
	docker  *containers.Docker
	screen  *screen
	labels  map[string]string // of containers that are looked into
	all     bool              // identical cases are measured too
}

// comparing gets the base's images and says which cases are measured how.
func (b baseBuilder) comparing(ctx context.Context, suite stopwatt.Suite, head map[string]stopwatt.Image) (map[string]stopwatt.Image, *orchestrator.Comparing, error) {
	images := map[string]stopwatt.Image{}
	past := b.planned.past
	comparing := &orchestrator.Comparing{Notes: slices.Clone(past.notes), Removed: past.removed, Base: map[string]stopwatt.Implementation{}}
	failed := map[string]bool{}
	for _, implementation := range needed(suite, b.planned.cases) {
		if implementation.Name == suite.Control {
			continue
		}
		base, was := asItWas(past.suite, b.planned.file.suite, implementation)
		if !was {
			continue // new at the head
		}
		comparing.Base[implementation.Name] = base
		image, note, err := b.image(ctx, base, head[implementation.Name])
		if err != nil {
			return nil, nil, err
		}
		if image.ID != "" {
			images[implementation.Name] = image
		}
		failed[implementation.Name] = image.ID == "" && note != nil
		comparing.Notes = append(comparing.Notes, note...)
	}
	var differing []string
	comparing.BaseWorkloads, differing = past.asked(suite)
	for _, c := range b.planned.cases {
		image, atBase := images[c.Implementation]
		switch {
		case past.lacks(c.Workload):
			comparing.Alone = append(comparing.Alone, c)
		case failed[c.Implementation]:
			comparing.Unmatched = append(comparing.Unmatched, c)
			comparing.Alone = append(comparing.Alone, c)
		case !atBase:
			comparing.Alone = append(comparing.Alone, c)
		case image.ID == head[c.Implementation].ID && !b.all && sameSettings(comparing.Base[c.Implementation], suite):
			comparing.Identical = append(comparing.Identical, c)
		default:
			comparing.Pairs = append(comparing.Pairs, c)
			if slices.Contains(differing, c.Workload) && !suite.Judge.Differing {
				comparing.Differing = append(comparing.Differing, c)
			}
		}
	}
	return images, comparing, nil
}

// asItWas is an implementation of the placed head suite as the base's suite has it,
// and false where that has none of this name. Cores that the machine has chosen stay,
// where the suite says of them what it said before; services are the head's.
func asItWas(past *stopwatt.Suite, unplaced stopwatt.Suite, head stopwatt.Implementation) (stopwatt.Implementation, bool) {
	if past == nil {
		return head, true
	}
	was, known := past.Implementation(head.Name)
	if !known {
		return stopwatt.Implementation{}, false
	}
	if written, _ := unplaced.Implementation(head.Name); written.CPUs == was.CPUs {
		was.CPUs = head.CPUs
	}
	was.Services = head.Services
	if was.Build != nil && was.Build.Repository != "" {
		was.Build = head.Build // mirrored for the head's suite
	}
	return was, true
}

// sameSettings tells whether the head runs an implementation as the base did.
func sameSettings(base stopwatt.Implementation, suite stopwatt.Suite) bool {
	head, _ := suite.Implementation(base.Name)
	base.Build, base.Image, head.Build, head.Image = nil, "", nil, ""
	return reflect.DeepEqual(base, head)
}

// image gets one image of the base: none where the base had nothing like it, or
// where it cannot be built any more, with a note that says so.
func (b baseBuilder) image(ctx context.Context, implementation stopwatt.Implementation, head stopwatt.Image) (stopwatt.Image, []string, error) {
	image, err := b.build(ctx, implementation, false)
	switch {
	case ctx.Err() != nil:
		return stopwatt.Image{}, nil, ctx.Err()
	case stopwatt.EngineFailed(err):
		return stopwatt.Image{}, nil, err
	case errors.Is(err, git.ErrNoFolder):
		return stopwatt.Image{}, nil, nil
	case err != nil:
		why := strings.TrimPrefix(err.Error(), implementation.Name+": ")
		note := fmt.Sprintf("%s cannot be had at the base, and is measured at the head alone: %s", implementation.Name, firstLine(why))
		return stopwatt.Image{}, []string{note}, nil
	case image.ID == head.ID:
		return image, nil, nil
	}
	return b.alike(ctx, implementation, image, head)
}

// build builds or pulls one image as it was at the base.
func (b baseBuilder) build(ctx context.Context, implementation stopwatt.Implementation, anew bool) (stopwatt.Image, error) {
	named := func(string) string { return implementation.Name + " (base)" }
	images, err := orchestrator.Builder{
		Images: b.docker,
		Order: func(ctx context.Context, implementation stopwatt.Implementation) (stopwatt.BuildOrder, error) {
			past := *implementation.Build
			if past.Commit == "" { // else it is the same commit whatever is measured
				past.Commit = b.planned.against.Commit.SHA
			}
			implementation.Build = &past
			order, err := b.planned.checkout.buildOrder(ctx, b.planned.file, b.planned.standIns, implementation)
			order.Anew = anew
			return order, err
		},
		SHA:    b.planned.against.Commit.SHA,
		Begins: func(name string) { b.screen.buildBegins(named(name)) },
		Step:   func(name string, step stopwatt.BuildStep) { b.screen.buildStep(named(name), step) },
		Ended:  func(name string, image stopwatt.Image) { b.screen.buildEnded(named(name), image) },
		Failed: func(name string, err error) {
			if errors.Is(err, git.ErrNoFolder) {
				b.screen.buildNone(named(name))
				return
			}
			b.screen.buildFailed(named(name))
		},
	}.Get(ctx, []stopwatt.Implementation{implementation})
	b.screen.dropBuild()
	return images[implementation.Name], err
}

// alike sees to it that base and head differ in the change alone. Where packages
// of the system have other versions, because the two were built on different days,
// the base is built anew; what differs then is noted.
func (b baseBuilder) alike(ctx context.Context, implementation stopwatt.Implementation, base, head stopwatt.Image) (stopwatt.Image, []string, error) {
	differing, err := b.differing(ctx, base, head)
	if err != nil || len(differing) == 0 {
		return base, nil, err
	}
	if implementation.Build != nil {
		if base, err = b.build(ctx, implementation, true); err != nil {
			return base, nil, err
		}
		if differing, err = b.differing(ctx, base, head); err != nil || len(differing) == 0 {
			return base, nil, err
		}
	}
	return base, []string{fmt.Sprintf("%s: base and head differ in %s: %s", implementation.Name, plural(len(differing), "installed package"), someOf(differing))}, nil
}

// differing are the packages that both images have, in different versions.
func (b baseBuilder) differing(ctx context.Context, base, head stopwatt.Image) ([]string, error) {
	of := func(image stopwatt.Image) (map[string]string, error) {
		return b.docker.Packages(ctx, image.ID, b.labels)
	}
	before, err := of(base)
	if err != nil {
		return nil, err
	}
	now, err := of(head)
	if err != nil {
		return nil, err
	}
	var differing []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if version, both := now[name]; both && version != before[name] {
			differing = append(differing, fmt.Sprintf("%s %s → %s", name, before[name], version))
		}
	}
	return differing, nil
}

// someOf lists the first of many.
func someOf(all []string) string {
	const few = 5
	text := ""
	for i, one := range all[:min(len(all), few)] {
		if i > 0 {
			text += ", "
		}
		text += one
	}
	if len(all) > few {
		text += fmt.Sprintf(" and %d more", len(all)-few)
	}
	return text
}

// judgedCases counts what would be judged if everything had changed.
func judgedCases(suite stopwatt.Suite, cases []stopwatt.Case) int {
	n := 0
	for _, c := range cases {
		if c.Implementation != suite.Control {
			n++
		}
	}
	return n
}

// withControl adds the control's cases to those that were chosen: it is measured
// in every run.
func withControl(suite stopwatt.Suite, chosen []stopwatt.Case) ([]stopwatt.Case, error) {
	if suite.Control == "" {
		return chosen, nil
	}
	var all []stopwatt.Case
	control, err := jobs.Select(suite, []string{suite.Control + "/*"})
	if err != nil {
		return nil, err
	}
	for _, c := range suite.Cases() {
		if slices.Contains(chosen, c) || slices.Contains(control, c) && someWith(chosen, c.Workload) {
			all = append(all, c)
		}
	}
	return all, nil
}

// someWith tells whether a case of this workload was chosen.
func someWith(cases []stopwatt.Case, workload string) bool {
	return slices.ContainsFunc(cases, func(c stopwatt.Case) bool { return c.Workload == workload })
}

// casesOf are the chosen cases of a suite, with the control's.
func casesOf(suite stopwatt.Suite, globs []string) ([]stopwatt.Case, error) {
	cases, err := jobs.Select(suite, globs)
	if err != nil {
		return nil, err
	}
	return withControl(suite, cases)
}
