package stopwatt

// A Machine is what ran the trials. Results of two identities are never
// compared for a verdict; another epoch is a marked boundary in a series.
type Machine struct {
	Name string // the host's name, or what the machine file calls it
	// Named is true when nothing but the name is known for certain: somebody else
	// measured on it. Two such machines are one where their names are the same,
	// and none of them is ever one that stopwatt has measured on.
	Named    bool
	Identity MachineIdentity
	Epoch    MachineEpoch
}

// MachineIdentity is what makes a machine this one and no other. Two boards of
// one model are two machines.
type MachineIdentity struct {
	ID          string // hash of /etc/machine-id or the board's serial number: the number itself stays at home
	CPUModel    string
	Cores       int
	Threads     int
	Caches      string // how many of which size: "2 × L1d 32K, 1 × L2 1024K"
	SMT         string // on, off or none, whether cores have two threads; empty: not known
	Turbo       string // on or off; empty: not known
	MemoryBytes int64
	Virtual     bool // it runs under a hypervisor
	// CPUInfo is the text of /proc/cpuinfo, without the lines that tell of the
	// moment (a processor's frequency, the kernel's measure of its own loop) and
	// without a board's serial number.
	CPUInfo string
}

// MachineEpoch is what may change on one machine and shift its figures.
type MachineEpoch struct {
	Kernel        string
	CommandLine   string // of the kernel
	Microcode     string
	Governor      string
	ClockSource   string
	EngineVersion string
	CgroupVersion string // 1, 2, or hybrid: controllers of v1 beside the unified hierarchy
}
