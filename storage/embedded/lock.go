package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// The two ways of holding a lock.
const (
	shared    = syscall.LOCK_SH
	exclusive = syscall.LOCK_EX
)

// A heldLock is a file that is locked with flock, which the kernel lets go
// when the process ends, however it ends.
type heldLock struct{ file *os.File }

// release lets the lock go at once, also where a process that is just being
// started holds a copy of the descriptor.
func (l heldLock) release() {
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN) // closing lets it go as well
	_ = l.file.Close()                                   // nothing was written
}

// tryLock takes the lock if nobody is in the way.
func tryLock(path string, how int) (heldLock, bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return heldLock{}, false, fmt.Errorf("open lock: %w; the data folder is another user's: make it yours with chown -R, or name another in XDG_DATA_HOME, or a database with --db", err)
	}
	if err != nil {
		return heldLock{}, false, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return heldLock{file}, true, nil
	}
	_ = file.Close() // nothing was written
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return heldLock{}, false, nil
	}
	return heldLock{}, false, fmt.Errorf("lock %s: %w", path, err)
}

// lock takes the lock, waiting until ctx ends for those in the way.
func lock(ctx context.Context, path string, how int) (heldLock, error) {
	for {
		held, ok, err := tryLock(path, how)
		if ok || err != nil {
			return held, err
		}
		select {
		case <-ctx.Done():
			return heldLock{}, fmt.Errorf("wait for lock %s: %w", path, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// taken tells whether somebody holds the lock exclusively.
func taken(path string) bool {
	held, ok, err := tryLock(path, shared)
	if ok {
		held.release()
	}
	return !ok && err == nil
}
