package main

import (
	"context"
	"errors"
	"time"

	"gitlab.com/stopwatt/stopwatt/meter"
)

// coolingEvery is how often a machine that cools down is looked at.
const coolingEvery = 500 * time.Millisecond

// cooling waits between trials until the machine is about as cool as it was when
// this was made, before the first of them. Where no temperature can be read, it
// does not wait.
func (i *instruments) cooling() func(ctx context.Context, atMost time.Duration) error {
	before := i.station.Reading()
	return func(ctx context.Context, atMost time.Duration) error {
		return waitUntil(ctx, atMost, func() bool { return meter.Cooled(before, i.station.Reading()) })
	}
}

// waitUntil asks again and again, and no longer than atMost.
func waitUntil(ctx context.Context, atMost time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, errWaitedEnough)
	defer cancel()
	tick := time.NewTicker(coolingEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errWaitedEnough) {
				return nil
			}
			return ctx.Err()
		}
	}
	return nil
}

// errWaitedEnough is the cause by which a wait ends without what was waited for.
var errWaitedEnough = errors.New("waited enough")
