package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAWaitEndsWhenItIsDoneWhenItIsLongAndWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	asked := 0
	if err := waitUntil(t.Context(), time.Hour, func() bool { asked++; return asked == 2 }); err != nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if err := waitUntil(t.Context(), time.Nanosecond, func() bool { return false }); err != nil {
		t.Errorf("waited long enough: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := waitUntil(ctx, time.Hour, func() bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
