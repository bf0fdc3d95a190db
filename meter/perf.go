package meter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// A perfEvent is a kind of event that the kernel counts for a cgroup.
type perfEvent struct {
	field  string // of stopwatt.UsageFields
	kind   uint32
	config uint64
}

var (
	switchEvent    = perfEvent{"ContextSwitches", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES}
	hardwareEvents = []perfEvent{
		{"Instructions", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		{"Cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
		{"CacheMisses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	}
	perfEvents = append([]perfEvent{switchEvent}, hardwareEvents...)
)

// A perfCounter counts one kind of event of one cgroup, on every CPU: the
// kernel counts for a cgroup on one CPU at a time.
type perfCounter struct {
	field string
	fds   []int
}

// openEvents opens the perf events of the container's cgroup.
func (a *Account) openEvents(s sight) {
	group, err := s.locate("perf_event")
	if s.host.NoCounters {
		err = errors.New("perf events are switched off")
	}
	cpus := s.host.online()
	for _, event := range perfEvents {
		if err != nil {
			a.absent[event.field] = err.Error()
			continue
		}
		fds, err := openEvent(group.dir, event, cpus)
		if err != nil {
			a.absent[event.field] = s.host.perfReason(event, err).Error()
			continue
		}
		a.events = append(a.events, perfCounter{event.field, fds})
	}
}

// noSuchEvent tells whether an event could not be opened because nothing here
// counts such events.
func noSuchEvent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV)
}

// openEvent opens one kind of event of a cgroup on each of the CPUs.
func openEvent(dir string, event perfEvent, cpus []int) ([]int, error) {
	group, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer group.Close() // which was only read from
	attributes := unix.PerfEventAttr{
		Type:        event.kind,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config:      event.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	counter := perfCounter{}
	if len(cpus) == 0 {
		return nil, errors.New("which CPUs there are cannot be read from /sys/devices/system/cpu/online")
	}
	for _, cpu := range cpus {
		fd, err := unix.PerfEventOpen(&attributes, int(group.Fd()), cpu, -1, unix.PERF_FLAG_PID_CGROUP|unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return nil, errors.Join(err, counter.close())
		}
		counter.fds = append(counter.fds, fd)
	}
	return counter.fds, nil
}

// perfReason says why an event could not be opened, and the remedy.
func (h Host) perfReason(event perfEvent, err error) error {
	switch {
	case noSuchEvent(err) && event.kind == unix.PERF_TYPE_HARDWARE:
		return errors.New("this CPU, or the hypervisor that it runs under, shows no such hardware counter")
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("perf events of a cgroup are not allowed to this user (kernel.perf_event_paranoid is %s): %s", h.text("proc/sys/kernel/perf_event_paranoid"), perfRemedy)
	case errors.Is(err, unix.ENOSYS):
		return errors.New("this kernel has no perf events")
	case errors.Is(err, unix.EBADF):
		return errors.New("this kernel counts no perf events for cgroups")
	}
	return fmt.Errorf("perf event: %w", err)
}

// perfRemedy is what allows perf events.
const perfRemedy = "run stopwatt as root, or its container with --cap-add PERFMON, or: sudo sysctl kernel.perf_event_paranoid=0"

// read adds up what was counted on all CPUs.
func (c *perfCounter) read(usage *stopwatt.Usage) {
	sum := perfCount{}
	for _, fd := range c.fds {
		var buffer [24]byte
		n, err := unix.Read(fd, buffer[:])
		if errors.Is(err, unix.EBADF) {
			err = errClosed
		}
		if err == nil {
			err = sum.add(buffer[:n])
		}
		if err != nil {
			usage.Absent[c.field] = err.Error()
			return
		}
	}
	value, err := sum.total()
	if err != nil {
		usage.Absent[c.field] = err.Error()
		return
	}
	*usage.Place(c.field) = value
}

// close closes the event on every CPU.
func (c *perfCounter) close() error {
	var errs []error
	for i, fd := range c.fds {
		errs = append(errs, unix.Close(fd))
		c.fds[i] = -1
	}
	return errors.Join(errs...)
}

// A perfCount is what was read of an event, on one CPU or on several: how
// often it happened, and for how many nanoseconds it was to be counted and was
// counted.
type perfCount struct {
	value, enabled, running uint64
}

// add adds what was read of one CPU: three numbers of 64 bits, as
// perf_event_open(2) says, in the machine's order.
func (c *perfCount) add(reading []byte) error {
	if len(reading) != 24 {
		return fmt.Errorf("a perf event gave %d bytes instead of 24", len(reading))
	}
	c.value += binary.NativeEndian.Uint64(reading)
	c.enabled += binary.NativeEndian.Uint64(reading[8:])
	c.running += binary.NativeEndian.Uint64(reading[16:])
	return nil
}

// total is the count. One that shared its counter with others, and would have
// to be extrapolated, is none. The kernel takes the two times one after the
// other, so that a thousandth may lie between them, and of a counter that has just
// been opened all of it: hence the 100 µs for all CPUs.
func (c perfCount) total() (int64, error) {
	if c.running+max(c.enabled/1000, 100_000) < c.enabled {
		return 0, fmt.Errorf("the CPU's counters were taken by others for %.1f %% of the time", 100*(1-float64(c.running)/float64(c.enabled)))
	}
	if int64(c.value) < 0 {
		return 0, fmt.Errorf("%d is beyond 63 bits", c.value)
	}
	return int64(c.value), nil
}
