package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

const (
	// leaseLasting is how long a machine stays leased to a process that was killed
	// where nobody can tell. Renewing takes a millisecond, three times in this.
	leaseLasting = 90 * time.Second
	// leasePoll is how often a stopwatt that waits for another asks the database,
	// which may lie on the machine that is being measured.
	leasePoll = 5 * time.Second
)

// leaseMachine makes sure that no other stopwatt measures on this machine that sees
// another lock file, as in another container, and waits for one that does. The
// meters are let go meanwhile: reading them is work.
func (w *workplace) leaseMachine(ctx context.Context, planned plannedRun) error {
	order := storage.LeaseOrder{
		Machine: storage.Fingerprint(w.instruments.machine(w.docker.Engine()).Identity),
		Holder:  w.leaseHolder(),
		Lock:    w.lockName(),
		Lasting: leaseLasting,
		Lost: func(err error) {
			fmt.Fprintf(w.stderr, "note    the lease of this machine was lost, and measuring goes on: %v\n", harmless(err))
		},
	}
	lease, err := w.store.Lease(ctx, order)
	var held *storage.HeldError
	if errors.As(err, &held) {
		fmt.Fprintf(w.stderr, "wait    another stopwatt measures on this machine (%s)\n", report.Clean(held.Holder))
		w.instruments.close()
		w.instruments = nil
		if lease, err = w.waitForLease(ctx, order); err == nil {
			w.instruments, err = w.openInstruments(ctx, w.docker, planned.file.suite.Meters)
		}
	}
	if lease != nil {
		w.opened = append(w.opened, func() { lease.Release(ctx) })
	}
	return err
}

// waitForLease asks for the lease until nobody else has it.
func (w *workplace) waitForLease(ctx context.Context, order storage.LeaseOrder) (*storage.Lease, error) {
	for {
		lease, err := w.store.Lease(ctx, order)
		var held *storage.HeldError
		if !errors.As(err, &held) {
			return lease, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(leasePoll):
		}
	}
}

// leaseHolder says to those that wait who measures: the job, where there is one.
func (d *desk) leaseHolder() string {
	host, _ := os.Hostname() // it is for reading
	return cmp.Or(d.getenv("CI_JOB_URL"), fmt.Sprintf("process %d of %s", os.Getpid(), cmp.Or(host, "another host")))
}

// lockName tells the lock file of this machine from those that others see: the
// device and the number of its inode, which no two files of a machine share.
func (d *desk) lockName() string {
	info, err := os.Stat(d.lockFile())
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}
