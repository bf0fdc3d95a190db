package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

// A pastSuite is the suite as the base has it.
type pastSuite struct {
	suite   *stopwatt.Suite // nil where it has none, or one that cannot be read: the head's settings are taken then
	removed []stopwatt.Case // that the head has no more
	notes   []string        // what of it decides a verdict otherwise than the head's
}

// pastSuite reads the suite of the commit that the head is measured against.
func (d *desk) pastSuite(ctx context.Context, planned plannedRun, flags runFlags) (pastSuite, error) {
	tree, err := planned.checkout.repo.Tree(ctx, planned.file.folder, planned.against.Commit.SHA)
	if err != nil {
		return pastSuite{}, askedWrongly(err)
	}
	name := filepath.Base(planned.file.path)
	text, err := tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return pastSuite{notes: []string{fmt.Sprintf("the base has no %s: its implementations are run with the head's settings", name)}}, nil
	}
	if err != nil {
		return pastSuite{}, err
	}
	suite, err := jobs.Read(name, text, tree, jobs.Options{Profile: flags.profile, Rounds: flags.rounds})
	if err != nil && flags.profile != "" { // which the base may lack
		suite, err = jobs.Read(name, text, tree, jobs.Options{Rounds: flags.rounds})
	}
	if err == nil {
		suite, err = planned.checkout.resolved(ctx, suite)
	}
	if err != nil {
		return pastSuite{notes: []string{fmt.Sprintf("the base's %s cannot be used, and its implementations are run with the head's settings: %s", name, firstLine(err.Error()))}}, nil
	}
	if flags.budget > 0 { // asked of the job, as of the head: no change of the suite file
		suite.Plan.Budget = flags.budget
	}
	past := pastSuite{suite: &suite}
	chosen, err := jobs.Select(suite, flags.cases)
	if err == nil { // else not one of them is among what was chosen
		past.removed = slices.DeleteFunc(jobs.Removed(suite, planned.file.suite), func(c stopwatt.Case) bool { return !slices.Contains(chosen, c) })
	}
	return past, nil
}

// judgeBy has the run judged by the suite file of base or head, and notes what they
// differ in. It is the base's by default, so that a change cannot loosen what it is
// judged by.
func (p *plannedRun) judgeBy(whose string) {
	if p.past.suite == nil {
		return
	}
	changes := jobs.Changes(*p.past.suite, p.file.suite)
	if whose != judgedByHead {
		whose = judgedByBase
		p.file.suite.Judge = p.past.suite.Judge
	}
	if len(changes) > 0 {
		p.past.notes = append(p.past.notes, fmt.Sprintf("the suite file changes %s; it is judged by that of the %s", strings.Join(changes, "; "), whose))
	}
}

// The values of --judge: whose suite file says what a change is judged by.
const (
	judgedByBase = "base"
	judgedByHead = "head"
)

// asked are the workloads as they are asked of the base.
func (p pastSuite) asked(head stopwatt.Suite) (asked map[string]stopwatt.Workload, differing []string) {
	if p.suite == nil {
		return nil, nil
	}
	return jobs.AtBase(*p.suite, head)
}

// lacks tells whether the base's suite has no such workload.
func (p pastSuite) lacks(workload string) bool {
	if p.suite == nil {
		return false
	}
	_, known := p.suite.Workload(workload)
	return !known
}
