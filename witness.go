package stopwatt

// A Testimony is what was seen of the machine while a window lasted.
type Testimony struct {
	Energies []Energy      // of each energy meter
	Figures  []Measurement // of the machine: its MachineMetrics
	Absent   []Absence     // of them, those without a number
	Samples  []Samples     // of energy meters, containers and the machine
	Doubts   []string      // what makes the window's figures doubtful, in sentences
}

// MachineMetrics are the metrics of the machine that a Testimony tells.
var MachineMetrics = []string{"machine_load", "machine_foreign", "machine_steal", "machine_frequency", "machine_overheated"}
