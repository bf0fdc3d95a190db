package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// An account is the unprivileged user that the server runs as when stopwatt is
// root, which Postgres refuses to be. nil is whoever we are.
type account struct{ UID, GID int }

// serverAccount picks the account: Postgres's own where its package is
// installed, else nobody's.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(found.Uid)
		gid, errGID := strconv.Atoi(found.Gid)
		if err := errors.Join(errUID, errGID); err != nil {
			return nil, fmt.Errorf("account %s: %w", name, err)
		}
		return &account{UID: uid, GID: gid}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody; make one, or name a database with --db")
}

// own gives a file to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, a.UID, a.GID)
}

// command is a program that runs as the account, away from the caller's
// folder, and with nothing of the caller's environment: a server outlives the
// job that started it, and the job's secrets must not.
func (a *account) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	c.SysProcAttr = &syscall.SysProcAttr{}
	if a != nil {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
	}
	return c
}
