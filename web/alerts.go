package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// longestReason is how long what people say may be, in bytes.
const longestReason = 500

// An alertsPage lists what became worse, and lets people say that it is meant.
type alertsPage struct {
	frame
	Open, Others []alertShown
	MayAnswer    bool
	Form         string // the form's own token
}

// An alertShown is an alert in words.
type alertShown struct {
	stopwatt.Alert
	Metric, Size, Bounds, Levels, Said, Link string
	Commits, Machine                         string
}

// alerts lists the alerts.
func (s *Server) alerts(w http.ResponseWriter, r *http.Request) error {
	if s.Alarms == nil {
		return stopwatt.ErrNotFound
	}
	all, err := s.Alarms.Alerts(r.Context())
	if err != nil {
		return err
	}
	o, err := s.Archive.Overview(r.Context())
	if err != nil {
		return err
	}
	_, known := s.user(r)
	p := alertsPage{frame: s.frame(r, "Alerts"), MayAnswer: known && !s.files, Form: s.formToken(r)}
	p.JSON = "/api/v1/alerts"
	for _, alert := range all {
		shown := alertShown{Alert: alert, Metric: report.Label(alert.Metric), Size: report.ChangeSize(alert.Metric, alert.Change), Bounds: report.ChangeBounds(alert.Change),
			Levels: report.ChangeLevels(alert.Metric, alert.Change), Said: saidText(alert), Commits: report.ChangeCommits(alert.Change), Machine: machineName(o.Machines, alert.Machine),
			Link: seriesAddress(stopwatt.SuiteName{Project: alert.Project, Suite: alert.Suite}, "profile", alert.Profile, "case", alert.Case.String(), "metric", alert.Metric.Name, "machine", alert.Machine)}
		if alert.State == stopwatt.AlertOpen {
			p.Open = append(p.Open, shown)
		} else {
			p.Others = append(p.Others, shown)
		}
	}
	s.writePage(w, http.StatusOK, "alerts", p)
	return nil
}

// saidText is what somebody said to an alert; empty where nobody did, and where it
// has ended.
func saidText(alert stopwatt.Alert) string {
	by := alert.Accepted
	if by == nil {
		return ""
	}
	text := report.Brief(by.Reason)
	if by.By != "" {
		text += ", by " + report.Brief(by.By)
	}
	if !by.Until.IsZero() {
		text += ", until " + date(by.Until)
	}
	return text
}

// alertOf is the ID of the alert of a change.
func alertOf(c stopwatt.SeriesChange) string {
	return stopwatt.AlertID(c.Suite, stopwatt.Series{Case: c.Case, Metric: c.Metric.Name, Profile: c.Profile}, c.Machine, c.Change.First.SHA)
}

// said is what was said to alerts, by their IDs.
func (s *Server) said(ctx context.Context) (map[string]string, error) {
	said := map[string]string{}
	if s.Alarms == nil {
		return said, nil
	}
	all, err := s.Alarms.Alerts(ctx)
	for _, alert := range all {
		if alert.State == stopwatt.AlertAcknowledged {
			said[alert.ID] = saidText(alert)
		}
	}
	return said, err
}

// acknowledge keeps what somebody says to an alert.
func (s *Server) acknowledge(w http.ResponseWriter, r *http.Request) error {
	if s.Alarms == nil {
		return stopwatt.ErrNotFound
	}
	by := stopwatt.Acceptance{Reason: strings.Join(strings.Fields(r.PostFormValue("why")), " "), By: userOf(r), At: s.Now()}
	switch {
	case by.Reason == "":
		return wrongly("Say why it is meant.")
	case len(by.Reason) > longestReason:
		return wrongly("Say it in %d letters at most.", longestReason)
	}
	if until := r.PostFormValue("until"); until != "" {
		day, err := time.Parse("2006-01-02", until)
		if err != nil || !day.After(by.At) {
			return wrongly("%q is no day to come: write %s.", until, date(by.At.AddDate(0, 1, 0)))
		}
		by.Until = day
	}
	if by.By == "" {
		by.By = "somebody with the token"
	}
	if err := s.Alarms.Acknowledge(r.Context(), r.PathValue("alert"), by); err != nil {
		return err
	}
	http.Redirect(w, r, "/alerts", http.StatusSeeOther)
	return nil
}

// jsonAlert is an alert as the API has it.
type jsonAlert struct {
	ID             string     `json:"id"`
	State          string     `json:"state"`
	Project        string     `json:"project"`
	Suite          string     `json:"suite"`
	Profile        string     `json:"profile"`
	Implementation string     `json:"implementation"`
	Workload       string     `json:"workload"`
	Metric         string     `json:"metric"`
	Machine        string     `json:"machine"`
	Found          *time.Time `json:"found"`
	First          string     `json:"first"`
	Ratio          *float64   `json:"ratio"`
	Why            string     `json:"why"`
	By             string     `json:"by"`
	Until          *time.Time `json:"until"`
}

// apiAlerts lists the alerts.
func (s *Server) apiAlerts(w http.ResponseWriter, r *http.Request) error {
	if s.Alarms == nil {
		return stopwatt.ErrNotFound
	}
	all, err := s.Alarms.Alerts(r.Context())
	if err != nil {
		return err
	}
	out := []jsonAlert{}
	for _, a := range all {
		one := jsonAlert{ID: a.ID, State: string(a.State), Project: a.Project, Suite: a.Suite, Profile: a.Profile, Implementation: a.Case.Implementation, Workload: a.Case.Workload, Metric: a.Metric.Name,
			Machine: a.Machine, Found: when(a.Found), First: a.Change.First.SHA}
		if a.Change.Ratio.Known {
			one.Ratio = number(a.Change.Ratio.Value)
		}
		if a.Accepted != nil {
			one.Why, one.By, one.Until = a.Accepted.Reason, a.Accepted.By, when(a.Accepted.Until)
		}
		out = append(out, one)
	}
	return sendJSON(w, struct {
		Alerts []jsonAlert `json:"alerts"`
	}{out})
}
