// Package web shows the history over HTTP: pages for people, and JSON for
// programs.
//
// It arranges what report writes and draws, and asks an Archive for it. It keeps
// nothing, measures nothing, and changes nothing but whether an alert is
// acknowledged.
package web

import (
	"context"

	"gitlab.com/stopwatt/stopwatt"
)

// An Archive answers what pages ask. What is asked for and not there is
// stopwatt.ErrNotFound. Each answer is of bounded size, and each question ends with
// its context.
type Archive interface {
	Shelves
	Runs
	Courses
	Machines
}

// Shelves say what there is.
type Shelves interface {
	Overview(ctx context.Context) (stopwatt.Overview, error)
	Contents(ctx context.Context, suite stopwatt.SuiteName) (stopwatt.SuiteContents, error)
}

// Runs are single runs with all that they hold.
type Runs interface {
	RunAt(ctx context.Context, place stopwatt.RunPlace) (int64, error)
	Line(ctx context.Context, run int64) (stopwatt.RunLine, error)
	// Results have their Judgement, where there is one.
	Results(ctx context.Context, run int64) (stopwatt.Results, error)
	// TrialList are its trials, without Samples and Latency, which are read one by one.
	TrialList(ctx context.Context, run int64) ([]stopwatt.Trial, error)
	// Trial is the one at this place in the order of the run, with all it holds.
	Trial(ctx context.Context, run int64, position int) (stopwatt.Trial, error)
}

// Courses are series, as they are drawn.
type Courses interface {
	// Courses are in the order of the query's cases, else of the suite's; those without
	// a point are left out.
	Courses(ctx context.Context, query stopwatt.CourseQuery) ([]stopwatt.Course, error)
	// Changes are the change points of these courses, as the last searches said, in
	// the order of cases and then of history; withdrawn ones are not among them.
	Changes(ctx context.Context, query stopwatt.CourseQuery) ([]stopwatt.SeriesChange, error)
}

// Machines are what measured.
type Machines interface {
	MachineHistory(ctx context.Context, fingerprint string) (stopwatt.MachineHistory, error)
}

// Alarms are what became worse on the default branch, and what people say to it.
type Alarms interface {
	// Alerts are all that are known, those that were found last first.
	Alerts(ctx context.Context) ([]stopwatt.Alert, error)
	// Acknowledge adds what somebody says to the alert of this ID.
	Acknowledge(ctx context.Context, id string, by stopwatt.Acceptance) error
}
