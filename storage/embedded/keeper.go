package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// An order is what the keeper is told, as JSON in its one argument.
type order struct {
	Home     home
	Binaries string
	Account  *account
	Idle     time.Duration
	// Elsewhere is the name of the server that was launched by other means, if
	// there is one. Then Binaries and Account say nothing.
	Elsewhere string
}

// spawn starts the keeper in a session of its own, so that neither the end of
// a terminal nor that of a job takes it along. The channel is closed when it
// has ended.
func spawn(config Config, o order) (*os.Process, <-chan struct{}, error) {
	argv := config.Keeper
	if len(argv) == 0 {
		return nil, nil, errors.New("no keeper is named that could watch over the server")
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, nil, fmt.Errorf("tell the keeper: %w", err)
	}
	log, err := openLog(o.Home)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close() // the keeper has its own copy
	var ourselves *account
	c := ourselves.command(argv[0], append(argv[1:len(argv):len(argv)], string(text))...)
	c.Env = append(c.Env, config.KeeperEnv...)
	c.SysProcAttr.Setsid = true
	c.Stdout, c.Stderr = log, log
	keepToOurselves()
	if err := c.Start(); err != nil {
		return nil, nil, fmt.Errorf("start keeper: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // its log tells how it ended
		close(ended)
	}()
	return c.Process, ended, nil
}

// openLog opens the server's log, which begins anew when it has grown long.
func openLog(h home) (*os.File, error) {
	const longest = 4 << 20 // bytes
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(h.file(logFile)); err == nil && info.Size() > longest {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(h.file(logFile), flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("server log: %w", err)
	}
	return log, nil
}

// keepToOurselves closes to programs that are started from now on whatever
// descriptors this process was given at its own start. A pipe of the job that
// the server went on holding open would keep the job from ending.
func keepToOurselves() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // no such folder, no such descriptors
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// Keep is the keeper: it runs the server, starts it again when it breaks off
// while it is being used, and stops it when nobody has used it for the time
// that it was told. It ends with the server. args is what Start added to
// Config.Keeper. A server that Config.Launch has started runs by itself and is
// not started again; stop stops it, by its name.
func Keep(ctx context.Context, args []string, stop func(ctx context.Context, name string) error) error {
	var o order
	if len(args) != 1 {
		return errors.New("the keeper of the private database is started by stopwatt itself")
	}
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return fmt.Errorf("read the keeper's order: %w", err)
	}
	ctx, unnotify := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer unnotify()
	k := keeper{order: o}
	if o.Elsewhere != "" {
		k.server = &server{elsewhere: func() error { return stop(context.WithoutCancel(ctx), o.Elsewhere) }}
	}
	if k.Idle <= 0 {
		k.Idle = defaultIdle
	}
	return k.keep(ctx)
}

// A keeper watches over one server.
type keeper struct {
	order
	server *server
	starts []time.Time
}

// keeperBound is how long a keeper waits for the lock of another that is
// about to end, or of a start that is looking whether there is one.
const keeperBound = 2 * time.Second

func (k *keeper) keep(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, keeperBound)
	defer cancel()
	only, err := lock(bounded, k.Home.file("keeper.lock"), exclusive)
	if err != nil {
		return err
	}
	defer only.release()
	if err := k.begin(); err != nil {
		return err
	}
	return k.watch(ctx)
}

// begin adopts the server that a killed keeper left, or starts one.
func (k *keeper) begin() error {
	if k.Elsewhere != "" {
		return nil
	}
	var err error
	if k.server = adopt(k.Home); k.server != nil {
		return nil
	}
	k.starts = append(k.starts, time.Now())
	k.server, err = launch(k.order)
	return err
}

// watch returns when the server has been stopped, or has ended for good.
func (k *keeper) watch(ctx context.Context) error {
	tick := time.NewTicker(min(max(k.Idle/10, pollEvery), 5*time.Second))
	defer tick.Stop()
	used := time.Now()
	for {
		select {
		case <-ctx.Done():
			return k.server.stop()
		case <-k.server.ended:
			if again, err := k.revive(ctx); !again || err != nil {
				return err
			}
		case <-tick.C:
			alone, free, err := k.alone()
			if err != nil {
				return errors.Join(err, k.server.stop())
			}
			if !free {
				used = time.Now()
				continue
			}
			if time.Since(used) >= k.Idle {
				defer alone.release() // nobody may come in while the server goes
				return k.leave()
			}
			alone.release()
		}
	}
}

// leave stops the server and leaves nothing but the data folder.
func (k *keeper) leave() error {
	if err := k.server.stop(); err != nil || k.Elsewhere != "" {
		return err
	}
	if err := os.Remove(k.Home.Socket); err != nil {
		return fmt.Errorf("remove socket folder: %w", err)
	}
	return nil
}

// alone shuts new clients out, if there are none at present.
func (k *keeper) alone() (heldLock, bool, error) {
	return tryLock(k.Home.file("clients.lock"), exclusive)
}

// mostStarts is how often the server is started within a minute. The pauses
// between add up to 13 s: processes of a killed server take a moment to end,
// and as long as there is one, another server refuses to start.
const (
	mostStarts = 8
	firstPause = 100 * time.Millisecond // doubled each time
)

// revive starts the server again when somebody is still using it, unless it
// keeps breaking off.
func (k *keeper) revive(ctx context.Context) (bool, error) {
	alone, free, err := k.alone()
	if err != nil {
		return false, err
	}
	if free {
		alone.release()
		return false, nil
	}
	k.starts = slices.DeleteFunc(k.starts, func(at time.Time) bool { return time.Since(at) > time.Minute })
	if len(k.starts) >= mostStarts {
		return false, fmt.Errorf("the server broke off %d times within a minute", mostStarts)
	}
	select {
	case <-ctx.Done():
		return false, nil
	case <-time.After(firstPause << len(k.starts) / 2):
		return true, k.begin()
	}
}

// stillness are the settings of every private server, on its command line so
// that they change with stopwatt. Nothing may stir in a measuring window: tables
// are vacuumed and checkpoints made when a run has finished (see
// storage.Store.Finish), which stopwatt.private asks for.
var stillness = []string{
	"max_connections=40",
	"shared_buffers=64MB", // of boards with 1 GB; the kernel caches the rest
	"autovacuum=off",
	"checkpoint_timeout=1d",
	"max_wal_size=2GB", // a run writes some MB
	"wal_level=minimal",
	"max_wal_senders=0",
	"bgwriter_lru_maxpages=0",
	"jit=off",
	"timezone=UTC",
	"log_timezone=UTC",
	"logging_collector=off",
	"log_checkpoints=off",
	"stopwatt.private=on",
}

// settings are the arguments for a server that listens on a socket alone.
func settings(socket string) []string {
	var args []string
	for _, setting := range append([]string{
		"listen_addresses=",
		"unix_socket_directories=" + socket,
		"unix_socket_permissions=0700",
		"port=" + port,
	}, stillness...) {
		args = append(args, "-c", setting)
	}
	return args
}

// serverCommand is the server, ready to be started.
func serverCommand(o order) *exec.Cmd {
	args := append([]string{"-D", o.Home.data()}, settings(o.Home.Socket)...)
	return o.Account.command(filepath.Join(o.Binaries, "postgres"), args...)
}
