package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt/migrations"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// readsUntil asks again and again what the runs amounted to, in sessions that wait for
// no lock longer than readers may, until done is closed. It returns how often.
func readsUntil(ctx context.Context, dsn string, begun chan<- struct{}, done <-chan struct{}) (reads int, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, "SET lock_timeout = '20s'"); err != nil {
		return 0, err
	}
	for {
		var rows, trials int
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM stopwatt.results WHERE run = 3").Scan(&rows); err != nil {
			return reads, err
		}
		if err := conn.QueryRow(ctx, "SELECT valid FROM stopwatt.runs WHERE run = 30").Scan(&trials); err != nil {
			return reads, err
		}
		if want := storagetest.WideImplementations * storagetest.WideWorkloads * storagetest.WideMetrics; rows != want || trials == 0 {
			return reads, fmt.Errorf("%d rows, want %d; %d valid trials", rows, want, trials)
		}
		if reads++; reads == 1 {
			close(begun)
		}
		select {
		case <-done:
			return reads, nil
		default:
		}
	}
}

func TestReadersGoOnWhileAFilledDatabaseMigrates(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	if err := storage.MigrateTo(t.Context(), dsn, 12); err != nil {
		t.Fatal(err)
	}
	if err := storagetest.FillWide(t.Context(), dsn, 30); err != nil {
		t.Fatal(err)
	}
	begun, done := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	reads := 0
	go func() {
		var err error
		reads, err = readsUntil(t.Context(), dsn, begun, done)
		ended <- err
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Fatal(err)
	}
	from, to, err := storage.Migrate(t.Context(), dsn)
	close(done)
	if err != nil || from != 12 || to != migrations.Latest() {
		t.Errorf("migrated from %d to %d, error %v", from, to, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("after %d reads: %v", reads, err)
	}
	t.Logf("%d reads", reads)
	a := openArchive(t, dsn)
	query := wideQuery(1, 100)
	if courses, err := a.Courses(t.Context(), query); err != nil || len(courses) != 1 || len(courses[0].Points) != 30 {
		t.Errorf("afterwards: %+v, error %v", courses, err)
	}
}
