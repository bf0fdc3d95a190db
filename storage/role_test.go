package storage_test

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// jobRoles counts roles: they belong to a server, which all databases share.
var jobRoles atomic.Int64

// TestTheRoleOfTheGuideMayStoreResults carries out the SQL of docs/gitlab.md, and
// has the role that it makes do all that a store is asked for.
func TestTheRoleOfTheGuideMayStoreResults(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/gitlab.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(guide)
	if block == nil {
		t.Fatal("docs/gitlab.md has no SQL")
	}
	storagetest.Exercise(t, func(t *testing.T) storagetest.Store {
		return openAsJob(t, string(block[1]))
	})
}

// openAsJob makes a database as its owner does, and opens it as a job does, which
// may not change it.
func openAsJob(t *testing.T, sql string) *storage.Store {
	t.Helper()
	dsn := embeddedtest.ForTest(t)
	open(t, dsn).Close() // which makes the schema
	role := fmt.Sprintf("stopwatt_job_%d", jobRoles.Add(1))
	if err := executeAll(t, dsn, strings.ReplaceAll(sql, "stopwatt_job", role)); err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, "PASSWORD")
	if err := executeAll(t, address.String(), "DROP TABLE stopwatt_store.trials"); err == nil {
		t.Error("a job may drop a table")
	}
	return open(t, address.String())
}

// executeAll carries out statements in one go, as psql -f does.
func executeAll(t *testing.T, dsn, sql string) error {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(t.Context())
	_, err = connection.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	return err
}
