package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// throwawayScript runs a server until its standard input ends, which it does
// when the process that holds the other end does, however it ends. Then
// nothing is left.
const throwawayScript = `
"$@" </dev/null >"$FOLDER/log" 2>&1 &
cat >/dev/null
kill -QUIT $! 2>/dev/null
wait $!
rm -rf "$FOLDER"
`

// Throwaway starts a server for tests, which forgets everything and takes no
// care of its files. It ends, and its files are removed, when release is called
// or this process ends, even if it is killed. As long as it is needed, release
// must be kept.
func Throwaway(ctx context.Context) (dsn string, release func(), err error) {
	account, err := serverAccount()
	if err != nil {
		return "", nil, err
	}
	binaries, err := findBinaries("", 0)
	if err != nil {
		return "", nil, err
	}
	folder, err := os.MkdirTemp("/tmp", "swpg") // short: the socket lies in it
	if err != nil {
		return "", nil, fmt.Errorf("throwaway database: %w", err)
	}
	h := home{Folder: folder, Socket: folder}
	dsn, release, err = startThrowaway(ctx, order{Home: h, Binaries: binaries, Account: account})
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("throwaway database: %w", err), os.RemoveAll(folder))
	}
	return dsn, release, nil
}

func startThrowaway(ctx context.Context, o order) (string, func(), error) {
	if err := o.Account.own(o.Home.Folder); err != nil {
		return "", nil, err
	}
	if err := os.Mkdir(o.Home.data(), 0o700); err != nil {
		return "", nil, err
	}
	if err := initialize(ctx, o.Binaries, o.Home.data(), o.Account, "--no-sync"); err != nil {
		return "", nil, err
	}
	server := serverCommand(o)
	for _, setting := range []string{"fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=32MB", "stopwatt.private=off"} {
		server.Args = append(server.Args, "-c", setting)
	}
	c := o.Account.command("/bin/sh", append([]string{"-c", throwawayScript, "sh"}, server.Args...)...)
	c.Env = append(c.Env, "FOLDER="+o.Home.Folder)
	c.SysProcAttr.Setsid = true
	input, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	release := sync.OnceFunc(func() {
		_ = input.Close() // the script's signal to end
		_ = c.Wait()      // 131: the server was told to quit
	})
	if err := awaitThrowaway(ctx, o.Home); err != nil {
		release()
		return "", nil, err
	}
	return o.Home.dsn(), release, nil
}

// awaitThrowaway returns when the server answers.
func awaitThrowaway(ctx context.Context, h home) error {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	for !answers(ctx, h) {
		log, _ := os.ReadFile(filepath.Join(h.Folder, "log")) // not there yet at first
		if strings.Contains(string(log), "FATAL") {
			return fmt.Errorf("%s", log)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not answer: %w: %s", ctx.Err(), log)
		case <-time.After(pollEvery):
		}
	}
	return nil
}
