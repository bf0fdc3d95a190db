package stopwatt

// A Reading is all that the meters said at one edge of a window, energy aside.
// A container that a trial does not have has used nothing.
type Reading struct {
	Machine                          MachineReading
	Server, Driver, Program, Service Usage
}

// Of is what the containers of a role have used.
func (r Reading) Of(role string) Usage { return *r.place(role) }

// Put says what the containers of a role have used.
func (r *Reading) Put(role string, usage Usage) { *r.place(role) = usage }

func (r *Reading) place(role string) *Usage {
	switch role {
	case RoleServer:
		return &r.Server
	case RoleDriver:
		return &r.Driver
	case RoleProgram:
		return &r.Program
	}
	return &r.Service
}

// A MachineReading is what a machine said of itself at one moment. What is
// counted from the kernel's start may be subtracted. A field that could not be
// read is named in Absent with the reason, and is no number then.
type MachineReading struct {
	At int64 // CLOCK_MONOTONIC, nanoseconds
	// Slept is for how long the machine has been suspended since it was started,
	// nanoseconds: At did not go on meanwhile.
	Slept int64
	CPU   CPUTimes   // of all CPUs together
	Load  [3]float64 // threads that ran or waited, the mean of 1, 5 and 15 minutes

	Frequency      int64 // hertz, the mean of all CPUs
	FrequencyLeast int64 // hertz, of the slowest CPU
	// Overheated is how often a CPU, or the package that it is in, was slowed
	// because it was hot. All CPUs are added up, those of one package too, so
	// that only whether it rises means something.
	Overheated  int64
	Temperature int64 // of the hottest CPU, millidegrees Celsius
	// BoardAlarms are the flags of a Raspberry Pi: 1 under-voltage, 2 frequency
	// capped, 4 throttled, 8 soft limit of the temperature; the same times 65536
	// since boot.
	BoardAlarms int64

	// For how long some thread of the machine waited for a resource, nanoseconds.
	PressureCPU    int64
	PressureMemory int64
	PressureIO     int64

	Absent map[string]string // the name of a field to the reason
}

// CPUTimes are what CPUs did, in nanoseconds from the kernel's start. The
// kernel counts in ticks of its clock, so that short stretches are rough.
type CPUTimes struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal int64
}

// Busy is the time in which a CPU worked.
func (t CPUTimes) Busy() int64 { return t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ }

// All is the time of all CPUs together, whatever they did, that which a
// hypervisor took away included.
func (t CPUTimes) All() int64 { return t.Busy() + t.Idle + t.IOWait + t.Steal }

// Fell tells that some of the times went back, as those of steal have in guests.
// Waiting for I/O is time in which a CPU was idle, and what is taken for one may
// later be found to be the other (proc_stat(5)): the two count together.
func (t CPUTimes) Fell() bool {
	return min(t.User, t.Nice, t.System, t.IRQ, t.SoftIRQ, t.Steal, t.Idle+t.IOWait) < 0
}

// Since is what was added since earlier times.
func (t CPUTimes) Since(before CPUTimes) CPUTimes {
	return CPUTimes{
		User: t.User - before.User, Nice: t.Nice - before.Nice, System: t.System - before.System,
		Idle: t.Idle - before.Idle, IOWait: t.IOWait - before.IOWait,
		IRQ: t.IRQ - before.IRQ, SoftIRQ: t.SoftIRQ - before.SoftIRQ, Steal: t.Steal - before.Steal,
	}
}
