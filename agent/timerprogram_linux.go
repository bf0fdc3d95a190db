package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program is one that can be started. The zero value is none.
type program struct {
	path  string
	argv  []string
	stdin string // a file that it reads; empty: /dev/null
}

// findProgram looks for a program as execvp(3) does: by its path, or along PATH.
func findProgram(argv []string) (program, error) {
	if len(argv) == 0 {
		return program{}, nil
	}
	if strings.Contains(argv[0], "/") {
		if err := unix.Access(argv[0], unix.X_OK); err != nil {
			return program{}, fmt.Errorf("%s: %w", argv[0], err)
		}
		return program{path: argv[0], argv: argv}, nil
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, argv[0])
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return program{path: path, argv: argv}, nil
		}
	}
	return program{}, fmt.Errorf("there is no program %q along PATH %q", argv[0], os.Getenv("PATH"))
}

// A run is one run of a program.
type run struct {
	started, ended int64 // CLOCK_MONOTONIC, nanoseconds
	status         syscall.WaitStatus
	used           syscall.Rusage // of the program and the descendants that it waited for
	bound          time.Duration
	timedOut       bool
	complaint      []byte // the end of its standard error
}

// start runs a program to its end, under guard. An error says why it could not be
// started. Its clock runs from before the process is made until its end is known
// here: what a shell, or hyperfine, would count too.
func (p program) start(ctx context.Context, stdout *output, guard *guard) (run, error) {
	if ctx.Err() != nil {
		return run{}, ctx.Err()
	}
	files, close, err := p.files(stdout)
	if err != nil {
		return run{}, err
	}
	complaint := &output{piped: true, keeps: 4 << 10, last: true}
	if err := complaint.begin(); err != nil {
		close()
		return run{}, err
	}
	attributes := &syscall.ProcAttr{
		Files: []uintptr{files[0].Fd(), files[1].Fd(), complaint.writes.Fd()},
		Env:   environment,
		Sys:   &syscall.SysProcAttr{Setpgid: true}, // to be killed with all that it starts
	}
	r := run{bound: guard.bound, started: monotonic()}
	pid, err := syscall.ForkExec(p.path, p.argv, attributes)
	if err == nil {
		guard.over(pid, r.started)
		r.wait(pid)
		r.timedOut = guard.off()
	}
	complaint.end(complaintWithin)
	stdout.end(outputWithin)
	close()
	reap()
	r.complaint = complaint.kept
	if err != nil {
		return r, fmt.Errorf("cannot be started: %s: %w%s", p.path, err, p.hint(err))
	}
	return r, ctx.Err()
}

// hint says what the kernel's error leaves out: it tells of a program that is
// missing where the one that is missing is its interpreter, and of a wrong format
// where a script does not name one.
func (p program) hint(err error) string {
	interpreter, isScript := firstLine(p.path)
	switch {
	case errors.Is(err, unix.ENOENT) && strings.HasSuffix(interpreter, "\r"):
		return fmt.Sprintf("; its first line ends with a carriage return, so that its interpreter is %q: write the file with Unix line ends", interpreter)
	case errors.Is(err, unix.ENOENT) && isScript:
		return fmt.Sprintf("; it is there, and its interpreter %q is not: install it in the image, or mend the first line", interpreter)
	case errors.Is(err, unix.ENOENT):
		return "; it is there, and the loader that it is linked for is not: link it statically, or for the image's own C library"
	case errors.Is(err, unix.ENOEXEC) && !isScript:
		return "; it is built for another architecture, or a script whose first line is not like #!/bin/sh"
	}
	return ""
}

// firstLine is what a script names behind #! as the kernel reads it, and whether
// it is a script at all.
func firstLine(path string) (interpreter string, isScript bool) {
	file, err := openRegular(path)
	if err != nil {
		return "", false
	}
	defer file.Close() // which was only read from
	line := make([]byte, longestInterpreter)
	n, _ := io.ReadFull(file, line) // a file may be shorter
	interpreter, isScript = strings.CutPrefix(string(line[:n]), "#!")
	interpreter, _, _ = strings.Cut(interpreter, "\n")
	interpreter, _, _ = strings.Cut(strings.Trim(interpreter, " \t"), " ")
	return interpreter, isScript
}

// longestInterpreter is how much of a file the kernel looks at (BINPRM_BUF_SIZE).
const longestInterpreter = 256

// environment is what programs are given: all that the container has.
var environment = os.Environ()

// How long the ends of standard error and output are waited for when the program
// has ended and something that it left behind holds them open.
const (
	complaintWithin = 100 * time.Millisecond
	outputWithin    = 2 * time.Second
)

// files opens the program's standard input and output.
func (p program) files(stdout *output) (files [2]*os.File, close func(), err error) {
	close = func() {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // what was written to it is the kernel's
			}
		}
	}
	stdin := p.stdin
	if stdin == "" {
		stdin = os.DevNull
	}
	if files[0], err = os.Open(stdin); err != nil {
		return files, close, err
	}
	if err = stdout.begin(); err == nil {
		files[1] = stdout.writes
	}
	if err == nil && files[1] == nil {
		files[1], err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err != nil {
		close()
	}
	return files, close, err
}

// wait waits for the end of the program in the kernel, without telling Go's
// scheduler: it would look after the waiting thread fifty times in the first
// milliseconds of each program, on a core that the program may need.
func (r *run) wait(pid int) {
	var status int32
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(pid), uintptr(unsafe.Pointer(&status)), 0, uintptr(unsafe.Pointer(&r.used)), 0, 0)
		if errno != unix.EINTR {
			break
		}
	}
	r.ended = monotonic()
	r.status = syscall.WaitStatus(status)
}

// inMemory makes a file of this content that can be read and started, and not be
// written: the container's file system may be read-only, and a file that is open
// for writing cannot be started.
func inMemory(name string, content []byte) (*os.File, error) {
	written, err := memoryFile(name)
	if err != nil {
		return nil, err
	}
	defer written.Close() // it lies in memory, and is open a second time
	if _, err := written.Write(content); err != nil {
		return nil, err
	}
	return os.Open(pathOf(written))
}

// memoryFile makes an empty file that lies in no file system.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// pathOf is a path by which a file that is open here can be opened again, here
// and in a child until that has become another program.
func pathOf(file *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", file.Fd()) }
