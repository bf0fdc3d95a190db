package meter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// threads are those of one container. The kernel keeps the two kinds of
// context switches in each thread alone, and forgets them when it ends.
type threads struct {
	host   Host
	dir    string // a cgroup of the container, whichever hierarchy it is of
	list   string // the file in it that names the threads
	seen   map[int]bool
	ended  int64
	closed bool
	buffer [4096]byte // a thread's status has some 1,500 bytes
}

// threadFields are the numbers that the threads tell.
var threadFields = []string{"SwitchesVoluntary", "SwitchesInvoluntary", "ThreadCPU", "ThreadsEnded"}

// openThreads finds where the container's threads are listed.
func (a *Account) openThreads(s sight) {
	group, err := s.locateUnified()
	list := "cgroup.threads"
	if err != nil {
		group, err = s.locate("cpuacct")
		list = "tasks"
	}
	if err != nil {
		for _, name := range threadFields {
			a.absent[name] = err.Error()
		}
		return
	}
	a.threads = &threads{host: s.host, dir: group.dir, list: list}
}

// read sums up what the threads that live now have counted. A sweep costs some
// 20 µs a thread: it is for the edges of a window.
func (t *threads) read(usage *stopwatt.Usage) {
	if t == nil {
		return
	}
	ids, err := t.ids()
	if err != nil {
		for _, name := range threadFields {
			usage.Absent[name] = err.Error()
		}
		return
	}
	living := make(map[int]bool, len(ids))
	for _, id := range ids {
		if t.add(id, usage) {
			living[id] = true
		}
	}
	for id := range t.seen {
		if !living[id] {
			t.ended++
		}
	}
	t.seen, usage.ThreadsEnded = living, t.ended
}

// add adds what one thread has counted, unless it has ended.
func (t *threads) add(id int, usage *stopwatt.Usage) bool {
	text, err := t.file(id, "status")
	if err != nil {
		return false
	}
	voluntary, involuntary, err := parseSwitches(text)
	if err != nil {
		usage.Absent["SwitchesVoluntary"], usage.Absent["SwitchesInvoluntary"] = err.Error(), err.Error()
	}
	usage.SwitchesVoluntary += voluntary
	usage.SwitchesInvoluntary += involuntary
	text, err = t.file(id, "schedstat")
	ran := int64(0)
	if err == nil {
		ran, err = parseRuntime(text)
	}
	if err != nil {
		usage.Absent["ThreadCPU"] = fmt.Sprintf("/proc/%d/schedstat: %v", id, err)
	}
	usage.ThreadCPU += ran
	return true
}

// file reads a file of one thread into the buffer.
func (t *threads) file(id int, name string) ([]byte, error) {
	fd, err := syscall.Open(t.host.path("proc", strconv.Itoa(id), name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd) // which was only read from
	n, err := syscall.Read(fd, t.buffer[:])
	return t.buffer[:max(n, 0)], err
}

// ids lists the threads of the container's cgroup and of those that it has
// made below.
func (t *threads) ids() ([]int, error) {
	if t.closed {
		return nil, errClosed
	}
	var ids []int
	err := filepath.WalkDir(t.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(name, t.list))
		if err != nil {
			return err
		}
		more, err := parseIDs(text)
		ids = append(ids, more...)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil, errEnded
	}
	return ids, err
}

// close lets the threads be read no more.
func (t *threads) close() {
	if t != nil {
		t.closed = true
	}
}

// parseIDs understands a list of threads, one a line. The kernel writes 0 for
// one that the reader's PID namespace does not show.
func parseIDs(text []byte) ([]int, error) {
	var ids []int
	for line := range bytes.Lines(text) {
		id, err := parseNumber(line)
		if err != nil {
			return nil, err
		}
		if id == 0 {
			return nil, errors.New("its threads cannot be seen from this PID namespace: run stopwatt on the host, or its container with --pid=host")
		}
		ids = append(ids, int(id))
	}
	return ids, nil
}

// parseSwitches takes both kinds of context switches from /proc/PID/status, as
// in proc_pid_status(5).
func parseSwitches(text []byte) (voluntary, involuntary int64, err error) {
	found := 0
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(":\t"))
		switch string(name) {
		case "voluntary_ctxt_switches":
			voluntary, err = parseNumber(value)
		case "nonvoluntary_ctxt_switches":
			involuntary, err = parseNumber(value)
		default:
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		found++
	}
	if found != 2 {
		return 0, 0, errors.New("a thread's status tells no context switches")
	}
	return voluntary, involuntary, nil
}

// parseRuntime takes the nanoseconds on a CPU from /proc/PID/schedstat, as in
// the kernel's scheduler/sched-stats.rst: "ran waited timeslices".
func parseRuntime(text []byte) (int64, error) {
	ran, _, _ := bytes.Cut(text, []byte(" "))
	return parseNumber(ran)
}
