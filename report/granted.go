package report

import (
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// standNotes say how the figures of a contrast came about: what its energy covers, who
// told them, and what the suite granted that is withheld otherwise. Hint says how to see
// gross energy.
func standNotes(run stopwatt.Run, c stopwatt.Contrast, hint string) []string {
	notes := energyNotes(run, c.Metrics, hint)
	for _, note := range []string{selfReported(run, workloadsOf(c)), loosened(run.Settings)} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// selfReported says of which of these workloads programs tell the figures of themselves;
// empty when that is so of none.
func selfReported(run stopwatt.Run, workloads []string) string {
	if run.Imported {
		return "" // its source is named, and all of it was told
	}
	var told []string
	for _, w := range run.Settings.Workloads {
		shown := slices.ContainsFunc(workloads, func(name string) bool {
			return name == w.Name || strings.HasPrefix(name, w.Name+"/")
		})
		if shown && (w.Harness != nil || w.Load.Tool != nil) {
			told = append(told, short(w.Name))
		}
	}
	if told == nil {
		return ""
	}
	return "Self-reported, by a harness or load tool: " + someOf(told) + ". Time of the whole run, CPU, memory and energy were measured from outside."
}

// someOf joins some of many names.
func someOf(names []string) string {
	const most = 6
	if more := len(names) - most; more > 0 {
		names = append(names[:most:most], plural(more, "more"))
	}
	return strings.Join(names, ", ")
}

// loosened repeats what the suite grants to the code under test that no container has
// unless a suite says so; empty when it grants nothing.
func loosened(suite stopwatt.Suite) string {
	var all []string
	for _, i := range suite.Implementations {
		all = append(all, grants(i.Name, i.Writable, "", i.Services)...)
	}
	for _, w := range suite.Workloads {
		all = append(all, grants(w.Name, false, "", w.Services)...)
		if w.HTTP != nil && w.HTTP.Socket != "" {
			all = append(all, w.Name+" is asked by a root driver over a folder that both write")
		}
	}
	if all == nil {
		return ""
	}
	for i, text := range all {
		all[i] = short(text)
	}
	return "Granted by the suite: " + strings.Join(all, "; ") + "."
}

// grants are those to one implementation, workload or service.
func grants(name string, writable bool, user string, services []stopwatt.Service) (all []string) {
	if writable {
		all = append(all, name+" may write to its own root")
	}
	if user != "" {
		all = append(all, name+" runs as "+user)
	}
	var companions []string
	for _, s := range services {
		companions = append(companions, s.Name)
	}
	if companions != nil {
		all = append(all, name+" shares a network with "+strings.Join(companions, ", "))
	}
	for _, s := range services {
		all = append(all, grants(name+"'s "+s.Name, s.Writable, s.User, nil)...)
	}
	return all
}
