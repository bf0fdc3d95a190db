package storage_test

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

func board() stopwatt.Machine {
	return stopwatt.Machine{
		Name:     "board-1",
		Identity: stopwatt.MachineIdentity{ID: "1d", CPUModel: "A76", Cores: 4, Threads: 4, MemoryBytes: 8 << 30, CPUInfo: "processor\t: 0\n"},
		Epoch:    stopwatt.MachineEpoch{Kernel: "6.1.0", Governor: "performance"},
	}
}

// TestHashesOfAMachineStayWhatTheyWere: a series of years must not break because
// stopwatt learns to read something new of a machine.
func TestHashesOfAMachineStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	key, err := storage.EpochKey(board())
	for _, row := range []struct{ what, got, want string }{
		{"fingerprint", storage.Fingerprint(board().Identity), "3a5af7fcbf7fb91fdea751452bb12f99f191573aace50892cf8cf6e7ae3593ee"},
		{"key of the epoch", key, "805430d09c383d750e5afc3bbf2c18b8ecdd0fe4975f64767cdf4d7fa8b3732e"},
	} {
		if row.got != row.want || err != nil {
			t.Errorf("%s: %s, want %s, error %v", row.what, row.got, row.want, err)
		}
	}
}

func TestWhatMakesAnotherMachineOrEpoch(t *testing.T) {
	t.Parallel()
	const same, epoch, machine = "the same", "another epoch", "another machine"
	for _, row := range []struct {
		what, want string
		change     func(*stopwatt.Machine)
	}{
		{"another name", same, func(m *stopwatt.Machine) { m.Name = "board-2" }},
		{"another text of /proc/cpuinfo", same, func(m *stopwatt.Machine) { m.Identity.CPUInfo += "cpu MHz\t: 1234.5\n" }},
		{"another kernel", epoch, func(m *stopwatt.Machine) { m.Epoch.Kernel = "6.2.0" }},
		{"another command line of the kernel", epoch, func(m *stopwatt.Machine) { m.Epoch.CommandLine = "mitigations=off" }},
		{"turbo switched off", epoch, func(m *stopwatt.Machine) { m.Identity.Turbo = "off" }},
		{"another number", machine, func(m *stopwatt.Machine) { m.Identity.ID = "2e" }},
		{"twice the threads", machine, func(m *stopwatt.Machine) { m.Identity.Threads = 8 }},
		{"more memory", machine, func(m *stopwatt.Machine) { m.Identity.MemoryBytes *= 2 }},
		{"a hypervisor", machine, func(m *stopwatt.Machine) { m.Identity.Virtual = true }},
	} {
		before, after := board(), board()
		row.change(&after)
		got := same
		if key(t, before) != key(t, after) {
			got = epoch
		}
		if storage.Fingerprint(before.Identity) != storage.Fingerprint(after.Identity) {
			got = machine
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.what, got, row.want)
		}
	}
}

func key(t *testing.T, machine stopwatt.Machine) string {
	t.Helper()
	key, err := storage.EpochKey(machine)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
