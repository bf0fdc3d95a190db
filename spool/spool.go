// Package spool keeps finished trials on disk until the database has them.
//
// It knows no database, and does not decide what is worth another attempt: the
// one who delivers says so.
package spool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process has the queue of a run: it delivers by itself.
var ErrInUse = errors.New("another process has it")

// A Spool is a folder with one folder for each run of which something waits.
type Spool struct {
	Folder string
	// Sync makes what was written last: (*os.File).Sync where it is nil.
	Sync Syncer
}

// A Syncer returns when what was written to a file outlives the machine's power.
type Syncer func(*os.File) error

// Runs are the names of the folders in which something waits, or was set aside,
// in their order. None is no error.
func (s Spool) Runs() ([]string, error) {
	entries, err := os.ReadDir(s.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look into the spool: %w", err)
	}
	var runs []string
	for _, entry := range entries {
		if entry.IsDir() {
			runs = append(runs, entry.Name())
		}
	}
	return runs, nil
}

// Queue opens the queue of a run, by its key, and makes it where there is none.
// While another process has it, it waits.
func (s Spool) Queue(ctx context.Context, key string) (*Queue, error) {
	for {
		if err := s.makeFolders(folderOf(key)); err != nil {
			return nil, fmt.Errorf("make the spool: %w", err)
		}
		queue, err := s.Open(folderOf(key))
		if err == nil {
			queue.run = key
			return queue, nil
		}
		if !errors.Is(err, ErrInUse) && !errors.Is(err, fs.ErrNotExist) { // the one who had it removed it
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(lookAgain):
		}
	}
}

// lookAgain is how often a queue is asked for that another process has.
const lookAgain = 20 * time.Millisecond

// makeFolders makes the folder of a run, closed to others: what is measured is
// nobody else's. It is there for good when the folders above say so.
func (s Spool) makeFolders(name string) error {
	folder := filepath.Join(s.Folder, name)
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, above := range []string{s.Folder, filepath.Dir(s.Folder)} {
		if err := s.syncFolder(above); err != nil {
			return err
		}
	}
	return nil
}

// safe are keys that may be names of folders as they are.
var safe = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// folderOf is the name of a run's folder.
func folderOf(key string) string {
	if safe.MatchString(key) {
		return key
	}
	return fmt.Sprintf("run-%x", sha256.Sum256([]byte(key)))
}

// Open opens the queue in a folder that Runs has named. While another process
// has it, the error is ErrInUse.
func (s Spool) Open(name string) (*Queue, error) {
	path := filepath.Join(s.Folder, name)
	folder, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	queue := &Queue{spool: s, path: path, lock: folder}
	if err := queue.begin(); err != nil {
		_ = folder.Close() // nothing is ever written to it
		return nil, fmt.Errorf("open the spool %s: %w", path, err)
	}
	return queue, nil
}

// begin claims the folder for this process, as long as it lives, and removes
// what a killed one had begun to write.
func (q *Queue) begin() error {
	if err := unix.Flock(int(q.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return ErrInUse
		}
		return err
	}
	ours, err := q.lock.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(q.path); err != nil || !os.SameFile(ours, there) {
		return fs.ErrNotExist // removed by the one who had it before
	}
	names, err := q.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, part) {
			if err := os.Remove(filepath.Join(q.path, name)); err != nil {
				return err
			}
		}
		q.last = max(q.last, number(name))
	}
	return nil
}

// names are the files of the folder, in the order in which they were put there.
func (q *Queue) names() ([]string, error) {
	entries, err := os.ReadDir(q.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names, nil
}

// syncFolder makes a folder's entries last.
func (s Spool) syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close() // which was only read from
	return s.sync(folder)
}

// sync makes a file last. A file system that cannot do that for folders has said
// all it can.
func (s Spool) sync(file *os.File) error {
	sync := s.Sync
	if sync == nil {
		sync = (*os.File).Sync
	}
	if err := sync(file); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
