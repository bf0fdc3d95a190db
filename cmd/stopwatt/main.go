// Command stopwatt benchmarks several implementations of the same thing in
// Docker, stores every result under its commit and says what it found.
//
// It wires the rooms together: flags and environment in, adapters made and
// handed over, exit status out. One file a verb. It measures nothing itself.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A reader that has gone away (stopwatt run | head) does not end a run:
	// writing to it fails, and measuring goes on.
	signal.Ignore(syscall.SIGPIPE)
	// A second signal ends the process the hard way: the next command cleans up.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	desk := &desk{getenv: getenv, stdout: stdout, stderr: stderr}
	root := desk.commands()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return desk.status(root.ExecuteContext(ctx))
}
