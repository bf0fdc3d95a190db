package campaign

import (
	"context"
	"errors"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// ErrMeasured says that there is nothing left to measure of a commit.
var ErrMeasured = errors.New("it is measured already")

// A Filler measures single commits.
type Filler interface {
	// Fill measures a commit. ErrMeasured says that there was nothing left to do;
	// CannotMeasure that there never will be.
	Fill(ctx context.Context, commit stopwatt.Commit) error
	// Filled comes when a commit has been dealt with: measured, where why is empty.
	Filled(commit stopwatt.Commit, why string)
}

// An Order says in which order the commits of a stretch are measured.
type Order struct {
	// Every is the distance of the commits that are wanted, counted from the
	// beginning of the stretch, so that they stay the same when it grows. 0 is 1:
	// all. The newest are measured first: they are what is asked about most.
	Every int
	// Gaps measures the ends first, then the middle of the widest gap between two
	// that are measured, until there is none: whenever it stops, what was measured is
	// spread evenly.
	Gaps bool
}

// A Backfill is a stretch of first-parent history that is to be filled.
type Backfill struct {
	Filler  Filler
	Commits []stopwatt.Commit // the oldest first
	// Measured tells of each commit whether it was measured before.
	Measured []bool
	Order    Order
	// Budget is how long it may take, 0 as long as it takes. A run that would not end
	// in time, judged by the last ones, is not begun; Took are those that are known.
	Budget time.Duration
	Took   []time.Duration
	Now    func() time.Time
}

// A Note says why a commit could not be measured.
type Note struct {
	Commit stopwatt.Commit
	Why    string
}

// A Filling is what came of a Backfill.
type Filling struct {
	Measured []stopwatt.Commit // now, in the order in which they were measured
	Failed   []Note
	Left     int  // commits that are still wanted
	Spent    bool // because the budget was
}

// fillState says what is known of a commit of the stretch.
type fillState int

const (
	unmeasured fillState = iota
	measured
	failed
)

// Run fills the stretch. With an error what was done until then is returned too.
func (b Backfill) Run(ctx context.Context) (Filling, error) {
	states := make([]fillState, len(b.Commits))
	for i := range states {
		if b.Measured[i] {
			states[i] = measured
		}
	}
	spend := &budget{within: b.Budget, now: b.Now, began: b.Now(), took: b.Took}
	var filling Filling
	for {
		next, any := b.Order.next(states)
		switch {
		case !any:
			return filling, nil
		case ctx.Err() != nil:
			filling.Left = b.Order.left(states)
			return filling, ctx.Err()
		case !spend.allows():
			filling.Left, filling.Spent = b.Order.left(states), true
			return filling, nil
		}
		state, err := b.one(ctx, next, spend, &filling)
		if err != nil {
			filling.Left = b.Order.left(states)
			return filling, err
		}
		states[next] = state
	}
}

// one measures one commit, and says what it is then.
func (b Backfill) one(ctx context.Context, at int, spend *budget, filling *Filling) (fillState, error) {
	commit, began := b.Commits[at], b.Now()
	err := b.Filler.Fill(ctx, commit)
	if why, is := cannot(err); is {
		filling.Failed = append(filling.Failed, Note{commit, why})
		b.Filler.Filled(commit, why)
		return failed, nil
	}
	if errors.Is(err, ErrMeasured) {
		return measured, nil
	}
	if err != nil {
		return unmeasured, err
	}
	spend.took = append(spend.took, b.Now().Sub(began))
	filling.Measured = append(filling.Measured, commit)
	b.Filler.Filled(commit, "")
	return measured, nil
}

// next is the commit that is to be measured next, if there is any.
func (o Order) next(states []fillState) (int, bool) {
	if o.Gaps {
		return o.inWidestGap(states)
	}
	for i := len(states) - 1; i >= 0; i-- {
		if o.wants(i) && states[i] == unmeasured {
			return i, true
		}
	}
	return 0, false
}

// wants tells whether a commit of the stretch is among each so manieth.
func (o Order) wants(i int) bool { return (i+1)%max(o.Every, 1) == 0 }

// left is how many commits are still wanted.
func (o Order) left(states []fillState) int {
	n := 0
	for i, state := range states {
		if state == unmeasured && (o.Gaps || o.wants(i)) {
			n++
		}
	}
	return n
}

// inWidestGap is the unmeasured commit that is nearest to the middle of the widest
// gap, the newest of gaps that are as wide; the ends come first.
func (o Order) inWidestGap(states []fillState) (int, bool) {
	if newest := nearest(states, len(states)-1, 0, len(states)); newest >= 0 && !slices.Contains(states[newest:], measured) {
		return newest, true
	}
	if oldest := nearest(states, 0, 0, len(states)); oldest >= 0 && !slices.Contains(states[:oldest], measured) {
		return oldest, true
	}
	best, widest := -1, 0
	for from := 0; from < len(states); {
		to := from
		for to < len(states) && states[to] != measured {
			to++
		}
		if open := nearest(states, (from+to-1)/2, from, to); open >= 0 && to-from >= widest {
			best, widest = open, to-from
		}
		from = to + 1
	}
	return best, best >= 0
}

// nearest is the unmeasured commit of a stretch, to left out, that is nearest to a
// place; -1 when there is none.
func nearest(states []fillState, place, from, to int) int {
	for distance := 0; distance < len(states); distance++ {
		for _, at := range []int{place + distance, place - distance} {
			if at >= from && at < to && states[at] == unmeasured {
				return at
			}
		}
	}
	return -1
}
