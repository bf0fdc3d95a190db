package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	port    = "5432" // part of the socket's name; nothing listens on a network
	logFile = "server.log"
	// socketBytes is the longest path of a unix socket: sun_path of unix(7)
	// without its closing NUL.
	socketBytes = 107
)

// A home is where one private server lives: its files, and its socket.
type home struct {
	Folder string // holds the cluster in "data", the locks and the log
	Socket string // the folder of the socket
}

func (h home) file(name string) string { return filepath.Join(h.Folder, name) }
func (h home) data() string            { return h.file("data") }

// dsn names the database through the socket of the server that runs.
func (h home) dsn() string { return dsnFor(h.postmaster().socket, databaseName) }

// version is the major version that the cluster was made by, 0 when there is
// none yet.
func (h home) version() int {
	text, err := os.ReadFile(filepath.Join(h.data(), "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, _ := strconv.Atoi(strings.TrimSpace(string(text))) // a garbled file is for Postgres to report
	return major
}

// logTail is the end of the server's log.
func (h home) logTail() string {
	text, err := os.ReadFile(h.file(logFile))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// Inhabited tells whether a private server has lived in this folder, as in
// Config.Data, so that there may be something to read.
func Inhabited(data string) bool {
	folder, err := dataFolder(data)
	return err == nil && home{Folder: filepath.Join(folder, "postgres")}.version() > 0
}

// makeHome makes the folder that the server lives in. Its socket has none yet.
func makeHome(named string, account *account) (home, error) {
	data, err := dataFolder(named)
	if err != nil {
		return home{}, err
	}
	folder := filepath.Join(data, "postgres")
	mode := fs.FileMode(0o700)
	if account != nil {
		mode = 0o755 // another user's server lies below; its own folder is closed
	}
	if err := os.MkdirAll(folder, mode); err != nil {
		return home{}, fmt.Errorf("data folder: %w", err)
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return home{}, fmt.Errorf("data folder: %w", err)
	}
	return home{Folder: folder}, nil
}

func dataFolder(named string) (string, error) {
	switch xdg := os.Getenv("XDG_DATA_HOME"); {
	case named != "":
		return filepath.Abs(named)
	case os.Geteuid() == 0:
		return "/var/lib/stopwatt", nil
	case filepath.IsAbs(xdg): // a relative one must be ignored, says the XDG specification
		return filepath.Join(xdg, "stopwatt"), nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no data folder: %w; set XDG_DATA_HOME", err)
	}
	return filepath.Join(user, ".local", "share", "stopwatt"), nil
}

// socketFolder makes the folder of the socket: one for each data folder, below
// the first runtime folder that can be used. The keeper removes it when it shuts
// clients out, so only a client may call this.
func socketFolder(named, folder string, account *account) (string, error) {
	sum := sha256.Sum256([]byte(folder))
	name := hex.EncodeToString(sum[:4])
	var faults []error
	for _, runtime := range runtimeFolders(named) {
		socket := filepath.Join(runtime, name)
		err := makeSocketFolder(runtime, socket, account)
		if err == nil {
			return socket, nil
		}
		faults = append(faults, err)
	}
	return "", errors.Join(faults...)
}

func runtimeFolders(named string) []string {
	if named != "" {
		absolute, err := filepath.Abs(named)
		if err != nil {
			return []string{named}
		}
		return []string{absolute}
	}
	shared := fmt.Sprintf("/tmp/stopwatt-%d", os.Geteuid())
	if os.Geteuid() == 0 {
		return []string{"/run/stopwatt", shared}
	}
	if xdg := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) {
		return []string{filepath.Join(xdg, "stopwatt"), shared}
	}
	return []string{shared}
}

func makeSocketFolder(runtime, socket string, account *account) error {
	if path := filepath.Join(socket, ".s.PGSQL."+port); len(path) > socketBytes {
		return fmt.Errorf("the socket's path %s has %d bytes, %d are allowed; name a folder with a shorter path in XDG_RUNTIME_DIR", path, len(path), socketBytes)
	}
	mode := fs.FileMode(0o700)
	if account != nil {
		mode = 0o755
	}
	if err := os.MkdirAll(runtime, mode); err != nil {
		return fmt.Errorf("runtime folder: %w", err)
	}
	if err := ours(runtime, nil); err != nil {
		return err
	}
	if err := os.Mkdir(socket, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("socket folder: %w", err)
	}
	if err := account.own(socket); err != nil {
		return fmt.Errorf("socket folder: %w", err)
	}
	return ours(socket, account)
}

// ours refuses a folder that somebody else prepared for us, as anybody may in
// /tmp.
func ours(folder string, account *account) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("runtime folder: %w", err)
	}
	owner := os.Geteuid()
	if account != nil {
		owner = account.UID
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != owner || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("runtime folder %s is not a folder of ours that only we may write to; remove it, or name another in XDG_RUNTIME_DIR", folder)
	}
	return nil
}
