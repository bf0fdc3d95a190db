package stopwatt

import (
	"slices"
	"time"
)

// The timer is told what to run on its standard input and answers on its
// standard output, one JSON value a line, as the driver is: see DriveOrder.
// First comes a TimeOrder, then the pieces of its Stdin, then commands, each answered by one TimeReport:
// CommandReady (look for the programs and time an empty one), CommandWarm (run
// the order's Warmup repetitions; report nothing else) and CommandTime, which is
// answered by two.
const CommandTime = "time" // run as ordered; report Ended and then Result

// A TimeOrder is what the timer is told: what to run, and how often.
type TimeOrder struct {
	Program
	Warmup int
	Repeat Repeat
	Output Output
	// Keep has the results of the last repetition handed over: its standard
	// output, or the file ResultsFile that it has written.
	Keep        bool   `json:",omitempty"`
	ResultsFile string `json:",omitempty"`
	StdinPieces int    `json:",omitempty"` // that follow the order; see Apart
}

// StdinPiece is how many bytes of a program's standard input are said to the timer
// at a time: it lives under the memory limit of the program, and an input in one
// line takes nine times its size to understand.
const StdinPiece = 64 << 10

// Apart takes the program's standard input out of the order: what is said instead
// is how many pieces follow, each a line.
func (o TimeOrder) Apart() (TimeOrder, [][]byte) {
	pieces := slices.Collect(slices.Chunk(o.Stdin, StdinPiece))
	o.Stdin, o.StdinPieces = nil, len(pieces)
	return o, pieces
}

// A TimeReport answers one command. At most one field is set.
type TimeReport struct {
	Ready   *TimerReady `json:",omitempty"`
	Ended   bool        `json:",omitempty"` // the window has; its Result follows when it is encoded
	Result  *TimeResult `json:",omitempty"`
	Failure string      `json:",omitempty"` // why the command could not be carried out
}

// TimerReady tells what an empty program costs in this container.
type TimerReady struct {
	// Empty are the wall times of starting a program that does nothing and of
	// waiting for its end, in nanoseconds.
	Empty       []int64
	EmptyAbsent string `json:",omitempty"` // why there are none
}

// TimeResult is what the timer measured.
type TimeResult struct {
	Window      Window // from the first repetition's start to the last one's end
	Repetitions []Repetition
	// LeastMemory is what a repetition's Memory cannot be below, in bytes: a
	// process begins with the peak of the one that started it.
	LeastMemory int64
	// Aside is the CPU time, in nanoseconds, that the timer itself took meanwhile, and
	// what it ran to prepare and clean up.
	Aside int64 `json:",omitempty"`
	// Results is what a harness has told, when it was to be kept.
	Results []byte `json:",omitempty"`
}

// A Repetition is one run of a program, from its start to its end, with the
// descendants that were waited for.
type Repetition struct {
	Wall   int64 // nanoseconds of CLOCK_MONOTONIC
	User   int64 // nanoseconds of CPU time in user space
	System int64 // nanoseconds of CPU time in the kernel
	Memory int64 // bytes: the largest resident set of one of its processes

	SwitchesVoluntary   int64
	SwitchesInvoluntary int64
	FaultsMinor         int64 // page faults without input
	FaultsMajor         int64 // page faults that waited for input
}

// Duration is the repetition's wall time.
func (r Repetition) Duration() time.Duration { return time.Duration(r.Wall) }
