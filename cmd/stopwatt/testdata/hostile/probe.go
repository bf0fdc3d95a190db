package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reached lists what a container reaches although nothing was granted to it. Targets are
// addresses that it must not get to.
func reached(targets []string) (found []string) {
	say := func(is bool, format string, args ...any) {
		if is {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	for _, target := range append(targets, "1.1.1.1:53", "172.17.0.1:22", "169.254.169.254:80", "[2606:4700:4700::1111]:53") {
		for _, network := range []string{"tcp", "udp"} {
			conn, err := net.DialTimeout(network, target, time.Second)
			here := network == "udp" && strings.HasPrefix(target, "127.") // where a datagram can always be sent, to nobody
			say(err == nil && !here, "%s over %s", target, network)
			if err == nil {
				conn.Close()
			}
		}
	}
	_, err := net.LookupHost("example.org")
	say(err == nil, "names are resolved")
	for _, socket := range []string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"} {
		_, err := os.Stat(socket)
		say(err == nil, "%s", socket)
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		say(!strings.Contains(" PATH HOSTNAME HOME ", " "+name+" "), "variable %s", variable)
	}
	for path, flags := range map[string]int{
		"/written": os.O_CREATE | os.O_WRONLY, "/etc/passwd": os.O_CREATE | os.O_WRONLY, "/proc/sys/kernel/core_pattern": os.O_WRONLY, "/proc/sysrq-trigger": os.O_WRONLY,
		"/sys/fs/cgroup/cgroup.procs": os.O_WRONLY, "/sys/kernel/uevent_helper": os.O_WRONLY, "/dev/mem": os.O_RDONLY, "/dev/kmsg": os.O_RDONLY,
		"/dev/sda": os.O_RDONLY, "/dev/vda": os.O_RDONLY, "/proc/1/root/.stopwatt": os.O_RDONLY,
	} {
		file, err := os.OpenFile(path, flags, 0o600)
		say(err == nil, "%s", path)
		if err == nil {
			file.Close()
		}
	}
	found = append(found, called()...)
	return append(found, neighbours()...)
}

// called lists the system calls that are let through and must not be.
func called() (found []string) {
	calls := map[string]func() error{
		"mount":             func() error { return syscall.Mount("none", "/tmp", "tmpfs", 0, "") },
		"unshare":           func() error { return syscall.Unshare(syscall.CLONE_NEWUSER) },
		"set the clock":     func() error { return syscall.Settimeofday(&syscall.Timeval{Sec: 1}) },
		"raise priority":    func() error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, -5) },
		"set the host name": func() error { return syscall.Sethostname([]byte("x")) },
		"make a device":     func() error { return syscall.Mknod("/tmp/device", syscall.S_IFBLK, 8<<8) },
		"raw packets": func() error {
			fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0)
			return closed(fd, err)
		},
		"raw IP": func() error {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_RAW, syscall.IPPROTO_TCP)
			return closed(fd, err)
		},
		"perf events": func() error {
			attributes := [128]byte{0: 1, 4: 128} // a software event of the whole machine
			fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, address(&attributes[0]), ^uintptr(0), 0, ^uintptr(0), 0, 0)
			return closed(int(fd), number(errno))
		},
	}
	for name, call := range calls {
		if call() == nil {
			found = append(found, name)
		}
	}
	return found
}

func closed(fd int, err error) error {
	if err == nil {
		syscall.Close(fd)
	}
	return err
}

// neighbours lists what is seen of other processes and of other trials: each leaves
// something for the next.
func neighbours() (found []string) {
	for _, entry := range in("/proc") {
		if pid, err := strconv.Atoi(entry); err == nil && pid != os.Getpid() {
			found = append(found, "process "+entry)
		}
	}
	threads := in("/proc/self/task")
	for pid := 2; pid < 5000; pid++ {
		if !slices.Contains(threads, fmt.Sprint(pid)) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			found = append(found, fmt.Sprint("process ", pid, " was killed"))
		}
	}
	for _, folder := range []string{"/tmp", "/dev/shm"} {
		mine := filepath.Join(folder, mark)
		for _, entry := range in(folder) {
			if filepath.Join(folder, entry) != mine {
				found = append(found, "a file in "+folder)
			}
		}
		_ = os.WriteFile(mine, nil, 0o600) // where it cannot be, nothing is left
	}
	return found
}

// mark is the name of what this process leaves, and no other does.
var mark = fmt.Sprint("mark-", time.Now().UnixNano())

func in(folder string) []string {
	open, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1)
	return names
}
