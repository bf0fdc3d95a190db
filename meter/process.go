package meter

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Self names this process so that others can tell later whether it still
// lives: machine, boot, PID namespace, PID and start time. A PID alone is
// reused. It is empty when /proc cannot be read.
func (h Host) Self() string { return h.process(os.Getpid()) }

// Dead tells whether the process that Self named has surely ended. One of
// another machine (which may share a remote engine) or of another PID namespace
// cannot be seen from here and is not called dead; one of this machine's
// earlier boot is.
func (h Host) Dead(self string) bool {
	parts := strings.Split(self, "/")
	if len(parts) != 5 || parts[0] != h.machine() || h.boot() == "" {
		return false
	}
	if parts[1] != h.boot() {
		return true
	}
	pid, err := strconv.Atoi(parts[3])
	return err == nil && parts[2] == h.pidNamespace() && h.process(pid) != self
}

// process names the process of this PID; empty when there is none.
func (h Host) process(pid int) string {
	stat, err := os.ReadFile(h.path("proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	start, ok := startTime(stat)
	if !ok || h.boot() == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/%s/%d/%s", h.machine(), h.boot(), h.pidNamespace(), pid, start)
}

// machine is enough of the machine's identity to tell two apart.
func (h Host) machine() string {
	id := h.identity()
	return id[:min(12, len(id))]
}

// boot names the time since the kernel was started.
func (h Host) boot() string {
	id, err := os.ReadFile(h.path("proc/sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// pidNamespace names the namespace in which this process's PIDs have meaning.
func (h Host) pidNamespace() string {
	link, err := os.Readlink(h.path("proc/self/ns/pid"))
	if err != nil {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}

// startTime is field 22 of /proc/PID/stat, in clock ticks since boot. Fields
// are counted from behind the last ")": the command's name may hold anything.
func startTime(stat []byte) (string, bool) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const afterName = 22 - 3 // the first field behind the name is the third
	if len(fields) <= afterName {
		return "", false
	}
	return fields[afterName], true
}
