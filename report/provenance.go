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
		var set []string
		if i.Command != nil {
			set = append(set, "command "+strings.Join(i.Command, " "))
		}
		for _, name := range slices.Sorted(maps.Keys(i.Env)) {
			set = append(set, name+"="+i.Env[name])
		}
		set = append(set, named("cpus", i.CPUs), named("stop signal", i.StopSignal))
		if i.Memory > 0 {
			set = append(set, "memory "+Value(stopwatt.Metric{Unit: "B"}, float64(i.Memory)))
		}
		if i.Writable {
			set = append(set, "may write to its own root")
		}
		set = slices.DeleteFunc(set, func(s string) bool { return s == "" })
		if len(set) > 0 {
			facts = append(facts, i.Name+": "+strings.Join(set, ", "))
		}
	}
	return append(facts, named("servers: cpus", suite.ServerCPUs), named("driver: cpus", suite.DriverCPUs), named("path:", suite.Path()))
}

// named puts a word before a value, nothing before none.
func named(word, value string) string {
	if value == "" {
		return ""
	}
	return word + " " + value
}
