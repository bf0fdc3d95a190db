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

// Usage is what a container has used, from its start until now, read from its
// cgroup. A field that could not be read is named in Absent with the reason,
// and is no number then.
type Usage struct {
	CPU           int64             // nanoseconds
	CPUUser       int64             // nanoseconds
	CPUSystem     int64             // nanoseconds
	MemoryCurrent int64             // bytes
	MemoryPeak    int64             // bytes
	Absent        map[string]string // a name of UsageFields to the reason
}

// UsageFields names the numbers of a Usage.
var UsageFields = []string{"CPU", "CPUUser", "CPUSystem", "MemoryCurrent", "MemoryPeak"}

// Field returns the number of this name, or the reason why there is none.
func (u Usage) Field(name string) (value int64, reason string) {
	if reason := u.Absent[name]; reason != "" {
		return 0, reason
	}
	switch name {
	case "CPU":
		return u.CPU, ""
	case "CPUUser":
		return u.CPUUser, ""
	case "CPUSystem":
		return u.CPUSystem, ""
	case "MemoryCurrent":
		return u.MemoryCurrent, ""
	case "MemoryPeak":
		return u.MemoryPeak, ""
	}
	return 0, "there is no such field: " + name
}
