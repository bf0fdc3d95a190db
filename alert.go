package stopwatt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// An Alert is a change for the worse on the default branch, of one metric of one
// case on one machine.
type Alert struct {
	ID             string // short enough to be typed; the same for as long as the change is found
	Project, Suite string
	Profile        string // of the runs; empty for whole ones
	Case           Case
	Metric         Metric
	Machine        string // fingerprint of the MachineIdentity
	State          AlertState
	Change         ChangePoint // as it was found last
	Found          time.Time   // when it was first
	// Accepted is what somebody said to it last, also when that has ended since; nil
	// when nobody did.
	Accepted *Acceptance
}

// AlertState says what is to be done about an alert.
type AlertState string

// The states of alerts. What was resolved or withdrawn and is found again is open
// again; so is what was acknowledged until a time that has come.
const (
	AlertOpen         AlertState = "open"
	AlertAcknowledged AlertState = "acknowledged" // somebody meant it
	AlertResolved     AlertState = "resolved"     // a later stretch of the series is nearer to the old level
	AlertWithdrawn    AlertState = "withdrawn"    // it is no longer found, or something else changed there
)

// AlertID is the ID of an alert of this series, machine and first commit.
func AlertID(suite SuiteName, of Series, machine, first string) string {
	named := fmt.Appendf(nil, "%q %q %q %q %q %q %q", suite.Project, suite.Suite, of.Case.Implementation, of.Case.Workload, of.Metric, machine, first)
	if of.Profile != "" { // so that those of whole runs are named as ever
		named = fmt.Appendf(named, " %q", of.Profile)
	}
	sum := sha256.Sum256(named)
	return hex.EncodeToString(sum[:4])
}
