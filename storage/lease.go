package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A LeaseOrder says who wants to measure on which machine.
type LeaseOrder struct {
	Machine string // its Fingerprint
	Holder  string // in words, for those that wait: the URL of a job
	// Lock tells the lock of the machine that the holder has beside the lease; empty
	// for none. Nobody else can have the same one: a lease that was taken under it is
	// that of a process which has ended.
	Lock string
	// Lasting is how long the lease holds after its holder was heard of last. It is
	// renewed three times as often.
	Lasting time.Duration
	// Lost is called once, from another goroutine, when the lease could not be
	// renewed in time or was taken over. The holder may go on.
	Lost func(error)
}

// A HeldError says that somebody else measures on the machine.
type HeldError struct {
	Holder string
	Until  time.Time // when it ends, unless its holder is heard of before; by the database's clock
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("the machine is being measured on by %s", e.Holder)
}

// ErrTakenOver says that a lease ran out and somebody else has it now.
var ErrTakenOver = errors.New("somebody else measures on this machine now")

// A Lease is the right to measure on a machine, renewed until it is released.
type Lease struct {
	store *Store
	order LeaseOrder
	token string
	stop  context.CancelFunc
	ended chan struct{}
}

// Lease takes the lease of a machine, also in the place of one that has run out.
// Where somebody holds it, the error is a *HeldError. All times are those of the
// database's clock, so that holders with other clocks agree.
func (s *Store) Lease(ctx context.Context, order LeaseOrder) (*Lease, error) {
	lease := &Lease{store: s, order: order, token: rand.Text(), ended: make(chan struct{})}
	if err := s.atomically(ctx, func(tx pgx.Tx) error { return takeLease(ctx, tx, order, lease.token) }); err != nil {
		return nil, fmt.Errorf("lease the machine: %w", err)
	}
	var renewing context.Context
	renewing, lease.stop = context.WithCancel(context.WithoutCancel(ctx))
	go lease.keep(renewing)
	return lease, nil
}

func takeLease(ctx context.Context, tx pgx.Tx, order LeaseOrder, token string) error {
	tag, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.leases AS l (fingerprint, token, holder, lock, taken, expires)
		VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp() + $5 * interval '1 s')
		ON CONFLICT (fingerprint) DO UPDATE
			SET token = excluded.token, holder = excluded.holder, lock = excluded.lock, taken = excluded.taken, expires = excluded.expires
			WHERE l.expires <= clock_timestamp() OR l.token = excluded.token OR l.lock <> '' AND l.lock = excluded.lock`,
		order.Machine, token, plain(order.Holder), plain(order.Lock), order.Lasting.Seconds())
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	held := &HeldError{}
	err = tx.QueryRow(ctx, "SELECT holder, expires FROM stopwatt_store.leases WHERE fingerprint = $1", order.Machine).Scan(&held.Holder, &held.Until)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // it was released in between: the next try succeeds
		return err
	}
	return held
}

// keep renews the lease until it is released. A database that is away for a while
// is asked again.
func (l *Lease) keep(ctx context.Context) {
	defer close(l.ended)
	ticker := time.NewTicker(l.order.Lasting / 3)
	defer ticker.Stop()
	heard, told := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := l.renew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			heard = time.Now()
		case !told && (errors.Is(err, ErrTakenOver) || time.Since(heard) >= l.order.Lasting):
			l.order.Lost(err)
			told = true
		}
		if errors.Is(err, ErrTakenOver) {
			return
		}
	}
}

func (l *Lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectBound)
	defer cancel()
	tag, err := l.store.pool.Exec(ctx, `
		UPDATE stopwatt_store.leases SET expires = clock_timestamp() + $3 * interval '1 s' WHERE fingerprint = $1 AND token = $2`,
		l.order.Machine, l.token, l.order.Lasting.Seconds())
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrTakenOver
	}
	return l.store.name(err)
}

// Release gives the machine free, also when ctx has ended. Where the database does
// not answer, the lease runs out by itself.
func (l *Lease) Release(ctx context.Context) {
	l.stop()
	<-l.ended
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectBound)
	defer cancel()
	_, _ = l.store.pool.Exec(ctx, "DELETE FROM stopwatt_store.leases WHERE fingerprint = $1 AND token = $2", l.order.Machine, l.token)
}
