package storage_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// wants is what a job wants, for so long that no test waits for its end.
func wants(holder, lock string) storage.LeaseOrder {
	return storage.LeaseOrder{Machine: "f", Holder: holder, Lock: lock, Lasting: time.Hour, Lost: func(error) {}}
}

func TestOneHoldsTheLeaseOfAMachine(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s, other := open(t, dsn), open(t, dsn)
	first, err := s.Lease(t.Context(), wants("job 1", "lock 1"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := wants("job 9", "lock 9")
	elsewhere.Machine = "g"
	for _, row := range []struct {
		of    string
		order storage.LeaseOrder
		held  bool
	}{
		{"a job that has another lock", wants("job 2", "lock 2"), true},
		{"a job without a lock", wants("job 3", ""), true},
		{"a job on another machine", elsewhere, false},
	} {
		lease, err := other.Lease(t.Context(), row.order)
		var held *storage.HeldError
		if errors.As(err, &held) != row.held || row.held && (held.Holder != "job 1" || !held.Until.After(time.Now())) {
			t.Errorf("%s: %v", row.of, err)
		}
		if lease != nil {
			lease.Release(t.Context())
		}
	}
	first.Release(t.Context())
	second, err := other.Lease(t.Context(), wants("job 2", ""))
	if err != nil {
		t.Fatal(err)
	}
	first.Release(t.Context()) // which is nobody's any more
	if _, err := s.Lease(t.Context(), wants("job 3", "")); err == nil {
		t.Error("the lease of another was released")
	}
	second.Release(t.Context())
}

func TestALeaseThatNobodyHoldsAnyMoreIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ lock, runsOut string }{
		"it has run out": {"another lock", "UPDATE stopwatt_store.leases SET expires = now() - interval '1 s'"},
		"whoever took it had the lock that we have now": {"lock 1", "SELECT 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := embeddedtest.ForTest(t)
			s, other := open(t, dsn), open(t, dsn)
			dead, err := s.Lease(t.Context(), wants("job 1", "lock 1"))
			if err != nil {
				t.Fatal(err)
			}
			execute(t, dsn, row.runsOut)
			lease, err := other.Lease(t.Context(), wants("job 2", row.lock))
			if err != nil {
				t.Fatal(err)
			}
			dead.Release(t.Context())
			var held *storage.HeldError
			if _, err := s.Lease(t.Context(), wants("job 3", "")); !errors.As(err, &held) || held.Holder != "job 2" {
				t.Errorf("then: %v", err)
			}
			lease.Release(t.Context())
		})
	}
}

func TestALeaseIsRenewedWhileItsHolderLives(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	order := wants("job 1", "")
	order.Lasting = 30 * time.Millisecond
	lost := make(chan error, 1)
	order.Lost = func(err error) { lost <- err }
	lease, err := s.Lease(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	expires := func() string {
		return fmt.Sprint(query(t, s, "select expires from stopwatt_store.leases"))
	}
	for first := expires(); expires() == first; { // until it is renewed
	}
	execute(t, dsn, "UPDATE stopwatt_store.leases SET token = 'another'")
	if err := <-lost; !errors.Is(err, storage.ErrTakenOver) {
		t.Errorf("lost by %v", err)
	}
	lease.Release(t.Context())
	if got := query(t, s, "select count(*) from stopwatt_store.leases"); got[0][0] != int64(1) {
		t.Error("the lease of another was released")
	}
}

func TestALeaseIsLostWithTheDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	order := wants("job 1", "")
	order.Lasting = 30 * time.Millisecond
	lost := make(chan error, 1)
	order.Lost = func(err error) { lost <- err }
	lease, err := s.Lease(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := <-lost; err == nil || errors.Is(err, storage.ErrTakenOver) {
		t.Errorf("lost by %v", err)
	}
	lease.Release(t.Context())
}

func TestEightWantOneLease(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	leases, errs := make(chan *storage.Lease, 8), make(chan error, 8)
	for i := range 8 {
		go func() {
			lease, err := s.Lease(t.Context(), wants(fmt.Sprint("job ", i), ""))
			leases <- lease
			errs <- err
		}()
	}
	count := 0
	for range 8 {
		var held *storage.HeldError
		if err := <-errs; err != nil && !errors.As(err, &held) {
			t.Error(err)
		}
		if lease := <-leases; lease != nil {
			count++
			defer lease.Release(t.Context())
		}
	}
	if count != 1 {
		t.Errorf("%d have it", count)
	}
}
