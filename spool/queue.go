package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrRefused is wrapped by those who are given an item and will never take it:
// it is set aside.
var ErrRefused = errors.New("refused")

const (
	part    = ".part-"   // begins the name of a file that is being written
	waits   = ".item"    // ends that of one that waits
	broken  = ".broken"  // is put behind that of one that is not as it was written
	refused = ".refused" // and behind that of one that the database does not take
)

// A Queue is what waits of one run, in the order in which it came. It belongs to
// one process at a time, and to one goroutine of it.
type Queue struct {
	spool Spool
	run   string // its key; empty until one of its files has told it
	path  string
	lock  *os.File
	last  int // number of the last file
}

// Path is the folder in which it waits.
func (q *Queue) Path() string { return q.path }

// Put keeps an item. When it returns, the item outlives the process and the
// machine's power.
func (q *Queue) Put(item Item) error {
	text, err := encode(q.run, item)
	if err != nil {
		return fmt.Errorf("spool the %s: %w", item.kind(), err)
	}
	name := fmt.Sprintf("%08d-%s%s", q.last+1, item.kind(), waits)
	if err := q.write(name, text); err != nil {
		return fmt.Errorf("spool the %s: %w", item.kind(), err)
	}
	q.last++
	return nil
}

// write makes a file that is there whole or not at all.
func (q *Queue) write(name string, text []byte) error {
	temporary := filepath.Join(q.path, part+name)
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = q.spool.sync(file)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, filepath.Join(q.path, name)); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return q.spool.syncFolder(q.path)
}

// Waiting counts what waits, and how many trials are among it.
func (q *Queue) Waiting() (items, trials int, err error) {
	names, err := q.waiting()
	for _, name := range names {
		if strings.HasSuffix(name, "-trial"+waits) {
			trials++
		}
	}
	return len(names), trials, err
}

// waiting are the names of the files that wait, the first first.
func (q *Queue) waiting() ([]string, error) {
	names, err := q.names()
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, name := range names {
		if strings.HasSuffix(name, waits) && number(name) > 0 {
			waiting = append(waiting, name)
		}
	}
	return waiting, nil
}

// number is where a file stands in the order; 0 for one that is none of ours.
func number(name string) int {
	var n int
	if _, err := fmt.Sscanf(name, "%d-", &n); err != nil {
		return 0
	}
	return max(n, 0)
}

// A Delivery is what came of one attempt.
type Delivery struct {
	Items, Trials int      // that were taken
	Aside         []string // files that were set aside, each with the reason
}

// Deliver gives what waits to take, in its order, with the key of the run, and removes
// what was taken. It ends at the first error, unless that is ErrRefused: what will
// never be taken, and what is not as it was written, is set aside under another
// name, and the rest goes on.
func (q *Queue) Deliver(take func(run string, item Item) error) (Delivery, error) {
	var delivery Delivery
	names, err := q.waiting()
	if err != nil {
		return delivery, fmt.Errorf("look into the spool: %w", err)
	}
	for _, name := range names {
		item, err := q.deliverOne(name, take)
		switch {
		case errors.Is(err, errBroken):
			err = q.setAside(&delivery, name, broken, err)
		case errors.Is(err, ErrRefused):
			err = q.setAside(&delivery, name, refused, err)
		case err == nil:
			delivery.Items++
			if item.Trial != nil {
				delivery.Trials++
			}
		}
		if err != nil {
			return delivery, err
		}
	}
	return delivery, nil
}

// deliverOne reads one file, gives it to take, and removes it.
func (q *Queue) deliverOne(name string, take func(string, Item) error) (Item, error) {
	path := filepath.Join(q.path, name)
	run, item, err := read(path)
	if err != nil {
		return item, err
	}
	if folderOf(run) != filepath.Base(q.path) {
		return item, fmt.Errorf("%w: it belongs to another run", errBroken)
	}
	q.run = run
	if err := take(run, item); err != nil {
		return item, err
	}
	return item, os.Remove(path)
}

// read reads one file, and does not wait where somebody has put a pipe.
func read(path string) (run string, item Item, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return "", Item{}, fmt.Errorf("%w: it is a link", errBroken)
	}
	if err != nil {
		return "", Item{}, err
	}
	defer file.Close() // which was only read from
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", Item{}, fmt.Errorf("%w: it is no file", errBroken)
	}
	return decode(file)
}

// setAside gives a file another name, so that it is kept and not tried again.
func (q *Queue) setAside(delivery *Delivery, name, why string, reason error) error {
	to := filepath.Join(q.path, name+why)
	if err := os.Rename(filepath.Join(q.path, name), to); err != nil {
		return err
	}
	delivery.Aside = append(delivery.Aside, fmt.Sprintf("%s: %v", to, reason))
	return nil
}

// Aside are the paths of the files that were set aside, now or before.
func (q *Queue) Aside() ([]string, error) {
	names, err := q.names()
	var aside []string
	for _, name := range names {
		if strings.HasSuffix(name, broken) || strings.HasSuffix(name, refused) {
			aside = append(aside, filepath.Join(q.path, name))
		}
	}
	return aside, err
}

// Close gives the queue free, and removes its folder where nothing is left in it.
func (q *Queue) Close() error {
	_ = os.Remove(q.path) // fails where something is left
	return q.lock.Close()
}
