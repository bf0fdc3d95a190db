package stopwatt

// A Machine is what ran the trials. Results of two identities are never
// compared for a verdict; another epoch is a marked boundary in a series.
type Machine struct {
	Name     string // the host's name, or what the machine file calls it
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
	MemoryBytes int64
	Virtual     bool // it runs under a hypervisor
}

// MachineEpoch is what may change on one machine and shift its figures.
type MachineEpoch struct {
	Kernel        string
	Microcode     string
	Governor      string
	EngineVersion string
	CgroupVersion string
}
