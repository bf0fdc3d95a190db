package regression

import (
	"cmp"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// FollowAlerts carries the alerts of a series on one machine on when it has been
// searched again; known are those that FollowAlerts returned before, none at
// first, and of names project, suite, case and metric. Every change point for the worse that is suspected or confirmed is an
// alert. One is the same as before when it lies at the same commit or, when more
// commits have moved it, may lie there. By this rule:
//
//   - it is resolved when a later stretch of the series is nearer to the level
//     before the change than to the one behind it, or better still;
//   - it is withdrawn when it is no longer found, or something else changed there;
//   - else it is open.
//
// Who acknowledged it is known to storage. A metric of neither direction has no
// alerts.
func FollowAlerts(known []stopwatt.Alert, of stopwatt.Alert, search stopwatt.ChangeSearch) []stopwatt.Alert {
	alerts := slices.Clone(known)
	for i := range alerts {
		alerts[i].State = stopwatt.AlertWithdrawn
	}
	matched := make([]bool, len(known))
	for i, c := range search.ChangePoints {
		if !worse(c, of.Metric) || c.State != stopwatt.Suspected && c.State != stopwatt.Confirmed {
			continue
		}
		state := stopwatt.AlertOpen
		if cameBack(c, search.ChangePoints[i+1:], of.Metric) {
			state = stopwatt.AlertResolved
		}
		at := sameAlert(c, known, matched)
		if at < 0 {
			alerts = append(alerts, newAlert(alerts, of, search.Machine, c.First.SHA))
			at = len(alerts) - 1
		} else {
			matched[at] = true
		}
		alerts[at].State, alerts[at].Change = state, c
	}
	return alerts
}

// newAlert is an alert that none of the others shares its ID with: one that has
// moved on keeps the ID of the commit where it was found first.
func newAlert(others []stopwatt.Alert, of stopwatt.Alert, machine, first string) stopwatt.Alert {
	taken := func(id string) bool {
		return slices.ContainsFunc(others, func(a stopwatt.Alert) bool { return a.ID == id })
	}
	alert := stopwatt.Alert{Project: of.Project, Suite: of.Suite, Profile: of.Profile, Case: of.Case, Metric: of.Metric, Machine: machine}
	suite := stopwatt.SuiteName{Project: of.Project, Suite: of.Suite}
	series := stopwatt.Series{Case: of.Case, Metric: of.Metric.Name, Profile: of.Profile}
	alert.ID = stopwatt.AlertID(suite, series, machine, first)
	for taken(alert.ID) {
		first += "+"
		alert.ID = stopwatt.AlertID(suite, series, machine, first)
	}
	return alert
}

// worse tells whether a change point is one for the worse.
func worse(c stopwatt.ChangePoint, metric stopwatt.Metric) bool {
	return metric.Better == stopwatt.Less && c.Shift > 0 || metric.Better == stopwatt.More && c.Shift < 0
}

// cameBack tells whether one of the stretches behind later change points is
// nearer to the level before a change than to the one behind it.
func cameBack(c stopwatt.ChangePoint, later []stopwatt.ChangePoint, metric stopwatt.Metric) bool {
	return slices.ContainsFunc(later, func(l stopwatt.ChangePoint) bool {
		if l.State != stopwatt.Suspected && l.State != stopwatt.Confirmed {
			return false
		}
		beyond := l.After.Mean < c.Before.Mean // than the level before: better, of what is better when less
		if metric.Better == stopwatt.More {
			beyond = l.After.Mean > c.Before.Mean
		}
		return beyond || math.Abs(l.After.Mean-c.Before.Mean) < math.Abs(l.After.Mean-c.After.Mean)
	})
}

// sameAlert is the index of the known alert that a change point is, that of the
// same commit first and then the nearest; -1 when it is none of them.
func sameAlert(c stopwatt.ChangePoint, known []stopwatt.Alert, matched []bool) int {
	at := -1
	for i, alert := range known {
		k := alert.Change
		if matched[i] || k.First.SHA != c.First.SHA && !overlap(c, k) {
			continue
		}
		if at < 0 || compareNearness(c, k, known[at].Change) < 0 {
			at = i
		}
	}
	return at
}

// compareNearness puts the change point first that lies nearer to c.
func compareNearness(c, a, b stopwatt.ChangePoint) int {
	away := func(k stopwatt.ChangePoint) int {
		if k.First.SHA == c.First.SHA {
			return -1
		}
		return distance(c, k)
	}
	return cmp.Compare(away(a), away(b))
}
