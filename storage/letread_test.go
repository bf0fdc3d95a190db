package storage_test

import (
	"net/url"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// as is the name of a database with another role in it.
func as(t *testing.T, dsn, role string) string {
	t.Helper()
	name, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name.User = url.User(role)
	return name.String()
}

// reading makes a database with a run of a commit in it, and a role of this name
// that may read it, on a server of its own: roles belong to all databases of one.
func reading(t *testing.T, role string) (owner, guest string) {
	t.Helper()
	owner, release := ownServer(t)
	t.Cleanup(release)
	owner = strings.Replace(owner, private(""), "", 1)
	ids := storedCommits(t, open(t, owner), 2)
	if err := open(t, owner).SaveTrial(t.Context(), ids[0], storagetest.Trial(1, "go", "csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.LetRead(t.Context(), owner, role, ""); err != nil {
		t.Fatal(err)
	}
	return owner, as(t, owner, role)
}

func TestAReaderReadsViewsAndNothingElse(t *testing.T) {
	t.Parallel()
	const role = `Graf"ana` // a name that must be quoted
	owner, guest := reading(t, role)
	execute(t, owner, "CREATE VIEW stopwatt.added AS SELECT id FROM stopwatt_store.runs") // as a later step of the schema may
	for _, row := range []struct{ sql, says string }{
		{"SELECT * FROM stopwatt.results", ""},
		{"SELECT * FROM stopwatt.series", ""},
		{"SELECT * FROM stopwatt.added", ""},
		{"SELECT * FROM stopwatt_pages.runs", ""},
		{"SELECT * FROM stopwatt_store.runs", "permission denied"},
		{"SELECT * FROM stopwatt_store.leases", "permission denied"},
		{"SELECT stopwatt_store.refresh_spans(1)", "permission denied"},
		{"SELECT * FROM pg_authid", "permission denied"},
		{"INSERT INTO stopwatt_pages.projects (name) VALUES ('x')", "permission denied"},
		{"SET TRANSACTION READ WRITE; INSERT INTO stopwatt_pages.projects (name) VALUES ('x')", "permission denied"},
		{"SET TRANSACTION READ WRITE; UPDATE stopwatt.runs SET suite = 'x'", "cannot update view"},
		{"SET TRANSACTION READ WRITE; CREATE TABLE stopwatt.mine (a int)", "permission denied"},
	} {
		err := tryExecute(t, guest, row.sql)
		if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%s: %v", row.sql, err)
		}
	}
}

func TestTheReadersRightsAreEnoughForPages(t *testing.T) {
	t.Parallel()
	_, guest := reading(t, "pages")
	a := openArchive(t, guest)
	o, err := a.Overview(t.Context())
	if err != nil || len(o.Runs) != 2 {
		t.Fatalf("%+v, error %v", o, err)
	}
	run := o.Runs[1].ID
	_, contents := a.Contents(t.Context(), servers)
	_, at := a.RunAt(t.Context(), stopwatt.RunPlace{Suite: servers, Profile: "short"})
	_, results := a.Results(t.Context(), run)
	_, list := a.TrialList(t.Context(), run)
	_, trial := a.Trial(t.Context(), run, 1)
	_, machine := a.MachineHistory(t.Context(), fingerprint())
	courses, course := a.Courses(t.Context(), goTime(10))
	_, changes := a.Changes(t.Context(), goTime(10))
	for i, err := range []error{contents, at, results, list, trial, machine, course, changes} {
		if err != nil {
			t.Errorf("question %d: %v", i, err)
		}
	}
	if len(courses) != 1 || len(courses[0].Points) != 2 {
		t.Errorf("courses %+v", courses)
	}
}

func TestAReaderIsMadeOnce(t *testing.T) {
	t.Parallel()
	owner, guest := reading(t, "twice")
	for _, row := range []struct{ role, password, says, fails string }{
		{"twice", "", "role twice was there", ""},
		{"twice", "s3'cr\\et", "set its password", ""},
		{"stopwatt", "", "", "may do more than read"},
		{"", "", "", "is no name for a role"},
	} {
		did, err := storage.LetRead(t.Context(), owner, row.role, row.password)
		if !strings.Contains(strings.Join(did, "; "), row.says) || row.fails == "" && err != nil || row.fails != "" && (err == nil || !strings.Contains(err.Error(), row.fails)) {
			t.Errorf("%q: %v, error %v", row.role, did, err)
		}
	}
	if _, err := storage.LetRead(t.Context(), guest, "other", ""); err == nil || !strings.Contains(err.Error(), "has CREATEROLE") {
		t.Errorf("by a reader: %v", err)
	}
}

func TestARoleThatMayNotReadPagesIsToldWhoMay(t *testing.T) {
	t.Parallel()
	owner, _ := reading(t, "one")
	execute(t, owner, "CREATE ROLE guest LOGIN")
	_, err := storage.OpenReader(t.Context(), as(t, owner, "guest"))
	if err == nil || !strings.Contains(err.Error(), "stopwatt migrate --reader guest") {
		t.Errorf("got %v", err)
	}
}
