package embedded

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const (
	role         = "stopwatt" // the server's superuser
	databaseName = "stopwatt"
)

// create makes the cluster if there is none. It is made beside its place and
// moved there when it is whole, so that a start which was killed half-way
// leaves nothing that looks like a database.
func create(ctx context.Context, binaries string, h home, account *account) error {
	if _, err := os.Stat(h.data()); err == nil {
		return nil
	}
	leftovers, _ := filepath.Glob(h.file("new-*")) // the pattern is well formed
	for _, leftover := range leftovers {
		_ = os.RemoveAll(leftover) // the next start tries again: a killed one's initdb may still be writing there
	}
	fresh, err := os.MkdirTemp(h.Folder, "new-")
	if err != nil {
		return fmt.Errorf("create cluster: %w", err)
	}
	if err := initialize(ctx, binaries, fresh, account); err != nil {
		_ = os.RemoveAll(fresh) // the fault that matters is the one before
		return err
	}
	if err := os.Rename(fresh, h.data()); err != nil {
		return fmt.Errorf("create cluster: %w", err)
	}
	return nil
}

// initialize fills an empty folder with a cluster that holds our database.
// Whoever can open the socket is trusted: its folder is closed to others.
func initialize(ctx context.Context, binaries, folder string, account *account, extra ...string) error {
	if err := account.own(folder); err != nil {
		return fmt.Errorf("create cluster: %w", err)
	}
	args := append([]string{"-D", folder, "-U", role, "-A", "trust", "-E", "UTF8", "--locale=C", "-k"}, extra...)
	if err := runQuietly(ctx, account.command(filepath.Join(binaries, "initdb"), args...)); err != nil {
		return err
	}
	single := account.command(filepath.Join(binaries, "postgres"), "--single", "-D", folder, "-c", "exit_on_error=on", "postgres")
	single.Stdin = strings.NewReader("CREATE DATABASE " + databaseName + "\n")
	return runQuietly(ctx, single)
}

// runQuietly runs a program to its end and shows its output only when it
// fails. When ctx or this process ends first, the program is killed.
func runQuietly(ctx context.Context, c *exec.Cmd) error {
	// The kernel sends the signal when the thread ends that started the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() }) // Wait tells how it ended
	defer stop()
	if err := c.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, complaint(output.String()))
	}
	return nil
}

// complaint is what a program of Postgres's complains of, among all that it
// tells, or else the last that it tells.
func complaint(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		switch {
		case strings.Contains(line, "Permission denied"):
			return line + "; the folders above must be open to the user that the server runs as"
		case strings.Contains(line, "error:"), strings.Contains(line, "FATAL:"), strings.Contains(line, "PANIC:"):
			return line
		}
	}
	return lines[len(lines)-1]
}
