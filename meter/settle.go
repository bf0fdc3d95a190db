package meter

import (
	"context"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// What a machine may do and be called quiet, when it did less before: a share
// of its CPU time over a second, and millidegrees above.
const (
	quietShare  = 0.05
	quietWarmer = 2_000
	settleEvery = time.Second
)

// Settle waits until the machine is as quiet and cool as it was at an earlier
// reading, and no longer than atMost. It returns how long it waited, and the
// last reading. A temperature that cannot be read is not waited for.
func (h Host) Settle(ctx context.Context, earlier stopwatt.MachineReading, atMost time.Duration) (time.Duration, stopwatt.MachineReading, error) {
	began := h.Monotonic()
	waited := func() time.Duration { return time.Duration(h.Monotonic() - began) }
	last := h.Reading()
	for waited() < atMost {
		if err := pause(ctx, min(settleEvery, atMost-waited())); err != nil {
			return waited(), last, err
		}
		now := h.Reading()
		if calm(last, now) && Cooled(earlier, now) {
			return waited(), now, nil
		}
		last = now
	}
	return waited(), last, nil
}

// calm tells whether hardly a CPU worked between two readings.
func calm(before, after stopwatt.MachineReading) bool {
	cpu, reason := cpuBetween(before, after)
	return reason == "" && float64(cpu.Busy()) <= quietShare*float64(cpu.All())
}

// Cooled tells whether the hottest CPU is hardly warmer than it was at an earlier
// reading. A temperature that cannot be read is not waited for.
func Cooled(earlier, now stopwatt.MachineReading) bool {
	if earlier.Absent["Temperature"] != "" || now.Absent["Temperature"] != "" {
		return true
	}
	return now.Temperature <= earlier.Temperature+quietWarmer
}
