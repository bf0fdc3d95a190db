package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// alerted are alerts of the changes of a history: an open one, one that somebody
// acknowledged, and one with a hostile name.
func alerted() Alerts {
	h := past()
	found := time.Date(2026, 11, 9, 8, 0, 0, 0, time.UTC)
	alert := func(id string, state stopwatt.AlertState, by *stopwatt.Acceptance) stopwatt.Alert {
		return stopwatt.Alert{ID: id, Project: "team/servers", Suite: "web-servers", Case: h.Traced[0].Series.Case, Metric: h.Metric, Machine: "f1",
			State: state, Change: h.Traced[0].Searches[0].ChangePoints[1], Found: found, Accepted: by}
	}
	hostile := alert("c3c3c3c3", stopwatt.AlertResolved, &stopwatt.Acceptance{Reason: "\x1b[2J\"a,b\"\n", By: "\x1b]0;x\a", At: found})
	hostile.Case.Workload = "\x1b[31m<script>"
	hostile.Change.Ratio = stopwatt.Interval{}
	return Alerts{Machines: h.Machines, Alerts: []stopwatt.Alert{
		alert("a1a1a1a1", stopwatt.AlertOpen, nil),
		alert("b2b2b2b2", stopwatt.AlertAcknowledged, &stopwatt.Acceptance{Reason: "validates every line now", By: "Ada Lovelace", Commit: "c3d18f0a00", At: found, Until: found.AddDate(0, 1, 0)}),
		hostile,
	}}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	for file, write := range map[string]func(io.Writer) error{
		"alerts.txt":       func(w io.Writer) error { return AlertsText(w, alerted(), 0) },
		"alerts.csv":       func(w io.Writer) error { return AlertsCSV(w, alerted()) },
		"alerts.json":      func(w io.Writer) error { return AlertsJSON(w, alerted()) },
		"alerts-none.txt":  func(w io.Writer) error { return AlertsText(w, Alerts{}, 0) },
		"alerts-none.json": func(w io.Writer) error { return AlertsJSON(w, Alerts{}) },
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}

func TestAWithdrawnAlertIsNotToldToBeConfirmed(t *testing.T) {
	t.Parallel()
	a := alerted()
	a.Alerts = a.Alerts[:1]
	a.Alerts[0].State = stopwatt.AlertWithdrawn
	var out bytes.Buffer
	if err := AlertsText(&out, a, 0); err != nil {
		t.Fatal(err)
	}
	if told := out.String(); !strings.Contains(told, "withdrawn") || !strings.Contains(told, "was found since") || strings.Contains(told, "confirmed") {
		t.Error(told)
	}
}
