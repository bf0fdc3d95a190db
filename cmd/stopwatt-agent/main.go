//go:build linux

// Command stopwatt-agent is put into containers: to drive load at a server, to
// time programs, or to read the meters of a machine that stopwatt itself does not
// see.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gitlab.com/stopwatt/stopwatt/agent"
	"gitlab.com/stopwatt/stopwatt/meter"
)

const usage = `usage:
  stopwatt-agent drive       carry out the order and the commands on standard input
  stopwatt-agent time        run and time programs as standard input says
  stopwatt-agent serve ADDR  answer every request on ADDR (host:port), at no cost
  stopwatt-agent meters      answer the questions on standard input about this machine's meters
  stopwatt-agent wait ADDR D end when ADDR (host:port) takes a connection, at most after the duration D
  stopwatt-agent version     print the version
`

// version is set by the linker.
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := agent.KeepApart(); err != nil {
		fmt.Fprintln(os.Stderr, "stopwatt-agent:", err)
		os.Exit(1)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run does what args say and returns the exit status: 0, 1 when it could not
// be done, 2 when it was asked wrongly.
func run(ctx context.Context, args []string, in io.Reader, out, errors io.Writer) int {
	var err error
	switch {
	case len(args) == 1 && args[0] == "drive":
		err = agent.Converse(ctx, in, out)
	case len(args) == 1 && args[0] == "time":
		err = agent.Time(ctx, in, out)
	case len(args) == 2 && args[0] == "serve":
		err = agent.Serve(ctx, args[1], nil)
	case len(args) == 1 && args[0] == "meters":
		err = meter.Serve(ctx, in, out)
	case len(args) == 3 && args[0] == "wait":
		var within time.Duration
		if within, err = time.ParseDuration(args[2]); err == nil {
			err = agent.Wait(ctx, args[1], within)
		}
	case len(args) == 1 && args[0] == "version":
		_, err = fmt.Fprintln(out, "stopwatt-agent", version)
	default:
		fmt.Fprint(errors, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintln(errors, "stopwatt-agent:", err)
		return 1
	}
	return 0
}
