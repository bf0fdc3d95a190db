package meter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// reading is what the kernel gives for an event on one CPU.
func reading(value, enabled, running uint64) []byte {
	var text []byte
	for _, n := range []uint64{value, enabled, running} {
		text = binary.NativeEndian.AppendUint64(text, n)
	}
	return text
}

func TestAPerfCountIsTheSumOfAllCPUsOrNone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		readings [][]byte
		want     int64
		says     string
	}{
		{"two CPUs", [][]byte{reading(7, 100, 100), reading(5, 50, 50)}, 12, ""},
		{"a CPU on which the container never ran", [][]byte{reading(0, 0, 0), reading(5, 50, 50)}, 5, ""},
		{"the two times were taken a moment apart", [][]byte{reading(5, 100_000, 99_950)}, 5, ""},
		{"the counter was shared", [][]byte{reading(5, 100e6, 100e6), reading(5, 100e6, 40e6)}, 0, "taken by others for 30.0 % of the time"},
		{"the counter was never free", [][]byte{reading(0, 100e6, 0)}, 0, "taken by others for 100.0 %"},
		{"a counter that has just been opened", [][]byte{reading(0, 4000, 0), reading(2, 3000, 3000)}, 2, ""},
		{"an event that the kernel has given up", [][]byte{{}}, 0, "0 bytes instead of 24"},
		{"a count that no counter reaches", [][]byte{reading(1<<63, 1, 1)}, 0, "beyond 63 bits"},
	}
	for _, test := range tests {
		count, err := perfCount{}, error(nil)
		for _, r := range test.readings {
			err = errors.Join(err, count.add(r))
		}
		got := int64(0)
		if err == nil {
			got, err = count.total()
		}
		if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %d, %v; want %d, %q", test.name, got, err, test.want, test.says)
		}
	}
}

func TestWhyAPerfEventCannotBeOpened(t *testing.T) {
	t.Parallel()
	host := tree(t, map[string]string{"proc/sys/kernel/perf_event_paranoid": "2\n"})
	instructions := hardwareEvents[0]
	tests := []struct {
		event perfEvent
		err   error
		says  string
	}{
		{instructions, unix.ENOENT, "no such hardware counter"},
		{instructions, unix.EOPNOTSUPP, "no such hardware counter"},
		{instructions, unix.EACCES, "kernel.perf_event_paranoid is 2"},
		{switchEvent, unix.EPERM, "--cap-add PERFMON"},
		{switchEvent, unix.EACCES, "sudo sysctl kernel.perf_event_paranoid=0"},
		{switchEvent, unix.ENOSYS, "this kernel has no perf events"},
		{switchEvent, unix.EBADF, "no perf events for cgroups"},
		{switchEvent, unix.EMFILE, "too many open files"},
	}
	for _, test := range tests {
		if got := host.perfReason(test.event, test.err).Error(); !strings.Contains(got, test.says) {
			t.Errorf("%s, %v: %q; want %q", test.event.field, test.err, got, test.says)
		}
	}
}

func TestAPerfEventOfWhatIsNoCgroupIsRefused(t *testing.T) {
	t.Parallel()
	fds, err := openEvent(t.TempDir(), switchEvent, []int{0})
	if err == nil {
		t.Errorf("it was opened: %v", fds)
	}
	if _, err := openEvent(t.TempDir(), switchEvent, nil); err == nil || !strings.Contains(err.Error(), "which CPUs there are") {
		t.Errorf("on no CPU: %v; a count of nothing would be 0", err)
	}
}

func TestAClosedPerfEventHasNoNumber(t *testing.T) {
	counter := perfCounter{field: switchEvent.field, fds: []int{-1}}
	usage := openAccount(t, tree(t, v2)).Read()
	counter.read(&usage)
	if reason := usage.Absent[switchEvent.field]; reason != errClosed.Error() {
		t.Errorf("the reason is %q", reason)
	}
	if err := (&perfCounter{}).close(); err != nil {
		t.Error(fmt.Errorf("an event of no CPU cannot be closed: %w", err))
	}
}
