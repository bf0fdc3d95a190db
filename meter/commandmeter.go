package meter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// Bounds of what a program may do.
const (
	mostLine     = 256             // bytes of a line; a longer one is no number
	commandGrace = 2 * time.Second // from the polite signal to the last one
)

// A commandMeter is a program that prints a number a line. It runs from opening
// to closing.
type commandMeter struct {
	host    Host
	micro   int64
	command *exec.Cmd
	lines   io.ReadCloser
	ended   chan struct{} // closed when it has ended and all was read

	mu     sync.Mutex
	hear   func(at, value int64, err error) // nil: nobody listens
	end    error                            // why it speaks no more
	reaped bool
}

// openCommand starts the program, in a process group of its own, without the
// environment of this one: secrets of a job are not for it.
func openCommand(host Host, setting stopwatt.CommandMeter) (instrument, error) {
	m := &commandMeter{host: host, micro: setting.Unit.Micro(), ended: make(chan struct{})}
	if m.micro == 0 || len(setting.Command) == 0 {
		return instrument{}, refusal{says: "its setting has no command, or no unit of a meter"}
	}
	m.command = exec.Command(setting.Command[0], setting.Command[1:]...)
	m.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C"}
	m.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	complaints := &tail{}
	m.command.Stderr = complaints
	m.command.WaitDelay = commandGrace
	started := make(chan error)
	go m.follow(complaints, started)
	if err := <-started; err != nil {
		return instrument{}, refusal{says: "start " + setting.Command[0] + ": " + lastCause(err).Error()}
	}
	return instrument{
		source:   "command " + filepath.Base(setting.Command[0]),
		counters: countersOf(setting.Unit),
		listen:   m.listen,
		close:    m.close,
	}, nil
}

// lastCause is the innermost error.
func lastCause(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// listen has every number told to hear; nil ends that.
func (m *commandMeter) listen(hear func(at, value int64, err error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hear = hear
	if hear != nil && m.end != nil {
		hear(m.host.Monotonic(), 0, m.end)
	}
}

// tell hands on a number, or why there is none.
func (m *commandMeter) tell(value int64, err error) {
	at := m.host.Monotonic()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hear != nil {
		m.hear(at, value, err)
	}
}

// follow starts the program and reads its lines until it ends. It keeps its
// thread for itself: when the thread that started the program is gone, so that
// stopwatt must have been killed, the kernel ends the program.
func (m *commandMeter) follow(complaints *tail, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(m.ended)
	var err error
	if m.lines, err = m.command.StdoutPipe(); err == nil {
		err = m.command.Start()
	}
	if started <- err; err != nil {
		return
	}
	m.readLines()
	m.reap()
	end := fmt.Errorf("its program ended (%s)%s", m.command.ProcessState, complaints.last())
	m.mu.Lock()
	m.end = end
	m.mu.Unlock()
	m.tell(0, end)
}

// reap waits for the program, then ends what it left running in its group
// while the dead one still holds the group's number.
func (m *commandMeter) reap() {
	for {
		err := unix.Waitid(unix.P_PID, m.command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = syscall.Kill(-m.command.Process.Pid, syscall.SIGKILL) // mostly there is nobody left
	m.reaped = true
	_ = m.command.Wait() // what it ended with is in ProcessState
}

// readLines understands line after line. Of one that is too long it keeps
// nothing.
func (m *commandMeter) readLines() {
	buffered := bufio.NewReaderSize(m.lines, mostLine)
	tooLong := false
	for {
		line, err := buffered.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			tooLong = true
		case err != nil:
			return // a line without an end may be half a number
		case tooLong:
			tooLong = false
			m.tell(0, fmt.Errorf("its program printed a line of more than %d bytes", mostLine))
		default:
			m.tell(parseMicro(bytes.TrimSpace(line), m.micro))
		}
	}
}

// close ends the program and whatever it started: its whole process group.
func (m *commandMeter) close() error {
	m.signal(syscall.SIGTERM)
	if m.endsWithin(commandGrace) {
		return nil
	}
	m.signal(syscall.SIGKILL)
	_ = m.lines.Close() // somebody who left the group may hold the other end
	if !m.endsWithin(commandGrace) {
		return fmt.Errorf("%s does not end", m.command.Path)
	}
	return nil
}

// signal sends the program's process group a signal, unless the program was
// waited for: its number may be another's then.
func (m *commandMeter) signal(s syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.reaped {
		_ = syscall.Kill(-m.command.Process.Pid, s) // a group of the dead cannot be signalled, and need not
	}
}

func (m *commandMeter) endsWithin(d time.Duration) bool {
	select {
	case <-m.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// tail keeps the last line of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of what was written so far.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > mostLine {
		t.text = append([]byte(nil), t.text[len(t.text)-mostLine:]...)
	}
	return len(p), nil
}

// last is the last line, after a colon; nothing when nothing was written.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	if line := lines[len(lines)-1]; len(line) > 0 {
		return fmt.Sprintf(": %q", line)
	}
	return ""
}
