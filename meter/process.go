package meter

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Self names this process so that others can tell later whether it still
// lives: boot, PID namespace, PID and start time. A PID alone is reused.
// It is empty when /proc cannot be read.
func (h Host) Self() string { return h.process(os.Getpid()) }

// Dead tells whether the process that Self named has surely ended. One of
// another PID namespace cannot be seen from here and is not called dead; one
// of an earlier boot is.
func (h Host) Dead(self string) bool {
	boot, rest, ok := strings.Cut(self, "/")
	if !ok {
		return false
	}
	if boot != h.boot() {
		return h.boot() != ""
	}
	namespace, rest, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(strings.Split(rest, "/")[0])
	if err != nil || namespace != h.pidNamespace() {
		return false
	}
	return h.process(pid) != self
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
	return fmt.Sprintf("%s/%s/%d/%s", h.boot(), h.pidNamespace(), pid, start)
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
