package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

// pipelineName is the file that a GitLab pipeline includes.
const pipelineName = "stopwatt.ci.yml"

// initVerb is `stopwatt init`.
func (d *desk) initVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a starter stopwatt.yml, and stopwatt.ci.yml for GitLab",
		Long: `Looks for Dockerfiles in this folder and one below, and for their EXPOSE lines,
and writes a commented stopwatt.yml, and a stopwatt.ci.yml that a GitLab pipeline
may include. Asks nothing and overwrites nothing.`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error { return d.init() },
	}
}

// init writes the starter files into the current folder.
func (d *desk) init() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	found, err := dockerfiles(here)
	if err != nil {
		return err
	}
	within := withinCheckout(here)
	suite, err := writeNew(suiteName, jobs.Starter(found))
	if err != nil {
		return err
	}
	pipeline, err := writeNew(pipelineName, jobs.StarterPipeline(path.Join(within, suiteName)))
	if err != nil {
		return err
	}
	if !suite && !pipeline {
		return askedWrongly(fmt.Errorf("%s and %s are here already and stay as they are; stopwatt check reads the suite", suiteName, pipelineName))
	}
	d.tellWritten(suiteName, suite, fmt.Sprintf("%d implementations found", len(found.Folders)))
	d.tellWritten(pipelineName, pipeline, fmt.Sprintf("in .gitlab-ci.yml, which was not touched: include: {local: %s}", path.Join(within, pipelineName)))
	fmt.Fprintln(d.stdout, "next  fill in the lines marked TODO, then: stopwatt check && stopwatt run")
	return nil
}

// writeNew writes a file, and tells whether it did: one that is there stays.
func writeNew(name string, text []byte) (written bool, err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, surroundings(fmt.Errorf("write %s: %w", name, err))
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return false, surroundings(fmt.Errorf("write %s: %w", name, err))
	}
	return true, nil
}

// tellWritten says what became of a file, and what there is to say of a new one.
func (d *desk) tellWritten(name string, written bool, about string) {
	if written {
		fmt.Fprintf(d.stdout, "wrote %-17s%s\n", name, about)
		return
	}
	fmt.Fprintf(d.stdout, "kept  %-17sit is here already and stays as it is\n", name)
}

// withinCheckout is where a folder lies below the one with .git, with slashes; "."
// where there is none above it. Jobs run at the top of the checkout.
func withinCheckout(folder string) string {
	for top := folder; ; top = filepath.Dir(top) {
		if _, err := os.Stat(filepath.Join(top, ".git")); err == nil {
			within, err := filepath.Rel(top, folder)
			if err != nil {
				return "."
			}
			return filepath.ToSlash(within)
		}
		if top == filepath.Dir(top) {
			return "."
		}
	}
}

// dockerfiles finds the Dockerfiles of a folder and of the folders in it.
func dockerfiles(folder string) (jobs.Found, error) {
	found := jobs.Found{Suite: filepath.Base(folder)}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return found, fmt.Errorf("look round: %w", err)
	}
	places := []string{"."}
	for _, entry := range entries {
		if entry.IsDir() {
			places = append(places, entry.Name())
		}
	}
	for _, place := range places {
		text, err := readDockerfile(filepath.Join(folder, place, "Dockerfile"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return found, fmt.Errorf("look round: %w", err)
		}
		port, _ := jobs.Exposed(text)
		found.Folders = append(found.Folders, jobs.FoundFolder{Path: place, Port: port})
	}
	return found, nil
}
