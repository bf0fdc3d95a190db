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

// IdlePowers joins the idle windows of a run into one idle power for each
// meter: see Bracket. The first of those before and the last of those after
// count; in a run that has none after, the last of those before.
func (r Run) IdlePowers() []IdlePower {
	if len(r.Idle) == 0 {
		return nil
	}
	first, last := r.Idle[0], r.Idle[len(r.Idle)-1]
	if len(r.Idle) == 1 {
		last = IdleWindow{}
	}
	return Bracket(first.Powers, last.Powers)
}
