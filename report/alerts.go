package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Alerts are what became worse on the default branch.
type Alerts struct {
	Alerts   []stopwatt.Alert
	Machines map[string]string // names, by fingerprint
	All      bool              // also those that ask for nothing
}

// AlertsText tells each alert in a few lines.
func AlertsText(w io.Writer, a Alerts, columns int) error {
	p := page{options: Options{Width: max(cmp.Or(columns, defaultWidth), smallestWidth)}}
	for i, alert := range a.Alerts {
		if i > 0 {
			p.lines = append(p.lines, "")
		}
		p.lines = append(p.lines, a.alertLines(alert, p.options.Width)...)
	}
	switch {
	case len(a.Alerts) == 0 && a.All:
		p.text("no alert is stored")
	case len(a.Alerts) == 0:
		p.text("no alert is open; --all shows those that were acknowledged, resolved or withdrawn")
	default:
		p.note("Meant? stopwatt alerts ack ALERT --why REASON, or a line in the commit's message: Stopwatt-Accept: IMPLEMENTATION/WORKLOAD [METRIC] \"reason\".")
	}
	return p.write(w)
}

// alertLines tell one alert.
func (a Alerts) alertLines(alert stopwatt.Alert, columns int) []string {
	c := alert.Change
	title := fmt.Sprintf("%s  %s  %s  %s %s  %s", Clean(alert.ID), alert.State, short(suiteOf(alert)), short(alert.Case.String()), label(alert.Metric), ChangeSize(alert.Metric, c))
	if c.Ratio.Bounded {
		title += " (" + ChangeBounds(c) + ")"
	}
	lines := wrap(title+"  "+ChangeLevels(alert.Metric, c), columns, 2)
	state := string(c.State)
	if alert.State == stopwatt.AlertWithdrawn {
		state = "was found" // as it was last, which holds no more
	}
	where := fmt.Sprintf("%s since %s: %s", state, commitName(c.First), ChangeCommits(c))
	if name := a.Machines[alert.Machine]; name != "" {
		where += "; " + short(name)
	}
	lines = append(lines, indented(wrap(where, columns-2, 2))...)
	if said := saidTo(alert); said != "" {
		lines = append(lines, indented(wrap(said, columns-2, 2))...)
	}
	return lines
}

// suiteOf is the suite of an alert, with the profile that its runs had.
func suiteOf(alert stopwatt.Alert) string {
	if alert.Profile == "" {
		return alert.Suite
	}
	return alert.Suite + ", profile " + alert.Profile
}

// saidTo is who said what to an alert; empty when nobody did.
func saidTo(alert stopwatt.Alert) string {
	by := alert.Accepted
	if by == nil {
		return ""
	}
	text := "acknowledged by " + cmp.Or(short(by.By), "somebody")
	if by.Commit != "" {
		text += " in " + commitName(stopwatt.CommitPlace{SHA: by.Commit})
	}
	if !by.Until.IsZero() {
		text += " until " + by.Until.UTC().Format(time.DateOnly)
	}
	return text + ": " + Brief(by.Reason)
}

// AlertsCSV writes a line for each alert, in full precision.
func AlertsCSV(w io.Writer, a Alerts) error {
	records := [][]string{{"alert", "state", "project", "suite", "profile", "implementation", "workload", "metric", "unit", "machine", "fingerprint", "change",
		"first", "after", "up_to", "before", "now", "ratio", "low", "high", "found", "reason", "acknowledged_by", "acknowledged_in", "acknowledged_at", "until"}}
	for _, alert := range a.Alerts {
		j := a.jsonOf(alert)
		record := []string{j.Alert, j.State, j.Project, j.Suite, j.Profile, j.Implementation, j.Workload, j.Metric, j.Unit, j.Machine, j.Fingerprint, j.Change,
			j.First, j.After, j.UpTo, exactOf(j.Before), exactOf(j.Now), exactOf(j.Ratio), exactOf(j.Low), exactOf(j.High), j.Found}
		var said jsonSaid
		if j.Acknowledged != nil {
			said = *j.Acknowledged
		}
		records = append(records, append(record, said.Reason, said.By, said.Commit, said.At, said.Until))
	}
	return csv.NewWriter(w).WriteAll(records)
}

// exactOf is a number in full precision, or nothing.
func exactOf(value *float64) string {
	if value == nil {
		return ""
	}
	return exact(*value)
}

type jsonAlert struct {
	Alert          string    `json:"alert"`
	State          string    `json:"state"`
	Project        string    `json:"project"`
	Suite          string    `json:"suite"`
	Profile        string    `json:"profile"`
	Implementation string    `json:"implementation"`
	Workload       string    `json:"workload"`
	Metric         string    `json:"metric"`
	Unit           string    `json:"unit"`
	Machine        string    `json:"machine"`
	Fingerprint    string    `json:"fingerprint"`
	Change         string    `json:"change"`
	First          string    `json:"first"`
	After          string    `json:"after"`
	UpTo           string    `json:"up_to"`
	Before         *float64  `json:"before"`
	Now            *float64  `json:"now"`
	Ratio          *float64  `json:"ratio"`
	Low            *float64  `json:"low"`
	High           *float64  `json:"high"`
	Found          string    `json:"found"`
	Acknowledged   *jsonSaid `json:"acknowledged,omitempty"`
}

type jsonSaid struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
	Commit string `json:"commit,omitempty"`
	At     string `json:"at"`
	Until  string `json:"until,omitempty"`
}

// AlertsJSON writes alerts as one JSON list.
func AlertsJSON(w io.Writer, a Alerts) error {
	list := []jsonAlert{}
	for _, alert := range a.Alerts {
		list = append(list, a.jsonOf(alert))
	}
	return encode(w, list)
}

func (a Alerts) jsonOf(alert stopwatt.Alert) jsonAlert {
	c := alert.Change
	j := jsonAlert{
		Alert: alert.ID, State: string(alert.State), Project: alert.Project, Suite: alert.Suite, Profile: alert.Profile,
		Implementation: alert.Case.Implementation, Workload: alert.Case.Workload, Metric: alert.Metric.Name, Unit: alert.Metric.Unit,
		Machine: a.Machines[alert.Machine], Fingerprint: alert.Machine, Change: string(c.State), First: c.First.SHA, After: c.Past.SHA, UpTo: c.Reached.SHA,
		Before: finite(c.Before.Mean), Now: finite(c.After.Mean), Found: instant(alert.Found),
	}
	if c.Ratio.Known {
		j.Ratio = finite(c.Ratio.Value)
	}
	if c.Ratio.Bounded {
		j.Low, j.High = finite(c.Ratio.Low), finite(c.Ratio.High)
	}
	if by := alert.Accepted; by != nil {
		j.Acknowledged = &jsonSaid{Reason: by.Reason, By: by.By, Commit: by.Commit, At: instant(by.At), Until: instant(by.Until)}
	}
	return j
}
