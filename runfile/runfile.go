// Package runfile writes whole runs as lines of JSON, and reads them again.
//
// A file begins with a line that names the version of its form. Then come runs, each
// of several lines: the run, its trials, what they add up to, what was said of it, and
// an end with a checksum of the lines before it. Nothing is held but one line. The
// package knows no database: it neither finds runs nor stores them.
package runfile

import (
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// version is that of the form. A file of another one is not read.
const version = 1

// A Line is one line of a file: one of its fields is set.
type Line struct {
	Version     int                   `json:"stopwatt,omitempty"`
	Run         *stopwatt.Run         `json:"run,omitempty"`
	Trial       *stopwatt.Trial       `json:"trial,omitempty"`
	Summaries   *[]stopwatt.Summary   `json:"summaries,omitempty"`
	Judgement   *Judgement            `json:"judgement,omitempty"`
	Calibration *stopwatt.Calibration `json:"calibration,omitempty"`
	End         *End                  `json:"end,omitempty"`
}

// A Judgement is what was said about a run, and when.
type Judgement struct {
	Taken time.Time
	Said  stopwatt.Judgement
}

// An End ends a run.
type End struct {
	Key    string // of the run
	Lines  int    // of the run, this one left out
	SHA256 string // of these lines, with their line feeds, in hexadecimal
}

// fields counts what is set.
func (l Line) fields() int {
	n := 0
	for _, set := range []bool{l.Version != 0, l.Run != nil, l.Trial != nil, l.Summaries != nil, l.Judgement != nil, l.Calibration != nil, l.End != nil} {
		if set {
			n++
		}
	}
	return n
}
