package agent

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the load's loop go past Go's scheduler: telling it of
// every call costs more than the calls that return at once, and handing the
// processor away round each epoll_wait cost a third of the driver's CPU at
// four connections. Each loop has a thread and a processor of its own, so that
// nothing waits for them meanwhile.

// openSocket makes a TCP socket that does not block.
func openSocket(family int) (fd int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall(unix.SYS_SOCKET, uintptr(family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return int(r), errno
}

// sendAtOnce turns off Nagle's algorithm: no part of a request waits for the
// acknowledgement of another.
func sendAtOnce(fd int) {
	on := int32(1)
	// A socket that refuses this is merely slower.
	_, _, _ = unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY, uintptr(unsafe.Pointer(&on)), unsafe.Sizeof(on), 0)
}

// wakeAt has epoll report a socket as readable only when so many bytes have
// come, or the connection has ended.
func wakeAt(fd int, bytes int) {
	n := int32(bytes)
	// A socket that refuses this merely wakes us more often.
	_, _, _ = unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, uintptr(unsafe.Pointer(&n)), unsafe.Sizeof(n), 0)
}

func connectSocket(fd int, to *endpoint) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to.raw)), to.size)
	return errno
}

func closeSocket(fd int) {
	// Linux frees the descriptor even when close reports an error.
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
}

// sendSocket writes a part of p, which must not be empty.
func sendSocket(fd int, p []byte) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
	return int(r), errno
}

// receiveSocket reads into p, which must not be empty.
func receiveSocket(fd int, p []byte) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0)
	return int(r), errno
}

// hasCome tells whether bytes have been received that nobody has read.
func hasCome(fd int) bool {
	var first [1]byte
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&first[0])), uintptr(len(first)), unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	return errno == 0 && n > 0
}

// discardSocket drops up to n received bytes inside the kernel: with
// MSG_TRUNC, a TCP socket copies nothing (tcp(7)).
func discardSocket(fd int, n int) (dropped int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, uintptr(n), unix.MSG_TRUNC, 0, 0)
	return int(r), errno
}

// watchSocket adds a descriptor to an epoll, or changes what is watched.
func watchSocket(epoll, operation, fd int, events uint32, number int32) unix.Errno {
	event := unix.EpollEvent{Events: events, Fd: number}
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(epoll), uintptr(operation), uintptr(fd), uintptr(unsafe.Pointer(&event)), 0, 0)
	return errno
}

// waitSockets blocks until something happens on a watched descriptor or
// milliseconds have passed, and returns how many events it wrote.
func waitSockets(epoll int, events []unix.EpollEvent, milliseconds int) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(milliseconds), 0, 0)
	return int(r), errno
}

// waitSocketsUntil is waitSockets until an instant, to the nanosecond, or
// without an end. Before Linux 5.11, which lacks epoll_pwait2, it takes two
// calls.
func waitSocketsUntil(epoll int, events []unix.EpollEvent, now, until int64) (n int, errno unix.Errno) {
	if until == math.MaxInt64 {
		return waitSockets(epoll, events, -1)
	}
	left := until - now
	if left <= 0 {
		return waitSockets(epoll, events, 0)
	}
	if !lacksWait2.Load() {
		timeout := [2]int64{left / 1e9, left % 1e9} // __kernel_timespec, alike on all machines
		r, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&timeout)), 0, 0)
		if errno != unix.ENOSYS && errno != unix.EPERM { // old Dockers answer unknown calls with EPERM
			return int(r), errno
		}
		lacksWait2.Store(true)
	}
	return pollSocketsFor(epoll, events, left)
}

// lacksWait2 is set when the kernel, or a filter of system calls, has refused
// epoll_pwait2.
var lacksWait2 atomic.Bool

// pollSocketsFor waits for an epoll to have events, and then reads them.
func pollSocketsFor(epoll int, events []unix.EpollEvent, nanoseconds int64) (n int, errno unix.Errno) {
	timeout := unix.NsecToTimespec(nanoseconds)
	watched := unix.PollFd{Fd: int32(epoll), Events: unix.POLLIN}
	_, _, errno = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&watched)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return waitSockets(epoll, events, 0)
}

// wakeSharply has the kernel wake this thread when its time has come, and not up
// to 50 µs later, which is the default (prctl(2), PR_SET_TIMERSLACK). It
// returns how to undo that.
func wakeSharply() (restore func()) {
	const least, usual = 1, 0 // nanoseconds; 0 stands for the default
	// A kernel that refuses this merely wakes us later, and lag tells.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, least, 0, 0, 0)
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, usual, 0, 0, 0) }
}

// newEvent makes an eventfd, which epoll reports once it was signalled.
func newEvent() (fd int, err error) {
	return unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
}

func signalEvent(fd int) {
	one := [8]byte{1}
	// It can fail only when it was signalled very often, which is enough.
	_, _ = unix.Write(fd, one[:])
}

// A clock reads CLOCK_MONOTONIC without a system call: from one reading by
// clock_gettime, and Go's own, which runs alike but starts elsewhere.
type clock struct {
	base time.Time
	zero int64 // CLOCK_MONOTONIC at base, ns
}

func newClock() clock { return clock{base: time.Now(), zero: monotonic()} }

// now is CLOCK_MONOTONIC in nanoseconds.
func (c clock) now() int64 { return c.zero + int64(time.Since(c.base)) }

// monotonic reads CLOCK_MONOTONIC, in nanoseconds.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // a Linux without this clock does not exist
	}
	return t.Nano()
}

// cpuTime is the user and system time of this process so far.
func cpuTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		panic(err) // it fails for a wrong argument only
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
