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
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// A field is a number of a stopwatt.Usage: its name there, and its place.
type field struct {
	name  string
	place func(*stopwatt.Usage) *int64
	rises bool // it never goes back while its cgroup lives
}

var (
	cpu           = field{"CPU", func(u *stopwatt.Usage) *int64 { return &u.CPU }, true}
	cpuUser       = field{"CPUUser", func(u *stopwatt.Usage) *int64 { return &u.CPUUser }, true}
	cpuSystem     = field{"CPUSystem", func(u *stopwatt.Usage) *int64 { return &u.CPUSystem }, true}
	memoryCurrent = field{"MemoryCurrent", func(u *stopwatt.Usage) *int64 { return &u.MemoryCurrent }, false}
	memoryPeak    = field{"MemoryPeak", func(u *stopwatt.Usage) *int64 { return &u.MemoryPeak }, true}
)

// A column is one number in a file.
type column struct {
	field field
	key   string // before the number; empty when the file is the number
	scale int64  // to the field's unit
}

// A file is a file of a cgroup and what stands in it.
type file struct {
	name    string
	needs   string // which Linux brought it, for the one who lacks it
	columns []column
}

// cpuacct counts the total in nanoseconds as the scheduler does; its user and
// system parts are counted in ticks of the clock (4 ms at 250 Hz), so that the
// two need not add up to the total.
var cpuFilesV1 = []file{
	{"cpuacct.usage", "", []column{{cpu, "", 1}}},
	{"cpuacct.usage_user", "Linux 4.7", []column{{cpuUser, "", 1}}},
	{"cpuacct.usage_sys", "Linux 4.7", []column{{cpuSystem, "", 1}}},
}

// cpu.stat is in microseconds, and there without any controller.
var cpuFilesV2 = []file{
	{"cpu.stat", "", []column{{cpu, "usage_usec", 1000}, {cpuUser, "user_usec", 1000}, {cpuSystem, "system_usec", 1000}}},
}

var memoryFilesV1 = []file{
	{"memory.usage_in_bytes", "", []column{{memoryCurrent, "", 1}}},
	{"memory.max_usage_in_bytes", "", []column{{memoryPeak, "", 1}}},
}

var memoryFilesV2 = []file{
	{"memory.current", "", []column{{memoryCurrent, "", 1}}},
	{"memory.peak", "Linux 5.19", []column{{memoryPeak, "", 1}}},
}

// An Account is what a container's cgroup counts. Its files are opened once and
// held, so that a reading costs a pread each. It is for one goroutine at a time.
type Account struct {
	held   []held
	absent map[string]string // field to reason, from the start
	buffer [4096]byte        // of one file; cpu.stat has some 300 bytes
	usage  stopwatt.Usage    // the last reading; kept here so that a reading allocates nothing
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
// without any.
func (h Host) Account(pid int) (*Account, error) {
	s, err := h.look(pid)
	if err != nil {
		return nil, fmt.Errorf("account of process %d: %w", pid, err)
	}
	a := &Account{absent: map[string]string{}}
	a.open(s, "cpuacct", cpuFilesV1, cpuFilesV2)
	a.open(s, "memory", memoryFilesV1, memoryFilesV2)
	if len(a.held) == 0 {
		reasons := slices.Compact(slices.Sorted(maps.Values(a.absent)))
		return nil, fmt.Errorf("account of process %d: %s", pid, strings.Join(reasons, "; "))
	}
	a.missTheRest()
	return a, nil
}

// missTheRest marks as absent what no file of this account tells, so that
// nothing that was never read can look like a 0.
func (a *Account) missTheRest() {
	for _, name := range stopwatt.UsageFields {
		held := slices.ContainsFunc(a.held, func(h held) bool {
			return slices.ContainsFunc(h.columns, func(c column) bool { return c.field.name == name })
		})
		if !held && a.absent[name] == "" {
			a.absent[name] = "it is not accounted for here"
		}
	}
}

// open opens the files of one controller. What cannot be opened is absent.
func (a *Account) open(s sight, controller string, v1, v2 []file) {
	group, err := s.locate(controller)
	files := v1
	if group.unified {
		files = v2
	}
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
		a.absent[column.field.name] = reason
	}
}

// missing says why a file of a cgroup could not be opened.
func (h Host) missing(group cgroup, f file, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(group.dir); err != nil {
		return fmt.Errorf("its cgroup is not to be seen at %s: it has ended, or the host's /sys/fs/cgroup is not mounted here", group.dir)
	}
	memory := f.columns[0].field.name == memoryCurrent.name || f.columns[0].field.name == memoryPeak.name
	if _, err := os.Stat(filepath.Join(group.dir, "memory.current")); memory && group.unified && err != nil {
		return h.controllerOff("memory")
	}
	if f.needs != "" {
		return fmt.Errorf("%s needs %s; this is %s", f.name, f.needs, h.kernel())
	}
	return fmt.Errorf("this cgroup has no %s", f.name)
}

// Read reads every file once. It never fails: what could not be read is named
// in Absent with the reason.
func (a *Account) Read() stopwatt.Usage {
	a.usage = stopwatt.Usage{}
	for name, reason := range a.absent {
		lack(&a.usage, name, reason)
	}
	for i := range a.held {
		a.held[i].read(a.buffer[:], &a.usage)
	}
	return a.usage
}

// Close closes the files.
func (a *Account) Close() error {
	var errs []error
	for _, h := range a.held {
		errs = append(errs, h.open.Close())
	}
	return errors.Join(errs...)
}

// read reads one file into a usage.
func (h *held) read(buffer []byte, usage *stopwatt.Usage) {
	n, err := syscall.Pread(int(h.open.Fd()), buffer, 0)
	for i, column := range h.columns {
		value, err := int64(0), err
		if err == nil {
			value, err = column.parse(buffer[:n])
		}
		if err == nil {
			err = h.believe(i, value)
		}
		if err != nil {
			lack(usage, column.field.name, h.explain(err))
			continue
		}
		*column.field.place(usage) = value
	}
}

// parse takes the column's number out of the file's text.
func (c column) parse(text []byte) (int64, error) {
	read := func() (int64, error) { return parseNumber(text) }
	if c.key != "" {
		read = func() (int64, error) { return parseKeyed(text, c.key) }
	}
	n, err := read()
	if err != nil {
		return 0, err
	}
	return scaled(n, c.scale)
}

// believe compares a number with the one before. A counter that went back once
// was reset, and no difference of its numbers means anything from then on.
func (h *held) believe(i int, value int64) error {
	if h.lost[i] == "" && h.columns[i].field.rises && value < h.last[i] {
		h.lost[i] = fmt.Sprintf("it went back from %d to %d", h.last[i], value)
	}
	if h.lost[i] != "" {
		return errors.New(h.lost[i])
	}
	h.last[i] = value
	return nil
}

// explain turns an error of a reading into a reason.
func (h *held) explain(err error) string {
	switch {
	case errors.Is(err, syscall.ENODEV):
		return "its container has ended, and its counters with it"
	case errors.Is(err, syscall.EBADF):
		return "its account was closed"
	}
	return fmt.Sprintf("%s: %v", h.name, err)
}

// lack names a field as absent.
func lack(usage *stopwatt.Usage, name, reason string) {
	if usage.Absent == nil {
		usage.Absent = map[string]string{}
	}
	usage.Absent[name] = reason
}
