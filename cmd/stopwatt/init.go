package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

// initVerb is `stopwatt init`.
func (d *desk) initVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a starter stopwatt.yml",
		Long: `Looks for Dockerfiles in this folder and one below, and for their EXPOSE lines,
and writes a commented stopwatt.yml. Asks nothing and overwrites nothing.`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error { return d.init() },
	}
}

// init writes the starter suite into the current folder.
func (d *desk) init() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	found, err := dockerfiles(here)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(suiteName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return askedWrongly(fmt.Errorf("%s is here already and stays as it is; stopwatt check reads it", suiteName))
	}
	if err != nil {
		return surroundings(fmt.Errorf("write the suite: %w", err))
	}
	defer file.Close()
	if _, err := file.Write(jobs.Starter(found)); err != nil {
		return surroundings(fmt.Errorf("write the suite: %w", err))
	}
	fmt.Fprintf(d.stdout, "wrote %s        %d implementations found\n", suiteName, len(found.Folders))
	fmt.Fprintln(d.stdout, "next  fill in the lines marked TODO, then: stopwatt check && stopwatt run")
	return nil
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
		text, err := os.ReadFile(filepath.Join(folder, place, "Dockerfile"))
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
