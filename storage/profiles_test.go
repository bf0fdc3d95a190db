package storage_test

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// Alerts of a suite that has only ever been measured with one profile would have stayed
// open for ever beside those that its next search finds.
func TestWhatWasFoundBeforeProfilesWereToldApartIsOfTheOneThatThereWas(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	storedCommits(t, s, 2) // of profile short
	search := storagetest.Search(fingerprint())
	alert := stopwatt.Alert{ID: "a1a1a1a1", Project: servers.Project, Suite: servers.Suite, Case: storagetest.Sought().Case, Machine: fingerprint(),
		State: stopwatt.AlertOpen, Change: search.ChangePoints[0]}
	alert.Metric, _ = stopwatt.MetricNamed(storagetest.Sought().Metric)
	if err := s.SaveChanges(t.Context(), servers.Project, servers.Suite, storagetest.Sought(), []stopwatt.ChangeSearch{search}); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveAlerts(t.Context(), []stopwatt.Alert{alert}); err != nil {
		t.Fatal(err)
	}
	execute(t, dsn, "DELETE FROM stopwatt_store.schema_version WHERE version_id >= 23")
	if _, _, err := storage.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	series := storagetest.Sought()
	for profile, want := range map[string]int{"short": 1, "": 0} {
		series.Profile = profile
		found, err := s.Changes(t.Context(), servers.Project, servers.Suite, series)
		if err != nil || len(found) != want {
			t.Errorf("profile %q: %d searches, want %d, error %v", profile, len(found), want, err)
		}
	}
	alerts, err := s.Alerts(t.Context(), storage.AlertQuery{})
	if err != nil || len(alerts) != 1 || alerts[0].Profile != "short" {
		t.Errorf("%+v, error %v", alerts, err)
	}
}
