package jobs

import (
	"bytes"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// mostMachine is the size of a machine file. One of all keys has a kibibyte.
const mostMachine = 16 << 10

var aboutMachine = about{"one machine", "remove it, or write what its machine is called", "docs/machine.md"}

// ReadMachine understands the text of a machine file, as Read does that of a
// suite file: the error is a stopwatt.Faults. A file of comments alone says
// nothing, and is none the worse for it.
func ReadMachine(file string, text []byte) (stopwatt.MachineFile, error) {
	r := &reader{file: file, about: aboutMachine}
	if len(text) > mostMachine {
		r.fault(place{}, "the file has %d bytes, and a machine file at most %d; remove what does not belong there", len(text), mostMachine)
		return stopwatt.MachineFile{}, r.sorted()
	}
	if onlyRemarks(text) {
		return stopwatt.MachineFile{}, nil
	}
	root, ok := r.tree(text)
	if !ok {
		return stopwatt.MachineFile{}, r.sorted()
	}
	var to stopwatt.MachineFile
	whole(r, root, "the file", machineRows, &to)
	if len(r.faults) > 0 {
		return stopwatt.MachineFile{}, r.sorted()
	}
	return to, nil
}

// onlyRemarks tells of a file of comments and empty lines.
func onlyRemarks(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

var machineRows = []row[stopwatt.MachineFile]{
	{word{key: "machine", kind: "text", absent: "the host's name", doc: "What the machine is called in results. It names, and does not tell machines apart: that is done by their own numbers."},
		func(r *reader, at node, to *stopwatt.MachineFile) { r.text(at, "machine", &to.Machine, isName) }},
	{word{key: "meters", kind: "names to [meter]", absent: "those that are found", doc: "Its energy meters. The name `board` gives the metrics `energy_board`, `power_board` and so on: lower-case letters, digits and `-`, a letter first, 32 at most."},
		func(r *reader, at node, to *stopwatt.MachineFile) { to.Meters = r.machineMeters(at) }},
	{word{key: "cpus", kind: "[cpus]", absent: "all cores of two or three, cores apart of more", doc: "Which cores servers and drivers may use, where the suite does not say. See [load.md](load.md)."},
		func(r *reader, at node, to *stopwatt.MachineFile) { whole(r, at, "cpus", coreRows, to) }},
	{word{key: "driver", kind: "[driver]", absent: "beside the servers", doc: "Another Docker host that drives the load, over the network. See [load.md](load.md)."},
		func(r *reader, at node, to *stopwatt.MachineFile) {
			to.Driver = new(stopwatt.DriverHost)
			whole(r, at, "driver", driverRows, to.Driver)
		}},
	{word{key: "sysfs-powercap", kind: "text", absent: "`/sys/class/powercap`", doc: "Where the machine's `/sys/devices/virtual/powercap` is found, in a container that was given it at another place because Docker masks it at its own."},
		func(r *reader, at node, to *stopwatt.MachineFile) {
			r.text(at, "sysfs-powercap", &to.Powercap, isAbsolute)
		}},
}

var coreRows = []row[stopwatt.MachineFile]{
	{word{key: "server", kind: "text", absent: "all cores", doc: "The cores of a server whose implementation has no `cpus`: `\"0-2\"`. A single core is written in quotes."},
		func(r *reader, at node, to *stopwatt.MachineFile) { r.cores(at, &to.ServerCPUs) }},
	{word{key: "driver", kind: "text", absent: "all cores", doc: "The cores of the driver that loads it."},
		func(r *reader, at node, to *stopwatt.MachineFile) { r.cores(at, &to.DriverCPUs) }},
}

var driverRows = []row[stopwatt.DriverHost]{
	{word{key: "docker", kind: "text", example: "docker: and its engine, as in ssh://user@host", doc: "The engine that the driver runs on, as in `DOCKER_HOST`: `ssh://user@host`, `tcp://host:2376`, `unix:///path`."},
		func(r *reader, at node, to *stopwatt.DriverHost) { r.text(at, "docker", &to.Docker, isEngine) }},
	{word{key: "address", kind: "text", example: "address: and this machine's IP address", doc: "The IP address of the servers' machine at which the driver reaches it. The port of the server that is measured is published there, and nowhere else, for as long as its trial lasts."},
		func(r *reader, at node, to *stopwatt.DriverHost) { r.text(at, "address", &to.Address, isIP) }},
}

// A meterDraft is a meter as it was written.
type meterDraft struct {
	rapl, hwmon, device string
	channel             int
	url, field, header  string
	command             []string
	unit                string
	renewal             time.Duration
}

var meterRows = []row[meterDraft]{
	{word{key: "rapl", kind: "text", absent: "it is read otherwise", doc: "The counters of the CPU: `package` for all sockets, with their memory where that is counted apart; `dram` for that memory alone; `psys` for the platform. Exactly one of `rapl`, `hwmon`, `http` and `command` is given."},
		func(r *reader, at node, to *meterDraft) { r.choice(at, "rapl", &to.rapl, stopwatt.RAPLDomains...) }},
	{word{key: "hwmon", kind: "text", absent: "it is read otherwise", doc: "A sensor chip, by its name in `/sys/class/hwmon/hwmon*/name`, like `ina226`."},
		func(r *reader, at node, to *meterDraft) { r.text(at, "hwmon", &to.hwmon, isName) }},
	{word{key: "device", kind: "text", absent: "there is one such chip", doc: "Of several such chips the one that `hwmon*/device` leads to, like `0-0040`."},
		func(r *reader, at node, to *meterDraft) { r.text(at, "device", &to.device, isLine) }},
	{word{key: "channel", kind: "number", fallback: "1", doc: "Of a chip that measures several lines, the one that is meant, 1 to 64."},
		func(r *reader, at node, to *meterDraft) { r.count(at, "channel", &to.channel, 1, 64) }},
	{word{key: "http", kind: "text", absent: "it is read otherwise", doc: "An address that answers with a number, within a second and 64 KiB. Put it in quotes."},
		func(r *reader, at node, to *meterDraft) { r.text(at, "http", &to.url, isAddress) }},
	{word{key: "field", kind: "text", absent: "`header` is given", doc: "Where in a JSON answer the number is: a name, or several with dots between, elements of lists by their places: `emeters.0.total`."},
		func(r *reader, at node, to *meterDraft) { r.text(at, "field", &to.field, isLine) }},
	{word{key: "header", kind: "text", absent: "`field` is given", doc: "Which header of the answer holds the number."},
		func(r *reader, at node, to *meterDraft) { r.text(at, "header", &to.header, isToken) }},
	{word{key: "renewal", kind: "duration", absent: "it is watched", doc: "How often the meter that `http` asks renews its number, up to an hour. Then one that adds up energy is asked once a second and at the edges of windows, and else as often as all meters are, which costs the machine more."},
		func(r *reader, at node, to *meterDraft) {
			r.duration(at, "renewal", &to.renewal, time.Millisecond, time.Hour)
		}},
	{word{key: "command", kind: "list of texts", absent: "it is read otherwise", doc: "A program and its arguments, which prints a number a line for as long as it is left to run. It gets `PATH` and `HOME` and no other variable."},
		func(r *reader, at node, to *meterDraft) { r.command(at, &to.command) }},
	{word{key: "unit", kind: "text", fallback: "J", doc: "The unit of the numbers of `http` and `command`: `J`, `mJ`, `µJ`, `Wh` or `kWh` for energy that adds up, `W` or `mW` for power."},
		func(r *reader, at node, to *meterDraft) { r.choice(at, "unit", &to.unit, unitNames()...) }},
}

// unitNames are the units of meters as people write them.
func unitNames() []string {
	var names []string
	for _, unit := range stopwatt.MeterUnits {
		names = append(names, string(unit))
	}
	return names
}

// ways are the keys that say how a meter is read, and what may stand beside each.
var ways = []struct {
	key  string
	with []string
}{
	{"rapl", nil},
	{"hwmon", []string{"device", "channel"}},
	{"http", []string{"field", "header", "unit", "renewal"}},
	{"command", []string{"unit"}},
}

func (r *reader) machineMeters(at node) []stopwatt.MeterSetting {
	var all []stopwatt.MeterSetting
	r.named(at, "meter", func(name string, value node) {
		if isName(name) == "" && !stopwatt.IsMeterName(name) {
			r.fault(value.owner, "%s is no name for the meter, of which metrics are made; write lower-case letters, digits and -, a letter first, 32 at most", brief(name))
		}
		all = append(all, r.meter(name, value))
	})
	return all
}

func (r *reader) meter(name string, at node) stopwatt.MeterSetting {
	var draft meterDraft
	noun := "meter " + brief(name)
	whole(r, at, noun, meterRows, &draft)
	setting := stopwatt.MeterSetting{Name: name}
	switch way := r.way(at, noun); way {
	case "rapl":
		setting.RAPL = draft.rapl
	case "hwmon":
		setting.HWMon = &stopwatt.HWMonMeter{Chip: draft.hwmon, Device: draft.device, Channel: draft.channel}
	case "http":
		r.oneAnswer(at, noun)
		setting.HTTP = &stopwatt.HTTPMeter{URL: draft.url, Field: draft.field, Header: draft.header, Unit: stopwatt.MeterUnit(draft.unit), Renewal: draft.renewal}
	case "command":
		setting.Command = &stopwatt.CommandMeter{Command: draft.command, Unit: stopwatt.MeterUnit(draft.unit)}
	}
	return setting
}

// way finds out how a meter is read, and checks that nothing else is said.
func (r *reader) way(at node, noun string) string {
	var found []string
	var beside []string
	for _, way := range ways {
		if at.has(way.key) {
			found, beside = append(found, way.key), way.with
		}
	}
	switch {
	case len(found) > 1:
		r.fault(at.owner, "%s has %s; remove all but one", noun, strings.Join(found, " and "))
	case len(found) == 0:
		if at.kind == mapping && none(at, keysOf(meterRows), "rapl", "hwmon", "http", "command") {
			r.fault(at.owner, "%s is not said to be read; write rapl: package, hwmon: and a chip, http: and an address, or command: and a program", noun)
		}
	default:
		r.nothingElse(at, noun, found[0], beside)
		return found[0]
	}
	return ""
}

// nothingElse checks that no key of another way to read a meter is there.
func (r *reader) nothingElse(at node, noun, way string, beside []string) {
	for _, e := range at.entries {
		known := slices.Contains(keysOf(meterRows), e.key)
		if known && e.key != way && !slices.Contains(beside, e.key) {
			r.fault(e.at, "%s in %s says nothing of %s; remove it", e.key, noun, way)
		}
	}
}

// oneAnswer checks that it is said once where in an answer the number is.
func (r *reader) oneAnswer(at node, noun string) {
	switch {
	case at.has("field") && at.has("header"):
		r.fault(at.owner, "%s has both field and header; remove one", noun)
	case none(at, keysOf(meterRows), "field", "header"):
		r.fault(at.owner, "%s does not say where in the answer the number is; write field: and its name in the JSON, or header: and that", noun)
	}
}

// isAddress checks an address that is asked.
func isAddress(text string) string {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return "write it like http://meter.example.org/energy"
	}
	return ""
}

// isEngine checks the address of a Docker Engine. It is kept with results, and
// so must hold no password.
func isEngine(text string) string {
	at, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"ssh", "tcp", "unix"}, at.Scheme) || at.Host+at.Path == "" {
		return "write it as in DOCKER_HOST, like ssh://user@host or tcp://host:2376"
	}
	if _, secret := at.User.Password(); secret {
		return "it is stored with results: leave the password out"
	}
	return ""
}

// isIP checks an address that a port can be published at.
func isIP(text string) string {
	if at, err := netip.ParseAddr(text); err != nil || at.IsUnspecified() || at.Zone() != "" {
		return "write one IP address of the servers' machine, like 192.168.1.5"
	}
	return ""
}

// isToken checks the name of any header.
func isToken(text string) string {
	if !tokenPattern.MatchString(text) {
		return "write a header's name, like X-Electricity-Consumed-Total"
	}
	return ""
}

// isAbsolute checks a path of the machine.
func isAbsolute(text string) string {
	if !path.IsAbs(text) || strings.ContainsAny(text, "\x00\n") {
		return "write it from the root, like /powercap"
	}
	return ""
}
