package stopwatt

// A Testimony is what was seen of the machine while a window lasted.
type Testimony struct {
	Energies []Energy  // of each energy meter
	Samples  []Samples // of energy meters, containers and the machine
	Doubts   []string  // what makes the window's figures doubtful, in sentences
}
