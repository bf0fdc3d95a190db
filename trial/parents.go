package trial

import (
	"context"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
)

// Parents are cgroups of ours, one above each container of a trial. They keep
// what their container has used when it is gone: of a server that has died, too.
type Parents interface {
	// Name is what the engine is told as the parent of one container of the trial
	// at this position.
	Name(position int, container string) string
	// Account opens the accounting of one of them, whether its container lives or
	// has ended.
	Account(position int, container string) (Account, error)
	// Remove removes those of a trial, whose containers are gone. What cannot be
	// removed now is left to the next clean-up.
	Remove(ctx context.Context, position int)
}

// parents are those of one trial.
type parents struct {
	of       Parents // nil: the engine chooses
	position int
	names    []string // of the containers that were given one
}

// next names the parent of one more container.
func (p *parents) next(role string) (parent, container string) {
	if p == nil || p.of == nil {
		return "", ""
	}
	container = role + strconv.Itoa(len(p.names)+1)
	p.names = append(p.names, container)
	return p.of.Name(p.position, container), container
}

// read reads what a container has used that was given this name.
func (p *parents) read(container string) stopwatt.Usage {
	if p == nil || p.of == nil || container == "" {
		return account{reason: "its container has ended, and its counters with it"}.read()
	}
	opened, err := p.of.Account(p.position, container)
	if err != nil {
		return account{reason: err.Error()}.read()
	}
	defer opened.Close() // which was only read from
	return opened.Read()
}

// remove removes them all. It works on when ctx is cancelled.
func (p *parents) remove(ctx context.Context) {
	if len(p.names) > 0 {
		p.of.Remove(context.WithoutCancel(ctx), p.position)
	}
}

// unloaded records of a server that failed before it was driven what it has used
// in its life: the most memory, and CPU time. The latter is of a window elsewhere,
// so that a warning says what it is of.
func (r record) unloaded(parents *parents, server *container) {
	const peak = "memory_peak"
	_, known := r.Value(peak)
	for _, absence := range r.Absent {
		known = known || absence.Metric == peak
	}
	if known {
		return
	}
	used := parents.read(server.name)
	r.held(peak, "MemoryPeak", used)
	r.spent("cpu_server", "CPU", 1e9, stopwatt.Usage{}, used)
	r.spent("cpu_server_user", "CPUUser", 1e9, stopwatt.Usage{}, used)
	r.spent("cpu_server_system", "CPUSystem", 1e9, stopwatt.Usage{}, used)
	if _, measured := r.Value("cpu_server"); measured {
		r.Warnings = append(r.Warnings, "cpu_server is that of the server's whole life: it failed before it was driven")
	}
}
