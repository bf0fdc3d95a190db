package stopwatt

import "time"

// IdlePlace says where in a run an idle window lies.
type IdlePlace string

// The places of idle windows: before the first trial of a process that carries
// the run out (a continued run has several), and after the last trial.
const (
	IdleBefore IdlePlace = "before"
	IdleAfter  IdlePlace = "after"
)

// An IdleWindow is a stretch of a run in which nothing was measured but the
// machine itself, with the sampler running and all of the suite's containers
// down.
type IdleWindow struct {
	Place   IdlePlace
	Started time.Time // wall clock, for people
	Window  Window
	Powers  []IdlePower
	Samples []Samples // of the machine: the columns of vmstat
}
