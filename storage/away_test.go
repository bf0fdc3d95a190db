package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

func TestWhatMayBeTakenAnotherTime(t *testing.T) {
	t.Parallel()
	refusedWith := func(code string) error { return &pgconn.PgError{Code: code} }
	for name, row := range map[string]struct {
		err  error
		away bool
	}{
		"nothing went wrong":                      {nil, false},
		"the connection was cut":                  {&net.OpError{Op: "read", Err: io.EOF}, true},
		"the connection had been cut before":      {pgconn.ErrConnClosed, true},
		"the answer ended early":                  {io.ErrUnexpectedEOF, true},
		"no answer came in time":                  {context.DeadlineExceeded, true},
		"the command was interrupted":             {context.Canceled, true},
		"the database cannot be reached":          {storage.ErrUnreachable, true},
		"the disk is full":                        {refusedWith("53100"), true},
		"it takes no writing":                     {refusedWith("25006"), true},
		"the server shuts down":                   {refusedWith("57P01"), true},
		"the role may no more":                    {refusedWith("42501"), true},
		"the server cannot read its own files":    {refusedWith("58030"), true},
		"the figures are none":                    {refusedWith("22003"), false},
		"a constraint forbids it":                 {refusedWith("23514"), false},
		"there is no such run":                    {storage.ErrNotFound, false},
		"a figure was refused before it was sent": {errors.New("time is NaN, which is no figure"), false},
	} {
		if row.err != nil {
			row.err = fmt.Errorf("save trial: %w", row.err)
		}
		if got := storage.Away(row.err); got != row.away {
			t.Errorf("%s: away is %v", name, got)
		}
	}
}

func TestARunIsFoundByItsKeyAndClaimedOnce(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	first, second := open(t, dsn), open(t, dsn)
	begun, _ := begin(t, first, "k-1")
	found, err := second.RunOfKey(t.Context(), "k-1")
	if err != nil || found.ID != begun.ID || found.Suite != storagetest.Run().Suite {
		t.Errorf("found run %d, error %v", found.ID, err)
	}
	if _, err := second.RunOfKey(t.Context(), "k-2"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if ours, err := second.Claim(t.Context(), begun.ID); ours || err != nil {
		t.Errorf("claimed from the one who carries it out: %v, error %v", ours, err)
	}
	first.Close()
	if ours, err := second.Claim(t.Context(), begun.ID); !ours || err != nil {
		t.Errorf("claimed from nobody: %v, error %v", ours, err)
	}
}
