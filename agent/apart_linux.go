package agent

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ownPeakReset is /proc/self/clear_refs, opened while this process still owned it.
var ownPeakReset *os.File

// KeepApart has the kernel keep this process from programs of its own user, which a
// timer starts and shares a PID namespace with: none of them can trace it, read or
// write its memory, or open its streams by /proc/1/fd to answer in its place (prctl(2),
// PR_SET_DUMPABLE). What it starts itself can be looked into again.
func KeepApart() error {
	ownPeakReset, _ = os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0) // its files are root's from now on
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep apart from programs: %w", err)
	}
	return nil
}

// openRegular opens a file that a stranger has made: to open a pipe would wait until
// somebody writes to it.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		_ = file.Close() // nothing was read
		return nil, err
	}
	return file, nil
}
