package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A Fact is one line of a run's provenance: a term and what is to be said of
// it. Text is made safe to read.
type Fact struct {
	Term   string
	Values []string
	Code   bool // to be typed or compared, letter by letter
}

// provenance says where a run's figures come from and how to repeat them.
// What is not known is left out.
func provenance(run stopwatt.Run) []Fact {
	facts := []Fact{
		{Term: "Repeat", Values: []string{run.Command}, Code: true},
		{Term: "Imported from", Values: []string{run.Source}},
		{Term: "Seed", Values: []string{strconv.FormatUint(run.Seed, 10)}, Code: true},
		{Term: "Commit", Values: commitFacts(run.Checkout)},
		{Term: "Machine", Values: machineFacts(run.Machine)},
		{Term: "Energy meters", Values: meterFacts(run.Meters)},
		{Term: "Docker", Values: engineFacts(run.Engine)},
		{Term: "Images", Values: imageFacts(run), Code: true},
		{Term: "Settings", Values: settingFacts(run.Settings)},
		{Term: "stopwatt", Values: []string{run.Tool}},
	}
	var known []Fact
	for _, f := range facts {
		var values []string
		for _, value := range f.Values {
			if value = Clean(value); value != "" {
				values = append(values, value)
			}
		}
		if values != nil {
			known = append(known, Fact{f.Term, values, f.Code})
		}
	}
	return known
}

func commitFacts(c stopwatt.Checkout) []string {
	facts := []string{c.Commit.SHA, short(c.Commit.Subject)}
	if !c.Commit.Time.IsZero() {
		facts = append(facts, short(c.Commit.Author)+" "+c.Commit.Time.Format("2006-01-02 15:04 MST"))
	}
	if c.Branch != "" {
		facts = append(facts, "branch "+short(c.Branch))
	}
	if c.Dirty {
		facts = append(facts, "with uncommitted changes")
	}
	return facts
}

func machineFacts(m stopwatt.Machine) []string {
	facts := []string{m.Name, m.Identity.CPUModel}
	if m.Identity.Cores > 0 {
		facts = append(facts, fmt.Sprintf("%s, %s", plural(m.Identity.Cores, "core"), plural(m.Identity.Threads, "thread")))
	}
	if m.Identity.MemoryBytes > 0 {
		facts = append(facts, Value(stopwatt.Metric{Unit: "B"}, float64(m.Identity.MemoryBytes))+" memory")
	}
	if m.Identity.Virtual {
		facts = append(facts, "virtual: it runs under a hypervisor")
	}
	return append(facts, m.Identity.Caches, named("SMT", m.Identity.SMT), named("turbo", m.Identity.Turbo),
		named("kernel", m.Epoch.Kernel), named("started as", m.Epoch.CommandLine), named("microcode", m.Epoch.Microcode),
		named("governor", m.Epoch.Governor), named("clock", m.Epoch.ClockSource))
}

// meterFacts says what each meter reads, or why it could not be read.
func meterFacts(meters []stopwatt.Meter) []string {
	var facts []string
	for _, m := range meters {
		about := commas(m.Source, renewed(m.Renewal))
		if m.Absent != "" {
			about = "not read: " + short(m.Absent)
		}
		facts = append(facts, m.Name+": "+about)
	}
	return facts
}

func engineFacts(e stopwatt.Engine) []string {
	facts := []string{e.Version, named("storage", e.StorageDriver)}
	if e.CgroupVersion != "" {
		facts = append(facts, strings.TrimSpace("cgroup v"+e.CgroupVersion+" "+e.CgroupDriver))
	}
	if e.Architecture != "" {
		facts = append(facts, e.OS+"/"+e.Architecture)
	}
	if e.Remote {
		facts = append(facts, "on another host")
	}
	return facts
}

// imageFacts names every image and, for a built one, its bases as written and
// as used.
func imageFacts(run stopwatt.Run) []string {
	var facts []string
	for _, name := range slices.Sorted(maps.Keys(run.Images)) {
		image := run.Images[name]
		text := fmt.Sprintf("%s: %s", name, image.ID)
		if image.Bytes > 0 {
			text += ", " + Value(stopwatt.Metric{Unit: "B"}, float64(image.Bytes))
		}
		for _, base := range image.Bases {
			text += ", from " + base.Written
			if base.Used != base.Written {
				text += " as " + base.Used
			}
			if base.ID != "" {
				text += " (" + base.ID + ")"
			}
		}
		facts = append(facts, text)
	}
	return facts
}

// settingFacts repeats what the suite grants or sets for an implementation, so
// that no loosening is silent.
func settingFacts(suite stopwatt.Suite) []string {
	var facts []string
	for _, i := range suite.Implementations {
		facts = append(facts, implementationFacts(i)...)
	}
	for _, w := range suite.Workloads {
		for _, s := range w.Services {
			facts = append(facts, serviceFacts(w.Name, s))
		}
		if w.HTTP != nil && w.HTTP.Socket != "" {
			facts = append(facts, w.Name+": asked at "+w.HTTP.Socket+", in a folder that server and driver write; the driver is root there, without capabilities")
		}
	}
	return append(facts, named("servers: cpus", suite.ServerCPUs), named("driver: cpus", suite.DriverCPUs), together(suite), named("path:", suite.Path()))
}

// settingsSaid are the facts that there are, made safe to read.
func settingsSaid(suite stopwatt.Suite) []string {
	var said []string
	for _, fact := range settingFacts(suite) {
		if fact = Clean(fact); fact != "" {
			said = append(said, fact)
		}
	}
	return said
}

// together says that driver and servers share their cores, where they do: a server that
// is busy then takes the driver's time, too.
func together(suite stopwatt.Suite) string {
	if suite.Path() == "" || suite.DriverHost != nil || suite.DriverCPUs != "" {
		return ""
	}
	return "driver and servers share their cores"
}

// implementationFacts repeat what is set for one implementation and its companions.
func implementationFacts(i stopwatt.Implementation) []string {
	set := containerFacts(i.Command, i.Env, i.CPUs, i.Memory, i.Writable)
	if i.StopSignal != "" {
		set = append(set, named("stop signal", i.StopSignal))
	}
	var facts []string
	if len(set) > 0 {
		facts = append(facts, i.Name+": "+strings.Join(set, ", "))
	}
	for _, s := range i.Services {
		facts = append(facts, serviceFacts(i.Name, s))
	}
	return facts
}

// serviceFacts repeat what is set for a companion.
func serviceFacts(of string, s stopwatt.Service) string {
	set := containerFacts(s.Command, nil, s.CPUs, s.Memory, s.Writable)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		set = append(set, "variable "+name) // a companion's are passwords, often
	}
	if s.User != "" {
		set = append(set, "runs as "+s.User)
	}
	return of + ": with " + s.Name + strings.TrimSuffix(": "+strings.Join(set, ", "), ": ")
}

// containerFacts repeat what is set for a container.
func containerFacts(command []string, env map[string]string, cpus string, memory int64, writable bool) []string {
	var set []string
	if command != nil {
		set = append(set, "command "+strings.Join(command, " "))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		set = append(set, name+"="+env[name])
	}
	if cpus != "" {
		set = append(set, named("cpus", cpus))
	}
	if memory > 0 {
		set = append(set, "memory "+Value(stopwatt.Metric{Unit: "B"}, float64(memory)))
	}
	if writable {
		set = append(set, "may write to its own root")
	}
	return set
}

// named puts a word before a value, nothing before none.
func named(word, value string) string {
	if value == "" {
		return ""
	}
	return word + " " + value
}
