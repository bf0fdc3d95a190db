package stopwatt

import "time"

// A MachineFile is what belongs to a machine and not to a suite. The zero
// value is a machine without one: its host's name, the meters that are found.
type MachineFile struct {
	Machine string         // what the machine is called; empty: the host's name
	Meters  []MeterSetting // in the order of the file; nil: those that are found
	// ServerCPUs and DriverCPUs are the cores, as in cpuset ("0-2"), of servers
	// and drivers whose suite names none. Empty: all.
	ServerCPUs, DriverCPUs string
	// Driver is another Docker host that drivers run on; nil: they run beside the
	// servers.
	Driver *DriverHost
	// Powercap is where this process finds the machine's
	// /sys/devices/virtual/powercap, when that is not below /sys: Docker hides
	// it there from containers. Empty: /sys/class/powercap.
	Powercap string
}

// A DriverHost is a machine that drives load over the network.
type DriverHost struct {
	Docker  string // its engine, as in DOCKER_HOST: ssh://user@host or tcp://host:2376
	Address string // IP address of the server's machine, at which it is reached from there
}

// A MeterSetting says how one energy meter is read. Exactly one of RAPL, HWMon,
// HTTP and Command is set.
type MeterSetting struct {
	Name    string // lower case, digits and -; "board" gives the metric energy_board
	RAPL    string // one of RAPLDomains
	HWMon   *HWMonMeter
	HTTP    *HTTPMeter
	Command *CommandMeter
}

// Domains of RAPL, the accumulated counters of a CPU. Cores and graphics are
// parts of the package and no domains of their own here.
const (
	RAPLPackage  = "package" // all sockets, and their memory where it is counted apart
	RAPLMemory   = "dram"    // the memory alone, where it is counted apart
	RAPLPlatform = "psys"    // the platform, as the maker of the board wired it; holds the packages
)

// RAPLDomains lists them all.
var RAPLDomains = []string{RAPLPackage, RAPLMemory, RAPLPlatform}

// HWMonMeter is a sensor chip that the kernel knows.
type HWMonMeter struct {
	Chip    string // as /sys/class/hwmon/hwmonN/name says: "ina226"
	Device  string // as hwmonN/device is called: "0-0040"; needed where there are several such chips
	Channel int    // from 1; 0: 1
}

// HTTPMeter is a meter that is asked over HTTP, and answers with one number.
type HTTPMeter struct {
	URL    string
	Field  string // of the JSON answer, "a.b.0" for deeper ones; empty when Header is set
	Header string // of the answer; empty when Field is set
	Unit   MeterUnit
	// Renewal is how often the meter renews its number. One that adds up energy
	// is then asked once a second and at the edges of windows, and else whenever
	// meters are read, to see how often that is. 0: not known.
	Renewal time.Duration
}

// CommandMeter is a program that prints one number a line, for as long as it
// is left to run.
type CommandMeter struct {
	Command []string // the program and its arguments; no shell
	Unit    MeterUnit
}

// MeterUnit is the unit of a meter's numbers. Those of energy make it a
// counter that rises, those of power a sensor.
type MeterUnit string

// The units that meters speak.
const (
	Joules        MeterUnit = "J"
	Millijoules   MeterUnit = "mJ"
	Microjoules   MeterUnit = "µJ"
	WattHours     MeterUnit = "Wh"
	KilowattHours MeterUnit = "kWh"
	Watts         MeterUnit = "W"
	Milliwatts    MeterUnit = "mW"
)

// MeterUnits lists them all.
var MeterUnits = []MeterUnit{Joules, Millijoules, Microjoules, WattHours, KilowattHours, Watts, Milliwatts}

// Energy says whether it is a unit of energy, and not of power.
func (u MeterUnit) Energy() bool { return u != Watts && u != Milliwatts }

// Micro is how many µJ or µW it has; 0 for what is no unit.
func (u MeterUnit) Micro() int64 {
	switch u {
	case Microjoules:
		return 1
	case Millijoules, Milliwatts:
		return 1e3
	case Joules, Watts:
		return 1e6
	case WattHours:
		return 3600e6
	case KilowattHours:
		return 3600e9
	}
	return 0
}
