//go:build linux

package agent

import (
	"math"
	"math/rand/v2"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A schedule says when the requests of an open load come due. It counts in
// requests, from the load's begin: the n-th is due when the rate's integral
// has reached n. Where gaps are drawn, n grows by numbers of an exponential
// distribution, which makes a Poisson process of any rate (Çinlar, Introduction
// to Stochastic Processes, 1975, section 4.7: inversion).
//
// Each of several threads has a schedule of its own: of equal gaps every
// threads-th request, of drawn ones a share of the rate. Poisson processes added
// up are one.
type schedule struct {
	stages []span
	rng    *rand.Rand // nil: gaps are equal
	step   float64    // requests from one of this thread's to its next, in the mean
	at     float64    // which request is next
	stage  int        // that it falls into
}

// A span is a stage and where it lies.
type span struct {
	stopwatt.Stage
	start         int64   // ns since the load's begin
	before, until float64 // requests that are due before it begins, and before it ends
}

// newSchedule makes the schedule of one of several threads.
func newSchedule(load stopwatt.Load, seed uint64, thread, threads int) *schedule {
	s := &schedule{step: float64(threads), at: float64(thread)}
	start, count := int64(0), 0.0
	for _, stage := range load.Stages {
		s.stages = append(s.stages, span{stage, start, count, count + stage.Requests()})
		start, count = start+int64(stage.For), count+stage.Requests()
	}
	if load.Poisson {
		// Another stream than the mix's, which is drawn by the same seed.
		s.rng = rand.New(rand.NewPCG(seed, 1<<32|uint64(thread)))
		s.at = s.rng.ExpFloat64() * s.step
	}
	s.settle()
	return s
}

// over tells whether no request is left.
func (s *schedule) over() bool { return s.stage == len(s.stages) }

// due is when the next request is, in nanoseconds since the load's begin; never
// when none is left.
func (s *schedule) due() int64 {
	if s.over() {
		return math.MaxInt64
	}
	return s.stages[s.stage].when(s.at)
}

// advance goes on to the request after the next.
func (s *schedule) advance() {
	if s.rng == nil {
		s.at += s.step
	} else {
		s.at += s.rng.ExpFloat64() * s.step
	}
	s.settle()
}

// settle finds the stage that the next request falls into.
func (s *schedule) settle() {
	for !s.over() && s.at >= s.stages[s.stage].until {
		s.stage++
	}
}

// rest is how many requests are left. It uses them up.
func (s *schedule) rest() (n int64) {
	for ; !s.over(); s.advance() {
		n++
	}
	return n
}

// end is when the last stage is over, in nanoseconds since the load's begin.
func (s *schedule) end() int64 {
	last := s.stages[len(s.stages)-1]
	return last.start + int64(last.For)
}

// when is the instant at which the integral of the stage's rate reaches n: the
// root of From·t + (To-From)/(2·For)·t² = n - before, written so that it is
// exact for even stages too.
func (s span) when(n float64) int64 {
	n -= s.before
	slope := (s.To - s.From) / s.For.Seconds()
	root := math.Sqrt(max(s.From*s.From+2*slope*n, 0))
	if n == 0 || s.From+root == 0 {
		return s.start
	}
	seconds := 2 * n / (s.From + root)
	return s.start + min(int64(seconds*float64(time.Second)), int64(s.For))
}
