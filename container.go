package stopwatt

// Labels that everything which stopwatt makes in Docker carries, so that it
// can be found again and removed by label alone.
const (
	LabelRun   = "stopwatt.run"   // the run's key
	LabelOwner = "stopwatt.owner" // which process made it: see Owner
	LabelRole  = "stopwatt.role"  // one of Roles, agent, or meters
)

// AgentPath is where the agent lies in its own image, and in every container
// that it is brought into: at no path that an image uses.
const AgentPath = "/.stopwatt/agent"

// A ContainerOrder says which container is wanted. What it does not grant is
// withheld: no capabilities, no new privileges, no network but the one named.
type ContainerOrder struct {
	Image      string   // an image's ID
	Entrypoint []string // instead of the image's own, and its command is left out; nil keeps both
	Command    []string
	Env        map[string]string
	CPUs       string // cpuset; empty: all
	Memory     int64  // bytes; 0: most of what the machine has
	Writable   bool   // its root file system may be written
	StopSignal string // empty: killed outright
	// JoinNetwork is the ID of a container whose network namespace is shared.
	// Empty: no network at all, loopback aside.
	JoinNetwork string
	// Network is the ID of a network of ours that it is part of, under the name
	// Alias, where JoinNetwork is empty.
	Network, Alias string
	// Publish is a port that is opened to other machines; nil: none. Network must
	// be one that MakeBridge has made.
	Publish *Publish
	User    string // that it runs as; empty: the image's own
	// Volume is a folder in the container that is a volume of its own, which goes
	// with the container; empty: none.
	Volume string
	// VolumesFrom is the ID of a container whose volumes it sees and cannot
	// write; empty: none.
	VolumesFrom string
	Stdin       bool // it is spoken to on its standard input
	// CgroupParent is the cgroup that its own is made in, as the engine's cgroup
	// driver wants it named. Empty: the engine's choice.
	CgroupParent string
	Labels       map[string]string
}

// NetworkHost, as a ContainerOrder's Network, is the network of the engine's host
// itself. Only the driver is given it, where it drives over the network.
const NetworkHost = "host"

// Publish says that a container's port is reached at an IP address of the
// engine's host, at a port there that the engine chooses.
type Publish struct {
	Address string
	Port    int // in the container
}

// A Container is one that runs.
type Container struct {
	ID   string
	PID  int // of its first process, in the engine's host; 0 when it has ended
	Port int // of the engine's host, where its own is published; else 0
}

// Fate is what became of a container.
type Fate struct {
	Running   bool
	ExitCode  int
	OOMKilled bool
	Log       []string // its last lines, standard output and error together
}

// Engine is what is known of the Docker Engine.
type Engine struct {
	Version       string
	API           string // negotiated
	OS            string
	Architecture  string // as Go names it: amd64, arm64, arm
	StorageDriver string
	CgroupVersion string // "1" or "2"
	CgroupDriver  string // cgroupfs or systemd
	CPUs          int    // cores; 0 when it is not known
	Remote        bool   // its host is another machine
}
