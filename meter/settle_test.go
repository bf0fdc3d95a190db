package meter

import (
	"context"
	"errors"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestWhatIsCalm(t *testing.T) {
	t.Parallel()
	reading := func(user, idle int64) stopwatt.MachineReading {
		return stopwatt.MachineReading{CPU: stopwatt.CPUTimes{User: user * second, Idle: idle * second}}
	}
	unread := stopwatt.MachineReading{Absent: map[string]string{"CPU": "why"}}
	tests := []struct {
		name          string
		before, after stopwatt.MachineReading
		want          bool
	}{
		{"one CPU of twenty works", reading(10, 100), reading(11, 119), true},
		{"one of ten", reading(10, 100), reading(11, 109), false},
		{"the clock has not ticked", reading(10, 100), reading(10, 100), false},
		{"nobody knows", unread, reading(10, 200), false},
	}
	for _, test := range tests {
		if got := calm(test.before, test.after); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestWhatHasCooled(t *testing.T) {
	t.Parallel()
	at := func(millidegrees int64) stopwatt.MachineReading {
		return stopwatt.MachineReading{Temperature: millidegrees}
	}
	unread := stopwatt.MachineReading{Absent: map[string]string{"Temperature": "why"}}
	tests := []struct {
		name         string
		earlier, now stopwatt.MachineReading
		want         bool
	}{
		{"as warm as before", at(45_000), at(45_000), true},
		{"two degrees warmer", at(45_000), at(47_000), true},
		{"still hot", at(45_000), at(47_001), false},
		{"no thermometer", unread, at(90_000), true},
		{"it cannot be read any more", at(45_000), unread, true},
	}
	for _, test := range tests {
		if got := Cooled(test.earlier, test.now); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestABusyMachineIsNotWaitedForBeyondTheBound(t *testing.T) {
	t.Parallel()
	host := tree(t, vm) // whose clock never ticks, so that it is never known to be calm
	const bound = 20 * time.Millisecond
	waited, last, err := host.Settle(t.Context(), host.Reading(), bound)
	if err != nil || waited < bound || last.At == 0 {
		t.Errorf("waited %s, %v", waited, err)
	}
	if waited, _, err := host.Settle(t.Context(), host.Reading(), 0); err != nil || waited > settleEvery {
		t.Errorf("without a bound to wait for: %s, %v", waited, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := host.Settle(ctx, host.Reading(), time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more: %v", err)
	}
}
