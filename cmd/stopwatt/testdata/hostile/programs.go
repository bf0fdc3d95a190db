package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// programs are those that are timed, or time themselves.
var programs = map[string]func([]string) int{
	// It tries to answer in the timer's place, and fails where it can.
	"usurps": func([]string) int {
		time.Sleep(30 * time.Millisecond)
		fmt.Print(forged)
		if taken := overTimer(); len(taken) > 0 {
			fmt.Fprintln(os.Stderr, "reached:", strings.Join(taken, ", "))
			return 1
		}
		return 0
	},
	// It has its work done by somebody whom nobody times.
	"delegates": func([]string) int {
		self := exec.Command("/proc/self/exe", "works")
		self.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := self.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"works": func([]string) int {
		for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		}
		return 0
	},
	// It tells the timer to end.
	"interrupts": func([]string) int {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
			_ = syscall.Kill(1, signal)
		}
		time.Sleep(200 * time.Millisecond)
		return 0
	},
	// It leaves a pipe in the place of its results, which nobody writes to.
	"stalls": func(path []string) int {
		if err := syscall.Mkfifo(path[0], 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	// It prints what is no text.
	"blares": func([]string) int {
		fmt.Println("BenchmarkA\x00B 1 1 ns/op \xff")
		return 0
	},
	// It praises itself, under names that are no names.
	"boasts": func([]string) int {
		for i, name := range names {
			fmt.Printf("Benchmark%s 	1	%d ns/op\n", name, []int{1, 3600_000_000_000}[i%2])
		}
		return 0
	},
}

// names are harmful to a terminal, a page, a note, a database or a file system. In the
// form that a harness prints there is no white space in them.
var names = []string{
	"\x1b]0;mine\x07\x1b[2J", "../../../etc/passwd", "<script>alert(1)</script>", "');drop/**/table/**/runs;--", "[x](javascript:alert(1))", "`|@everyone",
	"\u202etxt.exe", "$(touch${IFS}/tmp/x)",
}

// overTimer lists the ways to the timer, PID 1 here, that are open.
func overTimer() (open []string) {
	try := func(what string, err error) {
		if err == nil {
			open = append(open, what)
		}
	}
	for _, path := range []string{"/proc/1/mem", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/fd/2", "/.stopwatt/agent", "/proc/1/exe"} {
		file, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		try("write "+path, err)
		if err == nil {
			_, _ = file.WriteString(forged)
			file.Close()
		}
	}
	for _, path := range []string{"/proc/1/environ", "/proc/1/maps", "/proc/1/mem", "/proc/1/fd/0", "/proc/1/auxv"} {
		file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			_, err = file.Read(make([]byte, 1))
			file.Close()
		}
		try("read "+path, err)
	}
	try("remove it", os.Remove("/.stopwatt/agent"))
	try("move it", os.Rename("/.stopwatt", "/tmp/moved"))
	try("trace it", syscall.PtraceAttach(1))
	const pidfdOpen, pidfdGetfd = 434, 438
	local := make([]byte, 8)
	from := syscall.Iovec{Base: &local[0], Len: 8}
	_, _, errno := syscall.Syscall6(processReadv(), 1, address(&from), 1, address(&from), 1, 0)
	try("read its memory", number(errno))
	if fd, _, errno := syscall.Syscall(pidfdOpen, 1, 0, 0); errno == 0 {
		_, _, errno = syscall.Syscall(pidfdGetfd, fd, 1, 0)
		try("take its streams", number(errno))
		syscall.Close(int(fd))
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} { // which must do nothing
		_ = syscall.Kill(1, signal)
	}
	return open
}

// processReadv is the number of process_vm_readv(2), which package syscall lacks.
func processReadv() uintptr {
	return map[string]uintptr{"amd64": 310, "arm64": 270, "arm": 376}[runtime.GOARCH]
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// number is an error only where there is one.
func number(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
