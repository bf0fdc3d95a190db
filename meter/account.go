package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// An Account is what a container's cgroup, its threads and the perf events of
// its cgroup count. The cgroup's files are opened once and held, so that a
// reading costs a pread each.
type Account struct {
	mu      sync.Mutex // an edge is read by one goroutine while another samples
	held    []held
	events  []perfCounter
	threads *threads
	absent  map[string]string // field to reason, from the start
	buffer  [4096]byte        // of one file; cpu.stat has some 300 bytes
}

// held is an open file and what was last read from it.
type held struct {
	file
	open *os.File
	last []int64  // by column
	lost []string // by column: why it is no longer believed
}

// Account opens the accounting of the container that a process runs in: PID is
// its first process, as the Docker Engine on this machine names it. A number
// that cannot be had is left to Read to explain; the error is for a process
// without any. Where the container's cgroup lies in a parent of ours, the
// parent's numbers are read, which are the same and remain when the container
// has ended; all but its quota's.
func (h Host) Account(pid int) (*Account, error) {
	s, err := h.look(pid)
	if err != nil {
		return nil, fmt.Errorf("account of process %d: %w", pid, err)
	}
	return s.account()
}

// account opens everything that can be seen.
func (s sight) account() (*Account, error) {
	a := &Account{absent: map[string]string{}}
	a.open(s, "cpu", quotaFiles, quotaFiles)
	s.parent = s.belowOurs()
	a.openCPU(s)
	a.open(s, "memory", memoryFilesV1, memoryFilesV2)
	a.open(s, "pids", pidsFiles, pidsFiles)
	ioV1, ioV2 := ioFiles(s.host.stacked())
	a.open(s, "blkio", ioV1, ioV2)
	if len(a.held) == 0 {
		reasons := slices.Compact(slices.Sorted(maps.Values(a.absent)))
		return nil, fmt.Errorf("account of process %d: %s", s.pid, strings.Join(reasons, "; "))
	}
	unified, err := s.locateUnified()
	a.openFiles(s, unified, err, pressureFiles)
	a.openThreads(s)
	a.openEvents(s)
	return a, nil
}

// openCPU opens the CPU time. On a hybrid machine v1 has the total to the
// nanosecond, but its split in ticks; the unified hierarchy splits finer.
func (a *Account) openCPU(s sight) {
	group, err := s.locate("cpuacct")
	if err != nil || group.unified {
		a.openFiles(s, group, err, cpuFilesV2)
		return
	}
	a.openFiles(s, group, nil, cpuTotalV1)
	unified, err := s.locateUnified()
	if err == nil {
		_, err = os.Stat(filepath.Join(unified.dir, "cpu.stat"))
	}
	if err != nil {
		a.openFiles(s, group, nil, cpuSplitV1)
		return
	}
	a.openFiles(s, unified, nil, cpuSplitV2)
}

// open opens the files of one controller.
func (a *Account) open(s sight, controller string, v1, v2 []file) {
	group, err := s.locate(controller)
	files := v1
	if group.unified {
		files = v2
	}
	a.openFiles(s, group, err, files)
}

// openFiles opens files of one cgroup. What cannot be opened is absent.
func (a *Account) openFiles(s sight, group cgroup, err error, files []file) {
	for _, f := range files {
		if err != nil {
			a.miss(f, err.Error())
			continue
		}
		opened, openError := os.Open(filepath.Join(group.dir, f.name))
		if openError != nil {
			a.miss(f, s.host.missing(group, f, openError).Error())
			continue
		}
		n := len(f.columns)
		a.held = append(a.held, held{file: f, open: opened, last: make([]int64, n), lost: make([]string, n)})
	}
}

// miss marks everything in a file as absent.
func (a *Account) miss(f file, reason string) {
	for _, column := range f.columns {
		a.absent[column.field] = reason
	}
}

// missing says why a file of a cgroup could not be opened.
func (h Host) missing(group cgroup, f file, err error) error {
	pressure := strings.HasSuffix(f.name, ".pressure")
	switch {
	case pressure && errors.Is(err, syscall.EOPNOTSUPP):
		return errPressureOff
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !exists(group.dir):
		return fmt.Errorf("its cgroup is not to be seen at %s: it has ended, or the host's /sys/fs/cgroup is not mounted here", group.dir)
	case pressure:
		return errPressureOff
	case group.unified && !group.enabled(f.controller()):
		return h.controllerOff(f.controller())
	case f.needs != "":
		return fmt.Errorf("%s needs %s; this is %s", f.name, f.needs, h.kernel())
	}
	return fmt.Errorf("this cgroup has no %s", f.name)
}

// exists tells whether there is a file of this name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Read reads everything once. It never fails: what could not be read is named
// in Absent with the reason.
func (a *Account) Read() stopwatt.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	usage := stopwatt.Usage{Absent: maps.Clone(a.absent)}
	for i := range a.held {
		a.held[i].read(a.buffer[:], &usage)
	}
	for i := range a.events {
		a.events[i].read(&usage)
	}
	a.threads.read(&usage)
	return usage
}

// Number reads one number of the cgroup's files alone, by its name in
// stopwatt.UsageFields. It costs one pread and allocates nothing: for samplers.
// What threads and perf events count is not to be had in this way.
func (a *Account) Number(field string) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.held {
		for c, column := range a.held[i].columns {
			if column.field == field {
				return a.held[i].number(a.buffer[:], c)
			}
		}
	}
	if reason := a.absent[field]; reason != "" {
		return 0, errors.New(reason)
	}
	return 0, fmt.Errorf("%s is in no file of a cgroup", field)
}

// Close closes everything that is held.
func (a *Account) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, h := range a.held {
		errs = append(errs, h.open.Close())
	}
	for i := range a.events {
		errs = append(errs, a.events[i].close())
	}
	a.threads.close()
	return errors.Join(errs...)
}

// read reads one file into a usage.
func (h *held) read(buffer []byte, usage *stopwatt.Usage) {
	n, err := syscall.Pread(int(h.open.Fd()), buffer, 0)
	for i, column := range h.columns {
		value, err := h.value(i, buffer[:max(n, 0)], err)
		if err != nil {
			usage.Absent[column.field] = err.Error()
			continue
		}
		*usage.Place(column.field) = value
	}
}

// number reads one column of one file.
func (h *held) number(buffer []byte, column int) (int64, error) {
	n, err := syscall.Pread(int(h.open.Fd()), buffer, 0)
	return h.value(column, buffer[:max(n, 0)], err)
}

// value takes one column out of the text that was read, or says why there is
// no number.
func (h *held) value(i int, text []byte, readError error) (int64, error) {
	if readError != nil {
		return 0, h.explain(readError)
	}
	column := h.columns[i]
	n, err := column.parse(text)
	if err == nil {
		n, err = scaled(n, column.scale)
	}
	if err == nil {
		err = h.believe(i, n)
	}
	if err != nil {
		return 0, h.explain(err)
	}
	return n, nil
}

// believe compares a number with the one before. A counter that went back once
// was reset, and no difference of its numbers means anything from then on.
func (h *held) believe(i int, value int64) error {
	if h.lost[i] == "" && !falling[h.columns[i].field] && value < h.last[i] {
		h.lost[i] = fmt.Sprintf("it went back from %d to %d", h.last[i], value)
	}
	if h.lost[i] != "" {
		return errors.New(h.lost[i])
	}
	h.last[i] = value
	return nil
}

// errEnded and errClosed say why nothing more can be read.
var (
	errEnded  = errors.New("its container has ended, and its counters with it")
	errClosed = errors.New("its account was closed")
)

// explain turns an error of a reading into a reason.
func (h *held) explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENODEV):
		return errEnded
	case errors.Is(err, syscall.EBADF):
		return errClosed
	case errors.Is(err, syscall.EOPNOTSUPP):
		return errPressureOff
	}
	return fmt.Errorf("%s: %w", h.name, err)
}
