package stopwatt

import "time"

// A Program is how something is run to its end in an implementation's
// container. Its arguments are handed over as they are: no shell reads them
// unless it is the program.
type Program struct {
	Run     []string      // the program and its arguments; empty: each implementation's own
	Prepare []string      `json:",omitempty"` // run before each repetition, not timed
	Cleanup []string      `json:",omitempty"` // run after each repetition, not timed
	Stdin   []byte        `json:",omitempty"` // what it reads from its standard input
	OKExit  []int         // exit statuses of a repetition that counts
	Timeout time.Duration // of one run of any of the three
}

// A Command is a program that is run again and again, each time timed.
type Command struct {
	Program
	Warmup int // repetitions before those that are timed
	Repeat Repeat
	Output Output
	// SubtractEmpty takes the cost of starting an empty program in the same
	// container off each repetition's wall time.
	SubtractEmpty bool `json:",omitempty"`
}

// Repeat says how often a command is repeated: Least times, and until the
// repetitions together have taken For, but no more than Most times.
type Repeat struct {
	Least, Most int
	For         time.Duration
}

// Output says what becomes of a command's standard output. The zero value sends
// it to /dev/null.
type Output struct {
	// Pipe has it read and dropped, for programs that notice a null device.
	Pipe bool `json:",omitempty"`
	// SHA256 is what it must be in each repetition, in lower-case hex; empty: it
	// is not looked at.
	SHA256 string `json:",omitempty"`
}

// A Harness is a program that is run once, measures itself and tells what it
// found.
type Harness struct {
	Program
	Format  string // one of HarnessFormats
	Results string // the file that it writes them to; empty: its standard output
	Unit    string // of the format number
	Metric  string // of the format number
	Better  Better // of the format number, where the unit does not tell
	Strip   string // what is taken out of benchmarks' names, a regular expression; empty: nothing
}

// HarnessFormats are the formats in which a harness's results can be read while it
// is measured.
var HarnessFormats = []string{
	"go", "jmh", "hyperfine", "criterion", "google-benchmark", "pytest-benchmark", "catch2",
	"number", "json", "siege", "wrk", "k6", "vegeta", "oha",
}

// MostOutput is how much of a harness's results is read, in bytes.
const MostOutput = 64 << 20

// An Override is what an implementation does in another way than a workload
// says. What is empty in it is as the workload says.
type Override struct {
	Run     []string `json:",omitempty"`
	Prepare []string `json:",omitempty"`
	Results string   `json:",omitempty"`
}

// Program is what this implementation runs for a command or harness workload:
// its Exec in front of the workload's program, unless With says otherwise.
func (i Implementation) Program(w Workload) Program {
	var program Program
	switch {
	case w.Command != nil:
		program = w.Command.Program
	case w.Harness != nil:
		program = w.Harness.Program
	}
	over := i.With[w.Name]
	if len(over.Run) > 0 {
		program.Run = over.Run
	}
	if len(over.Prepare) > 0 {
		program.Prepare = over.Prepare
	}
	program.Run = append(append([]string{}, i.Exec...), program.Run...)
	return program
}

// Results is the file that this implementation's harness writes its results
// to; empty when it prints them.
func (i Implementation) Results(w Workload) string {
	if over := i.With[w.Name].Results; over != "" {
		return over
	}
	return w.Harness.Results
}
