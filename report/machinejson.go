package report

import (
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

type jsonMachineSeen struct {
	Machine      string               `json:"machine"`
	Fingerprint  string               `json:"fingerprint"`
	CPU          string               `json:"cpu"`
	Cores        int                  `json:"cores"`
	Threads      int                  `json:"threads"`
	MemoryBytes  int64                `json:"memory_bytes"`
	Virtual      bool                 `json:"virtual"`
	FirstSeen    string               `json:"first_seen"`
	LastSeen     string               `json:"last_seen"`
	Epochs       []jsonEpochSeen      `json:"epochs"`       // the latest first
	Idle         []jsonIdleSeen       `json:"idle"`         // in the order of runs
	Calibrations []jsonCalibratedWith `json:"calibrations"` // the latest first
}

type jsonEpochSeen struct {
	First       string `json:"first"`
	Last        string `json:"last"`
	Kernel      string `json:"kernel"`
	CommandLine string `json:"command_line"`
	Microcode   string `json:"microcode"`
	Governor    string `json:"governor"`
	ClockSource string `json:"clock_source"`
	Docker      string `json:"docker"`
	Cgroups     string `json:"cgroups"`
}

type jsonIdleSeen struct {
	Run    int64    `json:"run"`
	At     string   `json:"at"`
	Place  string   `json:"place"`
	Meter  string   `json:"meter"`
	Watts  *float64 `json:"watts"` // null: see absent
	Error  *float64 `json:"error"`
	Absent string   `json:"absent,omitempty"`
}

type jsonCalibratedWith struct {
	Suite string               `json:"suite"`
	Taken string               `json:"taken"`
	Cases []jsonCalibratedCase `json:"cases"`
}

type jsonCalibratedCase struct {
	Implementation string   `json:"implementation"`
	Workload       string   `json:"workload"`
	Metric         string   `json:"metric"`
	Smallest       *float64 `json:"smallest"` // the smallest relative change that would show; null: not known
}

// MachinesJSON writes what is known of machines as a JSON list.
func MachinesJSON(w io.Writer, machines []stopwatt.MachineHistory) error {
	list := []jsonMachineSeen{}
	for _, h := range machines {
		list = append(list, machineSeen(h))
	}
	return encode(w, list)
}

func machineSeen(h stopwatt.MachineHistory) jsonMachineSeen {
	id := h.Machine.Identity
	seen := jsonMachineSeen{
		Machine: h.Line.Name, Fingerprint: h.Line.Fingerprint, CPU: id.CPUModel, Cores: id.Cores, Threads: id.Threads, MemoryBytes: id.MemoryBytes,
		Virtual: id.Virtual, FirstSeen: instant(h.Line.FirstSeen), LastSeen: instant(h.Line.LastSeen),
		Epochs: []jsonEpochSeen{}, Idle: []jsonIdleSeen{}, Calibrations: []jsonCalibratedWith{},
	}
	for _, e := range h.Epochs {
		seen.Epochs = append(seen.Epochs, jsonEpochSeen{instant(e.First), instant(e.Last), e.Epoch.Kernel, e.Epoch.CommandLine, e.Epoch.Microcode,
			e.Epoch.Governor, e.Epoch.ClockSource, e.Epoch.EngineVersion, e.Epoch.CgroupVersion})
	}
	for _, i := range h.Idle {
		one := jsonIdleSeen{Run: i.Run, At: instant(i.At), Place: string(i.Place), Meter: i.Power.Meter, Absent: i.Power.Absent}
		if i.Power.Absent == "" {
			one.Watts, one.Error = finite(i.Power.Watts), finite(i.Power.Error)
		}
		seen.Idle = append(seen.Idle, one)
	}
	for _, c := range h.Calibrations {
		with := jsonCalibratedWith{Suite: c.Suite, Taken: instant(c.Taken), Cases: []jsonCalibratedCase{}}
		for _, of := range c.Cases {
			one := jsonCalibratedCase{Implementation: of.Case.Implementation, Workload: of.Case.Workload, Metric: of.Metric.Name}
			if of.Smallest > 0 {
				one.Smallest = finite(of.Smallest)
			}
			with.Cases = append(with.Cases, one)
		}
		seen.Calibrations = append(seen.Calibrations, with)
	}
	return seen
}
