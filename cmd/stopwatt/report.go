package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// writeReport writes the report folder of a run and returns where it lies.
func (d *desk) writeReport(results stopwatt.Results, contrast stopwatt.Contrast, trials []stopwatt.Trial, out string) (string, error) {
	folder := d.reportFolder(results.Run.ID, out)
	files, err := report.Folder(results, contrast, trials)
	if err != nil {
		return "", err
	}
	if err := makeReportFolder(folder); err != nil {
		return "", err
	}
	for name, content := range files {
		if err := writeWhole(filepath.Join(folder, name), content); err != nil {
			return "", surroundings(fmt.Errorf("write the report: %w; the results are stored, stopwatt show %d prints them", err, results.Run.ID))
		}
	}
	return filepath.Join(folder, report.Page), nil
}

// makeReportFolder makes the folder, and tells git to overlook it: a report
// must not make the tree dirty that the next run measures, nor become part of a
// build context.
func makeReportFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return surroundings(fmt.Errorf("make the report folder: %w", err))
	}
	if err := writeWhole(filepath.Join(folder, ".gitignore"), []byte("*\n")); err != nil {
		return surroundings(fmt.Errorf("write into the report folder: %w", err))
	}
	return nil
}

// reportFolder is where the report of a run goes: where it was asked for, in a
// pipeline into the job's folder, else below the data folder.
func (d *desk) reportFolder(run int64, out string) string {
	switch {
	case out != "":
		return out
	case d.inCI():
		return "stopwatt-report"
	}
	return filepath.Join(d.dataFolder(), "reports", strconv.FormatInt(run, 10))
}

// writeWhole writes a file beside its place and moves it there, so that nobody
// reads half of it, a full disk notwithstanding.
func writeWhole(path string, content []byte) error {
	part := path + ".part"
	err := os.WriteFile(part, content, 0o644)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part) // what is left of it
	}
	return err
}
