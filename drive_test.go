package stopwatt_test

import (
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestHowBusyTheDriverWas(t *testing.T) {
	second := stopwatt.Window{Start: 5e9, End: 6e9}
	tests := []struct {
		name   string
		result stopwatt.DriveResult
		want   float64
	}{
		{"one thread, all the time", stopwatt.DriveResult{Window: second, CPU: time.Second, Threads: 1}, 1},
		{"two threads, one of them all the time", stopwatt.DriveResult{Window: second, CPU: time.Second, Threads: 2}, 0.5},
		{"the runtime beside a thread that never waits", stopwatt.DriveResult{Window: second, CPU: 1250 * time.Millisecond, Threads: 1}, 1.25},
		{"no threads are known", stopwatt.DriveResult{Window: second, CPU: time.Second}, 0},
		{"the window has no length", stopwatt.DriveResult{CPU: time.Second, Threads: 1}, 0},
	}
	for _, test := range tests {
		if got := test.result.Busy(); got != test.want {
			t.Errorf("%s: busy for %v of the time, want %v", test.name, got, test.want)
		}
	}
}
