package meter

import "testing"

func TestAProcessThatIsHeldUpBetweenTwoClocksIsNoSuspendedMachine(t *testing.T) {
	t.Parallel()
	const slept = 7 * int64(1e9)
	now, readings := int64(0), 0
	tick := func() int64 { // held up for 50 ms at each of the first ten readings
		if readings++; readings <= 10 {
			now += 50_000_000
		}
		now += 100
		return now
	}
	if got := apart(func() int64 { return tick() + slept }, tick); got < slept-closely || got > slept+closely {
		t.Errorf("the clocks are %d ns apart; want %d", got, slept)
	}
}

func TestWhatWasSleptOnlyGrows(t *testing.T) {
	t.Parallel()
	before := Host{}.Reading()
	after := Host{}.Reading()
	if before.Slept < -leastSleep || after.Slept-before.Slept < -leastSleep || after.Slept-before.Slept > leastSleep {
		t.Errorf("slept %d ns, and then %d", before.Slept, after.Slept)
	}
}
