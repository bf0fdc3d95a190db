package stopwatt

import "time"

// A Service is a companion that an implementation or a workload needs: a
// database, a cache. It runs in a container of its own, in the same private
// network, under its name. Nothing leads out of that network.
type Service struct {
	Name    string
	Image   string // as of an Implementation
	Build   *Build
	ImageID string   // what Image or Build has come to, when the run began
	Command []string // instead of the image's own; nil keeps it
	Env     map[string]string
	CPUs    string
	Memory  int64  // bytes; 0: most of what the machine has
	User    string // that it runs as; empty: the image's own
	Ready   Readiness
	// Keep lets it live as long as the run. Otherwise each trial has a fresh one.
	Keep     bool
	Writable bool
}

// Readiness says how it is known that a service can be used. With neither a
// command nor a port it can be as soon as it runs.
type Readiness struct {
	Command []string      // run in its container until it exits with 0
	Port    int           // that accepts a TCP connection
	Within  time.Duration // from its start
}

// ServicesUnder are all that this implementation needs under a workload: its own, then
// the workload's.
func (i Implementation) ServicesUnder(w Workload) []Service {
	return append(append([]Service{}, i.Services...), w.Services...)
}
