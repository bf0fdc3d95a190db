package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt/spool"
)

// tiny is a folder on a disk of 64 KiB. That takes root, and a kernel that lets it mount.
func tiny(t *testing.T) string {
	t.Helper()
	at := t.TempDir()
	if err := unix.Mount("tiny", at, "tmpfs", 0, "size=64k"); err != nil {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			t.Fatalf("a disk of the test's own: %v", err)
		}
		t.Skipf("a disk of the test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return at
}

func TestADiskThatIsFullTakesNothingByHalves(t *testing.T) {
	t.Parallel()
	s := spool.Spool{Folder: filepath.Join(tiny(t), "spool")}
	queue := open(t, s, "run")
	kept, err := 0, error(nil)
	for err == nil && kept < 1000 {
		if err = queue.Put(trial(kept + 1)); err == nil {
			kept++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "spool the trial: ") || kept == 0 {
		t.Fatalf("%d trials were kept, error %v; want some, and that there is no space left", kept, err)
	}
	files, err := os.ReadDir(queue.Path())
	if err != nil || len(files) != kept {
		t.Errorf("%d files for %d trials, error %v: what was begun stays", len(files), kept, err)
	}
	delivered := 0
	if _, err := queue.Deliver(func(_ string, item spool.Item) error {
		if delivered++; item.Trial.Round != delivered {
			t.Errorf("round %d comes as number %d", item.Trial.Round, delivered)
		}
		return nil
	}); err != nil || delivered != kept {
		t.Errorf("%d of %d are delivered, error %v", delivered, kept, err)
	}
	if err := queue.Put(trial(1)); err != nil { // there is room again
		t.Error(err)
	}
}
