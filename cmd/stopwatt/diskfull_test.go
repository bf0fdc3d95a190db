package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// full is a disk that takes nothing more once it is said to be so.
type full struct{ now bool }

func (f *full) sync(file *os.File) error {
	if f.now {
		return &os.PathError{Op: "sync", Path: file.Name(), Err: syscall.ENOSPC}
	}
	return file.Sync()
}

func TestTrialsGoToTheDatabaseAloneWhereTheDiskIsFull(t *testing.T) {
	t.Parallel()
	s, disk := strike(t), &full{}
	s.sync = disk.sync
	run, err := s.run(map[int]func(){3: func() { disk.now = true }})
	if err != nil {
		t.Errorf("error %v", err)
	}
	if len(s.told) != 1 || !strings.Contains(s.told[0], "go to the database alone") || !strings.Contains(s.told[0], "no space left on device") {
		t.Errorf("told %q; want it once, with the reason", s.told)
	}
	s.whole(run)
}

func TestATrialThatNeitherDiskNorDatabaseTakesEndsTheRunAndIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	s, disk := strike(t), &full{}
	s.sync = disk.sync
	run, err := s.run(map[int]func(){3: func() { disk.now = true; s.wire.cut(true) }})
	var known failure
	if !errors.As(err, &known) || known.status != exitSurroundings {
		t.Errorf("error %v; want one of the surroundings", err)
	}
	for _, words := range []string{"no space left on device", "make room in " + s.folder, "the same command goes on"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v does not say %q", err, words)
		}
	}
	disk.now = false
	s.wire.cut(false)
	if trials, err := s.open(s.dsn).Trials(t.Context(), run.ID); err != nil || len(trials) != 2 {
		t.Errorf("%d trials are stored, error %v; want the 2 from before", len(trials), err)
	}
	s.store.Close() // the command has ended
	s.store = s.open(s.wired)
	again, err := s.run(nil)
	if err != nil || again.ID != run.ID {
		t.Errorf("run %d, error %v; want that run %d goes on", again.ID, err, run.ID)
	}
	s.whole(again)
}
