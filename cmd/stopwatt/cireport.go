package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/runfile"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// The files that GitLab reads from a job's report folder; templates/benchmark.yml
// names them too.
const (
	noteFile        = "note.md"
	junitFile       = "junit.xml"
	metricsFile     = "metrics.txt"
	codeQualityFile = "codequality.json"
	annotationsFile = "annotations.json"
	dotenvFile      = "stopwatt.env"
	runFile         = "run.jsonl" // where history is not kept
)

// writeRun writes a run whole, for `stopwatt import`, where the database does not last.
func (j ciJob) writeRun(ctx context.Context, store *storage.Store, run int64) {
	var content bytes.Buffer
	out := runfile.NewWriter(&content)
	err := out.Begin()
	if err == nil {
		err = exportRun(ctx, store, out, run)
	}
	if err != nil {
		fmt.Fprintf(j.stderr, "report  %s: %v\n", runFile, harmless(err))
		return
	}
	j.writeFile(runFile, content.Bytes())
	fmt.Fprintf(j.stderr, "kept    history is not kept: %s\n", j.notKept())
}

// writeReports writes what GitLab shows beside a note. noteURL is empty where there is
// none.
func (j ciJob) writeReports(of report.NoteOf, file suiteFile, path, noteURL string) {
	var runs []stopwatt.Results
	for _, machine := range of.Machines {
		runs = append(runs, machine.Results)
	}
	lines := report.SuiteLines{Path: path}
	if text, err := readAtMost(file.path, mostSuite); err == nil {
		lines.Implementations, lines.Workloads = jobs.Lines(text)
	}
	for name, write := range map[string]func(io.Writer) error{
		junitFile:       func(w io.Writer) error { return report.JUnit(w, path, runs...) },
		metricsFile:     func(w io.Writer) error { return report.OpenMetrics(w, runs...) },
		codeQualityFile: func(w io.Writer) error { return report.CodeQuality(w, lines, runs...) },
		annotationsFile: func(w io.Writer) error { return report.Annotations(w, of.Links, noteURL) },
		dotenvFile:      func(w io.Writer) error { return report.Dotenv(w, of) },
	} {
		var content bytes.Buffer
		if err := write(&content); err != nil {
			fmt.Fprintf(j.stderr, "report  %s: %v\n", name, harmless(err))
			continue
		}
		j.writeFile(name, content.Bytes())
	}
}

// fromTop is the suite file's path from the top of the checkout, where the reader of a
// note stands, with slashes.
func (c checkout) fromTop(file suiteFile) string {
	if c.repo == nil {
		return filepath.ToSlash(file.path)
	}
	path, err := filepath.Rel(c.repo.Top(), filepath.Join(file.folder, filepath.Base(file.path)))
	if err != nil {
		return filepath.ToSlash(file.path)
	}
	return filepath.ToSlash(path)
}
