package jobs

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

const machineDocs = "../docs/machine.md"

func machineSections() []section {
	return []section{
		sectionOf("file", machineRows),
		sectionOf("meter", meterRows),
		sectionOf("cpus", coreRows),
		sectionOf("driver", driverRows),
	}
}

func TestTheMachineDocumentTellsEveryKeyAsTheCodeHasIt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(machineDocs)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- keys -->\n", "<!-- end of keys -->"
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no %q and %q", machineDocs, begin, end)
	}
	var tables strings.Builder
	for _, section := range machineSections() {
		tables.WriteString("\n" + section.String())
	}
	golden(t, machineDocs, before+begin+tables.String()+"\n"+end+after)
}

func readMachine(t *testing.T, text string) stopwatt.MachineFile {
	t.Helper()
	file, err := ReadMachine("machine.yml", []byte(text))
	if err != nil {
		t.Fatalf("ReadMachine:\n%v", err)
	}
	return file
}

func TestTheExampleOfTheMachineDocumentIsOne(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(machineDocs)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatalf("%s has no example", machineDocs)
	}
	want := stopwatt.MachineFile{
		Machine: "odroid-h3",
		Meters: []stopwatt.MeterSetting{
			{Name: "board", HWMon: &stopwatt.HWMonMeter{Chip: "ina226", Channel: 1}},
			{Name: "cpu", RAPL: stopwatt.RAPLPackage},
			{Name: "lab", HTTP: &stopwatt.HTTPMeter{URL: "http://meter.example.org/energy", Field: "electricity_consumed_total", Unit: stopwatt.Joules, Renewal: 125 * time.Millisecond}},
			{Name: "plug", Command: &stopwatt.CommandMeter{Command: []string{"/usr/local/bin/plug", "--watts"}, Unit: stopwatt.Watts}},
		},
		ServerCPUs: "0-2", DriverCPUs: "3",
	}
	if diff := cmp.Diff(want, readMachine(t, example)); diff != "" {
		t.Errorf("the example differs (-want +got):\n%s", diff)
	}
}

func TestReadMachine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       stopwatt.MachineFile
	}{
		{"an empty file", "", stopwatt.MachineFile{}},
		{"comments alone", "# machine: x\n\n  # meters:\n", stopwatt.MachineFile{}},
		{"a name and nothing else", "machine: bench-1\n", stopwatt.MachineFile{Machine: "bench-1"}},
		{"a driver elsewhere", "driver: {docker: 'ssh://u@drive', address: 192.0.2.5}", stopwatt.MachineFile{Driver: &stopwatt.DriverHost{Docker: "ssh://u@drive", Address: "192.0.2.5"}}},
		{"the folder that a runner brought", "sysfs-powercap: /powercap\n", stopwatt.MachineFile{Powercap: "/powercap"}},
		{"one of two chips, and one of its lines", "meters: {board: {hwmon: ina3221, device: 1-0041, channel: 3}}",
			stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{{Name: "board", HWMon: &stopwatt.HWMonMeter{Chip: "ina3221", Device: "1-0041", Channel: 3}}}}},
		{"joules unless it says otherwise", "meters: {wall: {http: 'https://m:8080/e?x=1', header: X-Total, renewal: 125ms}}",
			stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{{Name: "wall", HTTP: &stopwatt.HTTPMeter{URL: "https://m:8080/e?x=1", Header: "X-Total", Unit: stopwatt.Joules, Renewal: 125 * time.Millisecond}}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, readMachine(t, test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOfAMachineFile(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"a misspelt key", "meter: {}", `1:1: unknown key "meter" in the file; did you mean "meters"?`},
		{"no meters at all", "meters: {}", "1:1: there is no meter; write one at least, as name: {…}"},
		{"a meter that is a word", "meters: {board: ina226}", `1:17: meter "board" is a single value here and must be a mapping; write key: value below it, indented, or in braces`},
		{"a meter that is not read", "meters: {board: {unit: W}}", `1:10: meter "board" is not said to be read; write rapl: package, hwmon: and a chip, http: and an address, or command: and a program`},
		{"a misspelt way to read it", "meters: {board: {hwmom: ina226}}", `1:18: unknown key "hwmom" in meter "board"; did you mean "hwmon"?`},
		{"two ways to read it", "meters: {board: {hwmon: ina226, rapl: psys}}", `1:10: meter "board" has rapl and hwmon; remove all but one`},
		{"a domain that RAPL has not", "meters: {cpu: {rapl: core}}", `1:22: rapl cannot be "core"; write package or dram or psys`},
		{"a unit where none is needed", "meters: {cpu: {rapl: package, unit: J}}", `1:31: unit in meter "cpu" says nothing of rapl; remove it`},
		{"a renewal of a chip, which says it itself", "meters: {board: {hwmon: ina226, renewal: 140ms}}", `1:33: renewal in meter "board" says nothing of hwmon; remove it`},
		{"a field of a chip", "meters: {board: {hwmon: ina226, field: total}}", `1:33: field in meter "board" says nothing of hwmon; remove it`},
		{"a number that is nowhere in the answer", "meters: {wall: {http: 'http://m/'}}", `1:10: meter "wall" does not say where in the answer the number is; write field: and its name in the JSON, or header: and that`},
		{"a number in two places", "meters: {wall: {http: 'http://m/', field: a, header: b}}", `1:10: meter "wall" has both field and header; remove one`},
		{"no address", "meters: {wall: {http: m/energy, field: a}}", `1:23: http cannot be "m/energy"; write it like http://meter.example.org/energy`},
		{"an unknown unit", "meters: {wall: {http: 'http://m/', field: a, unit: kW}}", `1:52: unit cannot be "kW"; did you mean kWh?`},
		{"a command that is a text", "meters: {plug: {command: plug --watts}}", `1:26: command is one text here and must be a list; write ["plug", "--watts"]`},
		{"a name that no metric can have", "meters: {Board: {hwmon: ina226}}", `1:10: "Board" is no name for the meter, of which metrics are made; write lower-case letters, digits and -, a letter first, 32 at most`},
		{"a name with an underscore", "meters: {my_board: {hwmon: ina226}}", `1:10: "my_board" is no name for the meter, of which metrics are made; write lower-case letters, digits and -, a letter first, 32 at most`},
		{"a single core", "cpus: {driver: 3}", `1:16: cpus 3 may mean a core or a number of cores; write "0-1" for two cores, or "3" in quotes for that core`},
		{"a driver that nobody can be reached by", "driver: {docker: 'ssh://drive'}", `1:1: driver has no address; write address: and this machine's IP address`},
		{"a driver's engine that is a name", "driver: {docker: drive, address: 192.0.2.5}", `1:18: docker cannot be "drive"; write it as in DOCKER_HOST, like ssh://user@host or tcp://host:2376`},
		{"a driver's engine with a password", "driver: {docker: 'ssh://a:b@drive', address: 192.0.2.5}", `1:18: docker cannot be "ssh://a:b@drive"; it is stored with results: leave the password out`},
		{"every address of a machine", "driver: {docker: 'ssh://drive', address: 0.0.0.0}", `1:42: address cannot be "0.0.0.0"; write one IP address of the servers' machine, like 192.168.1.5`},
		{"a path that depends on where one is", "sysfs-powercap: powercap", `1:17: sysfs-powercap cannot be "powercap"; write it from the root, like /powercap`},
		{"a suite", "suite: a", `1:1: unknown key "suite" in the file; the keys are machine, meters, cpus, driver, sysfs-powercap`},
		{"a null", "~", "the file is empty; remove it, or write what its machine is called"},
		{"two machines", "machine: a\n---\nmachine: b\n", "2:1: a second document begins here; a file holds one machine, put the other into a file of its own"},
		{"a large file", "#" + strings.Repeat(" ", mostMachine), "the file has 16385 bytes, and a machine file at most 16384; remove what does not belong there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadMachine("machine.yml", []byte(test.text))
			faults := faultsOf(t, err)
			got, _, _ := strings.Cut(faults[0].String(), "\n")
			if want := strings.TrimSuffix("machine.yml:"+test.want, ":"); len(faults) != 1 || got != want && got != "machine.yml: "+test.want {
				t.Errorf("%d faults, the first %q, want %q", len(faults), got, want)
			}
		})
	}
}

func FuzzReadMachine(f *testing.F) {
	f.Add("machine: a\nmeters: {board: {hwmon: ina226}, wall: {http: 'http://m/', field: a, unit: W}}\ncpus: {server: '0-2'}\n")
	f.Add("meters:\n  plug:\n    command: [a, b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ReadMachine("machine.yml", []byte(text))
		if err != nil {
			faultsOf(t, err)
			return
		}
		for _, meter := range file.Meters {
			ways := 0
			for _, has := range []bool{meter.RAPL != "", meter.HWMon != nil, meter.HTTP != nil, meter.Command != nil} {
				if has {
					ways++
				}
			}
			if ways != 1 || !stopwatt.IsMeterName(meter.Name) {
				t.Errorf("a meter that is read in %d ways: %+v", ways, meter)
			}
		}
	})
}
