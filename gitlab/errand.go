package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	gitlab "github.com/xanzy/go-gitlab"
)

// An errand is a few requests that share one patience.
type errand struct {
	*Client
	left time.Duration
}

func (c *Client) errand() *errand { return &errand{c, c.settings.Patience} }

// errUnclear says that GitLab may have done what it was asked to, or not.
var errUnclear = errors.New("GitLab did not say whether it was done")

// attempts are how often a request is sent. Five, so that with pauses of 1, 2, 4 and 8 s
// a restart of GitLab's workers is outlasted.
const attempts = 5

// A request is one call of go-gitlab.
type request func(...gitlab.RequestOptionFunc) (*gitlab.Response, error)

// do sends a request that may be repeated, until it is answered or patience ends.
func (e *errand) do(ctx context.Context, what string, send request) error {
	for attempt := 1; ; attempt++ {
		answer, err := send(gitlab.WithContext(ctx))
		if err == nil {
			return nil
		}
		pause, again := e.pause(answer, err, attempt)
		if !again || attempt == attempts || e.rest(ctx, pause) != nil {
			return e.explain(ctx, what, answer, err)
		}
	}
}

// once sends a request that makes something new. It is sent again only when GitLab refuses
// it for being asked too often; whether a server that failed had done it before is not
// known, and the error is errUnclear.
func (e *errand) once(ctx context.Context, what string, send request) error {
	for attempt := 1; ; attempt++ {
		answer, err := send(gitlab.WithContext(ctx))
		if err == nil {
			return nil
		}
		pause, again := e.pause(answer, err, attempt)
		if again && status(answer) != http.StatusTooManyRequests {
			return fmt.Errorf("%w; %w", e.explain(ctx, what, answer, err), errUnclear)
		}
		if !again || attempt == attempts || e.rest(ctx, pause) != nil {
			return e.explain(ctx, what, answer, err)
		}
	}
}

// rest waits as long as patience lasts.
func (e *errand) rest(ctx context.Context, pause time.Duration) error {
	if pause > e.left {
		return errors.New("patience has ended")
	}
	e.left -= pause
	return e.settings.Wait(ctx, pause)
}

// pause tells whether a request that went wrong may go better later, and when.
func (e *errand) pause(answer *gitlab.Response, err error, attempt int) (time.Duration, bool) {
	backoff := time.Second << (attempt - 1)
	code := status(answer)
	switch {
	case errors.Is(err, errPage), errors.Is(err, errElsewhere), errors.Is(err, errOnlyCommands), errors.Is(err, context.Canceled), distrust(err):
		return 0, false
	case code == http.StatusTooManyRequests:
		// GitLab's limit on notes is for a minute, and tells nothing.
		return e.told(answer, 20*time.Second), true
	case code >= 500:
		return e.told(answer, backoff), true
	case code == 0, code < 300: // no answer, or one that broke off
		return backoff, true
	}
	return 0, false
}

// told is how long GitLab says to wait, else a default: in seconds, until a date, or until a
// count of seconds since 1970.
func (e *errand) told(answer *gitlab.Response, otherwise time.Duration) time.Duration {
	header := answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, date.Sub(e.settings.Now()))
	}
	if reset, err := strconv.ParseUint(answer.Header.Get("RateLimit-Reset"), 10, 40); err == nil {
		return max(0, time.Unix(int64(reset), 0).Sub(e.settings.Now()))
	}
	return otherwise
}

// status is that of an answer, 0 without one.
func status(answer *gitlab.Response) int {
	if answer == nil || answer.Response == nil {
		return 0
	}
	return answer.StatusCode
}
