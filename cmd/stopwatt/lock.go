package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a stopwatt that waits for another looks again.
const lockPoll = 200 * time.Millisecond

// lockMachine makes sure that this stopwatt alone builds and measures on this
// machine, and waits for another one that does. The lock goes with the process.
func (d *desk) lockMachine(ctx context.Context) (release func(), err error) {
	path := d.lockFile()
	// Others' stopwatts lock the same file, whoever they are.
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, surroundings(fmt.Errorf("lock the machine: %w; name another file by STOPWATT_LOCK, the same for all who measure here", err))
	}
	_ = file.Chmod(0o666) // whatever the umask; if it is not ours, its owner's stopwatt has done it
	told := false
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil // nothing is ever written to it
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close() // nothing is ever written to it
			return nil, surroundings(fmt.Errorf("lock the machine with %s: %w", path, err))
		}
		if !told {
			fmt.Fprintf(d.stderr, "wait    another stopwatt measures on this machine (it holds %s)\n", path)
			told = true
		}
		select {
		case <-ctx.Done():
			_ = file.Close() // nothing is ever written to it
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// lockFile is $STOPWATT_LOCK, else one place for all users of this machine.
func (d *desk) lockFile() string {
	if path := d.getenv("STOPWATT_LOCK"); path != "" {
		return path
	}
	const folder = "/run/lock"
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return filepath.Join(folder, "stopwatt.lock")
	}
	return filepath.Join(os.TempDir(), "stopwatt.lock")
}
