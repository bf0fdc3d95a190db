package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// A server is a Postgres that runs: a child of ours, adopted, or elsewhere.
type server struct {
	pid       int
	ended     chan struct{} // closed when it has ended; nil: nobody would tell
	elsewhere func() error  // stops the one elsewhere; nil: it is a process
}

// launch starts the server. It is not ready yet when launch returns.
func launch(o order) (*server, error) {
	if err := removeStale(o.Home); err != nil {
		return nil, err
	}
	c := serverCommand(o)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr // of the keeper: the log
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s := &server{pid: c.Process.Pid, ended: make(chan struct{})}
	go func() {
		_ = c.Wait() // its log tells how it ended
		close(s.ended)
	}()
	return s, nil
}

// adopt takes over the server that a killed keeper left running, and returns
// nil if there is none.
func adopt(h home) *server {
	p := h.postmaster()
	if !p.alive(h) {
		return nil
	}
	s := &server{pid: p.pid, ended: make(chan struct{})}
	go func() {
		for p.alive(h) { // no child of ours: nobody tells when it ends
			time.Sleep(200 * time.Millisecond)
		}
		close(s.ended)
	}()
	return s
}

// stop ends the server: politely, and after a while at once, which costs
// nothing but a recovery at its next start.
func (s *server) stop() error {
	if s.elsewhere != nil {
		return s.elsewhere()
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := syscall.Kill(s.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop server: %w", err)
		}
		select {
		case <-s.ended:
			return nil
		case <-time.After(30 * time.Second):
		}
	}
	return fmt.Errorf("stop server: process %d does not end", s.pid)
}

// A postmaster is what the server says of itself in postmaster.pid.
type postmaster struct {
	pid    int
	socket string // folder
	ready  bool
}

// postmaster reads postmaster.pid, whose lines are described in Postgres's
// miscadmin.h: 1 the process, 5 the socket's folder, 8 the status.
func (h home) postmaster() postmaster {
	text, err := os.ReadFile(h.pidFile())
	if err != nil {
		return postmaster{}
	}
	return parsePostmaster(string(text))
}

func (h home) pidFile() string { return filepath.Join(h.data(), "postmaster.pid") }

func parsePostmaster(text string) postmaster {
	lines := strings.Split(text, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 {
		return postmaster{}
	}
	p := postmaster{pid: pid}
	if len(lines) >= 8 {
		p.socket = strings.TrimSpace(lines[4])
		p.ready = strings.TrimSpace(lines[7]) == "ready"
	}
	return p
}

// alive tells whether the process is still this server, and not another that
// has been given its number since. Anybody may read a command line in /proc.
func (p postmaster) alive(h home) bool {
	if p.pid == 0 {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return err == nil && strings.Contains(string(line), "\x00"+h.data()+"\x00")
}

// removeStale removes the two lock files of a server that has ended, where they
// name a process that is there: another by now, or a dead one that nobody has
// fetched. Postgres sees by itself that a process is gone, but takes any that
// it may signal for another server. Both folders are this server's alone.
func removeStale(h home) error {
	for _, path := range []string{h.pidFile(), filepath.Join(h.Socket, ".s.PGSQL."+port+".lock")} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // mostly it is not there; if it is, Postgres will say so
		}
		p := parsePostmaster(string(text))
		if p.pid == 0 || p.alive(h) || errors.Is(syscall.Kill(p.pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove stale %s: %w", path, err)
		}
	}
	return nil
}

// answers tells whether the server can be used.
func answers(ctx context.Context, h home) bool {
	p := h.postmaster()
	return p.ready && p.alive(h) && connect(ctx, h.dsn()) == nil
}

// connect opens a connection and closes it.
func connect(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
