package storage_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// alert is one of the change that storagetest.Search finds.
func alert(id, suite string) stopwatt.Alert {
	metric, _ := stopwatt.MetricNamed(storagetest.Sought().Metric)
	return stopwatt.Alert{
		ID: id, Project: "team/servers", Suite: suite, Case: storagetest.Sought().Case, Metric: metric, Machine: "f1",
		State: stopwatt.AlertOpen, Change: storagetest.Search("f1").ChangePoints[0],
	}
}

func TestAlertsComeBackWithWhatWasSaidToThem(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	one, two, gone := alert("aa11", "web-servers"), alert("aa22", "web-servers"), alert("bb33", "other")
	gone.State = stopwatt.AlertWithdrawn
	said := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	reason := func(text string, until time.Time) stopwatt.Acceptance {
		return stopwatt.Acceptance{Reason: text, By: "Ada\x00", Commit: "c12", At: said, Until: until}
	}
	acknowledge := func(id string, by stopwatt.Acceptance) error {
		_, err := s.Acknowledge(t.Context(), id, by)
		return err
	}
	if err := errors.Join(
		s.SaveAlerts(t.Context(), []stopwatt.Alert{one, two, gone}),
		acknowledge("aa1", reason("in a hurry", time.Time{})),
		acknowledge("aa11", reason("meant", time.Time{})),
		acknowledge("aa11", reason("meant", time.Time{})),
		acknowledge("aa22", reason("always", time.Time{})),
		acknowledge("aa22", reason("until it has ended", said.Add(time.Hour))),
	); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]error{"": storage.ErrNotFound, "cc": storage.ErrNotFound, "aa": storage.ErrAmbiguous} {
		if err := acknowledge(id, reason("no", time.Time{})); !errors.Is(err, want) {
			t.Errorf("acknowledging %q: %v", id, err)
		}
	}
	one.State = stopwatt.AlertAcknowledged
	one.Accepted = &stopwatt.Acceptance{Case: "rust/csv", Metric: "time", Reason: "meant", By: "Ada\uFFFD", Commit: "c12", At: said}
	two.Accepted = &stopwatt.Acceptance{Case: "rust/csv", Metric: "time", Reason: "until it has ended", By: "Ada\uFFFD", Commit: "c12", At: said, Until: said.Add(time.Hour)}
	for _, row := range []struct {
		of    string
		query storage.AlertQuery
		want  []stopwatt.Alert
	}{
		{"all", storage.AlertQuery{}, []stopwatt.Alert{one, two, gone}},
		{"what is open, also again", storage.AlertQuery{States: []stopwatt.AlertState{stopwatt.AlertOpen}}, []stopwatt.Alert{two}},
		{"what is acknowledged", storage.AlertQuery{States: []stopwatt.AlertState{stopwatt.AlertAcknowledged}}, []stopwatt.Alert{one}},
		{"of a suite", storage.AlertQuery{Project: "team/servers", Suite: "other"}, []stopwatt.Alert{gone}},
		{"of a series", storage.AlertQuery{Suite: "web-servers", Case: one.Case, Metric: "time", Machine: "f1"}, []stopwatt.Alert{one, two}},
		{"of another machine", storage.AlertQuery{Machine: "f2"}, nil},
		{"of another metric", storage.AlertQuery{Metric: "throughput"}, nil},
		{"of another case", storage.AlertQuery{Case: stopwatt.Case{Implementation: "go"}}, nil},
	} {
		got, err := s.Alerts(t.Context(), row.query)
		if diff := cmp.Diff(row.want, got, cmpopts.IgnoreFields(stopwatt.Alert{}, "Found"), cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: error %v\n%s", row.of, err, diff)
		}
	}
}

func TestAnAlertThatIsSavedAgainIsTheSame(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	rows := func() string {
		return fmt.Sprint(query(t, s, "select count(*), min(found), min(changed) from stopwatt_store.alerts"))
	}
	save := func(state stopwatt.AlertState) {
		t.Helper()
		again := alert("aa11", "web-servers")
		again.State = state
		if err := s.SaveAlerts(t.Context(), []stopwatt.Alert{again}); err != nil {
			t.Fatal(err)
		}
	}
	save(stopwatt.AlertOpen)
	first := rows()
	save(stopwatt.AlertAcknowledged) // as Alerts tells it, and regression leaves it
	if rows() != first {
		t.Errorf("%s, then %s", first, rows())
	}
	save(stopwatt.AlertResolved)
	if got := query(t, s, "select state, changed > found from alerts"); fmt.Sprint(got) != "[[resolved true]]" {
		t.Errorf("then it is %v", got)
	}
}

func TestAcceptancesOfMergeRequestsComeBackApart(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	merge := storage.AcceptanceQuery{Project: "p", Suite: "s", MergeRequest: stopwatt.MergeRequest{IID: 8, ProjectID: 12}}
	main := storage.AcceptanceQuery{Project: "p", Suite: "s"}
	said := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	late := stopwatt.Acceptance{Case: "go/*", Metric: "time", Reason: "meant", By: "Ada", Commit: "c1", At: said, Until: said.Add(time.Hour)}
	early := stopwatt.Acceptance{Case: "go/csv", Reason: "so", By: "Bo", At: said.Add(-time.Hour)}
	for range 2 {
		if err := errors.Join(
			s.SaveAcceptances(t.Context(), merge, []stopwatt.Acceptance{late, early}),
			s.SaveAcceptances(t.Context(), main, []stopwatt.Acceptance{early}),
			s.SaveAcceptances(t.Context(), main, nil),
		); err != nil {
			t.Fatal(err)
		}
	}
	other := merge
	other.MergeRequest.IID = 9
	for _, row := range []struct {
		of   storage.AcceptanceQuery
		want []stopwatt.Acceptance
	}{{merge, []stopwatt.Acceptance{early, late}}, {main, []stopwatt.Acceptance{early}}, {other, nil}} {
		got, err := s.Acceptances(t.Context(), row.of)
		if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%+v: error %v\n%s", row.of, err, diff)
		}
	}
}
