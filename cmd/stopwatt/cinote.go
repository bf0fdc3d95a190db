package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// noteOf gathers all that the note of a merge request tells of a run.
func (j ciJob) noteOf(ctx context.Context, store *storage.Store, planned plannedRun, o outcome, earlier []stopwatt.Results) (report.NoteOf, error) {
	measured, err := j.measuredBy(ctx, store, o, earlier)
	if err != nil {
		return report.NoteOf{}, err
	}
	measured.NoBase = planned.noBase
	return report.NoteOf{
		Suite: o.results.Run.Suite, SuiteFile: suiteArgument(planned.checkout.fromTop(planned.file)), Machines: []report.Measured{measured},
		Links: j.links(), NotKept: j.notKept(),
	}, nil
}

// measuredBy is what a machine has to say.
func (j ciJob) measuredBy(ctx context.Context, store *storage.Store, o outcome, earlier []stopwatt.Results) (report.Measured, error) {
	m := report.Measured{
		Results: o.results, Contrast: o.contrast,
		Attempt: len(earlier) + 1, Earlier: earlierFindings(earlier, o),
	}
	if pipeline := o.results.Run.Pipeline; pipeline != nil {
		m.Links = report.Links{Job: pipeline.Job.URL}
	}
	var err error
	if judgement := o.results.Judgement; judgement != nil {
		m.Removed = judgement.Removed
		m.Stored, err = storedOf(ctx, store, o.results)
	}
	return m, err
}

// earlierFindings are the changes for the worse that earlier measurements of the same
// head have confirmed, and that nobody accepts.
func earlierFindings(earlier []stopwatt.Results, now outcome) []report.Earlier {
	var found []report.Earlier
	for _, before := range earlier {
		if before.Judgement == nil {
			continue
		}
		for _, c := range before.Judgement.Comparisons {
			if c.Verdict != stopwatt.Regressed || acceptedNow(now, c) {
				continue
			}
			one := report.Earlier{Run: before.Run.ID, Comparison: c}
			if pipeline := before.Run.Pipeline; pipeline != nil {
				one.Job, one.JobURL = pipeline.Job.ID, pipeline.Job.URL
			}
			found = append(found, one)
		}
	}
	return found
}

// storedOf are the latest stored results of cases that are identical in base and head,
// of the same image on the same machine: for reading.
func storedOf(ctx context.Context, store *storage.Store, results stopwatt.Results) ([]report.Stored, error) {
	var all []report.Stored
	seen := map[stopwatt.Case]bool{}
	for _, c := range results.Judgement.Comparisons {
		image := results.Run.Images[c.Case.Implementation]
		if c.Verdict != stopwatt.Identical || seen[c.Case] || image.ID == "" {
			continue
		}
		seen[c.Case] = true
		latest, err := store.LatestOfImage(ctx, results.Run.Project, results.Run.Suite, storage.Fingerprint(results.Run.Machine.Identity), c.Case, image.ID)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, of := range latest.Cases {
			all = append(all, report.Stored{Case: c.Case, Run: latest.Run.ID, Summaries: of.Summaries})
		}
	}
	return all, nil
}

// links are the addresses that a note leads to.
func (j ciJob) links() report.Links {
	links := report.Links{Job: j.pipeline.Job.URL, Project: j.pipeline.ProjectURL}
	if links.Job != "" {
		links.Report = j.artifact(report.Page)
	}
	if at := j.getenv("STOPWATT_HISTORY_URL"); at != "" {
		links.History = at
	}
	return links
}

// artifact is the address of a file of this job's report folder.
func (j ciJob) artifact(name string) string {
	return j.pipeline.Job.URL + "/artifacts/file/" + path.Join(filepath.ToSlash(j.flags.out), name)
}

// notKept says why history is not kept; empty when it is. A private database lasts as
// long as the folder that it lies in: that of a runner's user, and not that of a
// container which is thrown away.
func (j ciJob) notKept() string {
	switch {
	case j.database != "" || j.getenv("STOPWATT_DATABASE") != "":
		return ""
	case j.getenv("CI_DISPOSABLE_ENVIRONMENT") == "true" && j.getenv("XDG_DATA_HOME") == "":
		return "no database is named, and this job's container is thrown away; set STOPWATT_DATABASE, or import stopwatt-report/run.jsonl"
	}
	return ""
}

// suiteArgument is how a suite is named to `stopwatt run`; the usual one is not.
func suiteArgument(path string) string {
	if path == suiteName {
		return ""
	}
	return path
}

// tellFailure writes a note of what could not be measured at all. Of a job that was
// cancelled nobody waits for one.
func (j ciJob) tellFailure(ctx context.Context, planned plannedRun, err error) error {
	if ctx.Err() != nil {
		return err
	}
	run := stopwatt.Run{
		Suite: planned.file.suite.Name, Settings: planned.file.suite, Checkout: planned.checkout.state,
		Against: planned.against, Choice: planned.choice, Pipeline: planned.pipeline,
	}
	j.unmeasured(ctx, run, planned.file, planned.checkout.fromTop(planned.file), report.Measured{NoBase: planned.noBase}, err)
	return err
}

// tellUnplanned writes a note of a head whose suite cannot be used, as far as it can be
// learned what the suite is called. Else the note of the pipeline before would stay, and
// say that nothing is worse.
func (j ciJob) tellUnplanned(ctx context.Context, named string, err error) error {
	path := suitePath(named)
	if ctx.Err() != nil {
		return err
	}
	text, unreadable := readAtMost(path, mostSuite)
	name := jobs.Name(text)
	if unreadable != nil || name == "" {
		name = j.nameAtBase(ctx, path)
	}
	if name == "" || makeReportFolder(j.flags.out) != nil {
		return err
	}
	run := stopwatt.Run{Suite: name, Checkout: stopwatt.Checkout{Commit: stopwatt.Commit{SHA: j.pipeline.Commit}}, Pipeline: &j.pipeline}
	j.unmeasured(ctx, run, suiteFile{path: path}, filepath.ToSlash(path), report.Measured{}, err)
	return err
}

// nameAtBase is what the base calls a suite whose file the head has lost or made
// illegible; empty where that cannot be found either.
func (j ciJob) nameAtBase(ctx context.Context, path string) string {
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); err != nil {
		folder = "." // gone with the suite
	}
	repo, err := git.Open(ctx, folder)
	if err != nil {
		return ""
	}
	repo.Getenv = j.getenv
	base, _, err := repo.Base(ctx, j.pipeline)
	if err != nil {
		return ""
	}
	tree, err := repo.Tree(ctx, ".", base.SHA)
	if err != nil {
		return ""
	}
	text, err := tree.ReadFile(filepath.ToSlash(path))
	if err != nil { // a folder that is gone cannot be told from a file
		text, err = tree.ReadFile(filepath.ToSlash(filepath.Join(path, suiteName)))
	}
	if err != nil {
		return ""
	}
	return jobs.Name(text)
}

// unmeasured tells that a run came to nothing. There is no report then to lead to.
func (j ciJob) unmeasured(ctx context.Context, run stopwatt.Run, file suiteFile, path string, m report.Measured, err error) {
	m.Results = stopwatt.Results{Run: run}
	m.Unmeasured = []report.Unmeasured{{Revision: stopwatt.Head, Why: firstLine(err.Error())}}
	of := report.NoteOf{Suite: run.Suite, SuiteFile: suiteArgument(path), Machines: []report.Measured{m}, Links: j.links(), NotKept: j.notKept()}
	of.Links.Report = ""
	j.conclusion(ctx, of, file, path)
}

// conclusion tells what came of a job: the files for GitLab, the note.
func (j ciJob) conclusion(ctx context.Context, of report.NoteOf, file suiteFile, path string) {
	note := stopwatt.Note{
		Suite: of.Suite, Body: report.Note(of), Created: time.Now(),
		Worse:  of.Worse() || of.Unmeasurable(), // what is not measured is not known to be gone: its thread stays open
		Thread: j.flags.note == noteThread, Quiet: j.flags.note == noteAlerts,
	}
	j.writeFile(noteFile, []byte(note.Body))
	j.writeReports(of, file, path, "")
	if !j.pipeline.Kind.OfMergeRequest() || j.flags.note == noteNone {
		return
	}
	if url := j.post(ctx, note); url != "" {
		j.writeReports(of, file, path, url)
	}
}

// writeFile writes one of a job's reports. What cannot be written is told and changes
// nothing else.
func (j ciJob) writeFile(name string, content []byte) {
	if err := writeWhole(filepath.Join(j.flags.out, name), content); err != nil {
		fmt.Fprintf(j.stderr, "report  %v\n", harmless(err))
	}
}
