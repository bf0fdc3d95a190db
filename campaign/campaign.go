// Package campaign chooses which commit is measured next: to fill the gaps of a
// history, or to find the one that brought a change.
//
// It measures nothing itself, and gives no verdict of its own: what it needs is
// handed in. It prints nothing; who watches is told.
package campaign

import (
	"errors"
	"time"
)

// CannotMeasure is the error of a commit that cannot be measured, whatever is tried:
// it does not build, or has none of the cases. A campaign notes it and goes on; any
// other error ends it.
type CannotMeasure struct{ Why string }

func (c CannotMeasure) Error() string { return c.Why }

// cannot is why a commit cannot be measured, where an error says so.
func cannot(err error) (why string, is bool) {
	var known CannotMeasure
	is = errors.As(err, &known)
	return known.Why, is
}

// A budget is how long a campaign may take, and what its runs took.
type budget struct {
	within time.Duration // 0: as long as it takes
	now    func() time.Time
	began  time.Time
	took   []time.Duration // of runs, the latest last
}

// lately is how many of the last runs say how long the next one will take: the
// longest of so few, for runs become longer when a suite grows.
const lately = 3

// next is how long the next run will take; 0 where nobody knows.
func (b *budget) next() time.Duration {
	longest := time.Duration(0)
	for _, took := range b.took[max(len(b.took)-lately, 0):] {
		longest = max(longest, took)
	}
	return longest
}

// allows tells whether a run that is begun now would end in time. The first one whose
// length nobody knows may begin.
func (b *budget) allows() bool {
	return b.within == 0 || b.now().Sub(b.began)+b.next() <= b.within
}
