//go:build linux

package agent

import (
	"context"
	"fmt"
	"os"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// Between two questions, ready pauses this long at first, half as long
	// again each time, and at most so long. A server in a container is up after
	// a few milliseconds; asking costs it some microseconds.
	firstPause   = time.Millisecond
	longestPause = 50 * time.Millisecond
	// steadily is how long the same wrong answer must persist until ready gives
	// up on it. 503 (Service Unavailable) says "not yet", and is asked again
	// until the order's bound.
	steadily = 2 * time.Second
)

// ready asks the first of what is asked until the answer is right. It gives up
// when the order's ReadyWithin is over, or when the answer is steadily wrong.
func ready(ctx context.Context, order stopwatt.DriveOrder) (stopwatt.Ready, error) {
	if order.ReadyWithin <= 0 {
		return stopwatt.Ready{}, fmt.Errorf("ready-within is %v; waiting needs a bound", order.ReadyWithin)
	}
	end := time.Now().Add(order.ReadyWithin)
	var wrong steadiness
	var last problem
	pause := firstPause
	for attempt := 1; ; attempt++ {
		r := askBefore(ctx, order, end)
		p := judge(r, order)
		if p == nil {
			return readyFrom(r, attempt), nil
		}
		if wrong.lasts(*p, time.Now()) >= steadily {
			return stopwatt.Ready{}, p.after(steadily)
		}
		// What the bound cut off tells less than what was before; but somebody
		// who says nothing is more than nobody.
		if attempt == 1 || !r.bounded || r.connected && last.refused {
			last = *p
		}
		if time.Until(end) <= pause {
			return stopwatt.Ready{}, last.after(order.ReadyWithin)
		}
		if err := sleep(ctx, pause); err != nil {
			return stopwatt.Ready{}, err
		}
		pause = min(pause*3/2, longestPause)
	}
}

// askBefore asks once, until the load's timeout or until end.
func askBefore(ctx context.Context, order stopwatt.DriveOrder, end time.Time) reply {
	deadline := time.Now().Add(order.Load.Timeout)
	sooner := end.Before(deadline)
	if sooner {
		deadline = end
	}
	r := ask(ctx, order, stopwatt.Ask{Request: order.Request, Expect: order.Expect}, deadline)
	r.bounded = sooner && os.IsTimeout(r.err)
	return r
}

// verify asks everything once. It tells of the last answer, and how long the
// bodies of all were.
func verify(ctx context.Context, order stopwatt.DriveOrder) (right stopwatt.Ready, bodyBytes []int64, err error) {
	for i, each := range order.Asks() {
		r := ask(ctx, order, each, time.Now().Add(order.Load.Timeout))
		if err := ctx.Err(); err != nil {
			return stopwatt.Ready{}, nil, err
		}
		if p := judgeBy(r, order, each.Expect); p != nil {
			return stopwatt.Ready{}, nil, named(p.once(), i, order)
		}
		right, bodyBytes = readyFrom(r, 1), append(bodyBytes, r.bodyBytes)
	}
	return right, bodyBytes, nil
}

// named says of which request an error is, where there are several.
func named(err error, i int, order stopwatt.DriveOrder) error {
	if len(order.Others) == 0 {
		return err
	}
	request := order.Asks()[i].Request
	return fmt.Errorf("request %d, %s %s: %w", i+1, request.Method, request.Path, err)
}

func readyFrom(r reply, attempts int) stopwatt.Ready {
	return stopwatt.Ready{
		At:         r.at,
		Attempts:   attempts,
		Status:     r.status,
		BodySHA256: r.sha256,
		BodyBytes:  r.bodyBytes,
	}
}

// steadiness tells for how long the same wrong answer has been given.
type steadiness struct {
	same  string
	since time.Time
}

// lasts is how long p has been the answer, 0 when it is none.
func (s *steadiness) lasts(p problem, now time.Time) time.Duration {
	if p.same == "" || p.same != s.same {
		s.same, s.since = p.same, now
	}
	return now.Sub(s.since)
}

// sleep waits, or returns why it was cut short.
func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}
