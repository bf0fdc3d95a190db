package meter

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// VmstatColumns are the columns of vmstat(8), in its order.
var VmstatColumns = [...]string{"r", "b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy", "id", "wa", "st"}

// A VmstatRow is a line of vmstat(8) in base units, in the order of
// VmstatColumns: r and b are threads, the reading one left out; swpd, free,
// buff and cache are bytes; si, so, bi and bo bytes per second; in and cs per
// second; us, sy, id, wa and st shares of the time of all CPUs, from 0 to 1.
type VmstatRow [len(VmstatColumns)]float64

// A Vmstat reads the machine as vmstat(8) does. Its files are held open. It is
// for one goroutine at a time.
type Vmstat struct {
	host                  Host
	stat, memory, virtual heldText
	before                vmCounts
}

// A vmCounts is what stood in the files at one moment.
type vmCounts struct {
	at                               int64 // CLOCK_MONOTONIC, nanoseconds
	cpu                              stopwatt.CPUTimes
	interrupts, switches             int64
	running, blocked                 int64
	swapTotal, swapFree              int64 // KiB
	free, buffers, cached, reclaimed int64 // KiB
	swapIn, swapOut                  int64 // pages
	pagedIn, pagedOut                int64 // KiB
}

// Vmstat opens the files and reads them once, so that the first row is of the
// time from now on.
func (h Host) Vmstat() (*Vmstat, error) {
	v := &Vmstat{host: h}
	for name, text := range map[string]*heldText{"proc/stat": &v.stat, "proc/meminfo": &v.memory, "proc/vmstat": &v.virtual} {
		file, err := os.Open(h.path(name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("vmstat: %w", err), v.Close())
		}
		*text = heldText{file: file, buffer: make([]byte, 16<<10)}
	}
	if err := v.count(&v.before); err != nil {
		return nil, errors.Join(fmt.Errorf("vmstat: %w", err), v.Close())
	}
	return v, nil
}

// Read reads once: rates and shares are of the time since the reading before.
// At is the moment, in nanoseconds of CLOCK_MONOTONIC. The error is for a time
// in which the kernel's clock did not tick, too: nothing is known of it, and
// the next reading covers it. Of a time in which a time of the CPUs went back no
// reading ever tells.
func (v *Vmstat) Read() (at int64, row VmstatRow, err error) {
	var now vmCounts
	if err := v.count(&now); err != nil {
		return 0, row, fmt.Errorf("vmstat: %w", err)
	}
	row, err = now.since(v.before, int64(os.Getpagesize()))
	if errors.Is(err, errWentBack) {
		v.before = now
	}
	if err != nil {
		return now.at, row, fmt.Errorf("vmstat: %w", err)
	}
	v.before = now
	return now.at, row, nil
}

// Close closes the files.
func (v *Vmstat) Close() error {
	return errors.Join(v.stat.close(), v.memory.close(), v.virtual.close())
}

// count reads the files.
func (v *Vmstat) count(c *vmCounts) error {
	c.at = v.host.Monotonic()
	return errors.Join(
		v.stat.each(c.stat),
		v.memory.each(c.meminfo),
		v.virtual.each(c.vmstat),
	)
}

// stat takes what is wanted from a line of /proc/stat.
func (c *vmCounts) stat(name, rest []byte) (err error) {
	switch string(name) {
	case "cpu":
		c.cpu, err = parseCPUTimes(rest)
	case "intr":
		c.interrupts, err = parseFirst(rest)
	case "ctxt":
		c.switches, err = parseFirst(rest)
	case "procs_running":
		c.running, err = parseFirst(rest)
	case "procs_blocked":
		c.blocked, err = parseFirst(rest)
	}
	return err
}

// meminfo takes what is wanted from a line of /proc/meminfo.
func (c *vmCounts) meminfo(name, rest []byte) (err error) {
	switch string(name) {
	case "MemFree:":
		c.free, err = parseFirst(rest)
	case "Buffers:":
		c.buffers, err = parseFirst(rest)
	case "Cached:":
		c.cached, err = parseFirst(rest)
	case "SReclaimable:":
		c.reclaimed, err = parseFirst(rest)
	case "SwapTotal:":
		c.swapTotal, err = parseFirst(rest)
	case "SwapFree:":
		c.swapFree, err = parseFirst(rest)
	}
	return err
}

// vmstat takes what is wanted from a line of /proc/vmstat.
func (c *vmCounts) vmstat(name, rest []byte) (err error) {
	switch string(name) {
	case "pswpin":
		c.swapIn, err = parseFirst(rest)
	case "pswpout":
		c.swapOut, err = parseFirst(rest)
	case "pgpgin":
		c.pagedIn, err = parseFirst(rest)
	case "pgpgout":
		c.pagedOut, err = parseFirst(rest)
	}
	return err
}

// errWentBack says that the time waited for I/O, or another of the CPUs' times, is
// less than it was.
var errWentBack = errors.New("a time of the CPUs went back")

// since makes a row of two readings. As in vmstat(8), nice belongs to us,
// interrupts to sy, and the slab that can be reclaimed to cache.
func (c vmCounts) since(before vmCounts, page int64) (VmstatRow, error) {
	elapsed := float64(c.at-before.at) / 1e9
	cpu := c.cpu.Since(before.cpu)
	if elapsed <= 0 || cpu.All() <= 0 {
		return VmstatRow{}, errors.New("the kernel's clock has not ticked since the reading before")
	}
	if cpu.Fell() || cpu.Idle < 0 || cpu.IOWait < 0 {
		return VmstatRow{}, errWentBack
	}
	rate := func(now, before, unit int64) float64 { return float64(now-before) * float64(unit) / elapsed }
	share := func(time int64) float64 { return float64(time) / float64(cpu.All()) }
	return VmstatRow{
		float64(max(c.running-1, 0)), float64(c.blocked),
		float64(c.swapTotal-c.swapFree) * 1024, float64(c.free) * 1024, float64(c.buffers) * 1024, float64(c.cached+c.reclaimed) * 1024,
		rate(c.swapIn, before.swapIn, page), rate(c.swapOut, before.swapOut, page),
		rate(c.pagedIn, before.pagedIn, 1024), rate(c.pagedOut, before.pagedOut, 1024),
		rate(c.interrupts, before.interrupts, 1), rate(c.switches, before.switches, 1),
		share(cpu.User + cpu.Nice), share(cpu.System + cpu.IRQ + cpu.SoftIRQ), share(cpu.Idle), share(cpu.IOWait), share(cpu.Steal),
	}, nil
}

// A heldText is a file of lines "name value …" that is held open.
type heldText struct {
	file   *os.File
	buffer []byte // grows until the file fits
}

// each reads the file and calls f for every line, with its first word and the
// rest.
func (t *heldText) each(f func(name, rest []byte) error) error {
	n, err := syscall.Pread(int(t.file.Fd()), t.buffer, 0)
	for err == nil && n == len(t.buffer) {
		t.buffer = make([]byte, 2*len(t.buffer))
		n, err = syscall.Pread(int(t.file.Fd()), t.buffer, 0)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.file.Name(), err)
	}
	if err := eachLine(t.buffer[:n], f); err != nil {
		return fmt.Errorf("%s: %w", t.file.Name(), err)
	}
	return nil
}

// eachLine calls f for every line of a text, with its first word and the rest.
func eachLine(text []byte, f func(name, rest []byte) error) error {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		name, value, _ := bytes.Cut(line, []byte(" "))
		if err := f(name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text = rest
	}
	return nil
}

// close closes the file, if it was opened.
func (t *heldText) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// parseFirst understands a number that may stand behind spaces and before
// other words.
func parseFirst(text []byte) (int64, error) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, " "), []byte(" "))
	return parseNumber(first)
}

// tick is the unit of /proc/stat, USER_HZ, in nanoseconds: a hundredth of a
// second on every architecture that Docker runs on, whatever the kernel's HZ.
const tick = 10_000_000

// parseCPUTimes understands what stands behind "cpu" in /proc/stat, as in
// proc_stat(5). Guests' time is in user and nice already. A counter of an old
// kernel that is not there is 0.
func parseCPUTimes(text []byte) (stopwatt.CPUTimes, error) {
	var t stopwatt.CPUTimes
	places := [...]*int64{&t.User, &t.Nice, &t.System, &t.Idle, &t.IOWait, &t.IRQ, &t.SoftIRQ, &t.Steal}
	text = bytes.TrimLeft(text, " ")
	for _, place := range places {
		if len(text) == 0 {
			break
		}
		word, rest, _ := bytes.Cut(text, []byte(" "))
		n, err := parseNumber(word)
		if err == nil {
			*place, err = scaled(n, tick)
		}
		if err != nil {
			return stopwatt.CPUTimes{}, err
		}
		text = rest
	}
	if t.All() <= 0 {
		return stopwatt.CPUTimes{}, errors.New("it tells no time of the CPUs")
	}
	return t, nil
}
