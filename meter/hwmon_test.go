package meter

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// ina226 is a chip at address 0x40 of bus 0, behind a supply of 12 V.
var ina226 = map[string]string{
	"sys/class/hwmon/hwmon3/name":            "ina226\n",
	"sys/class/hwmon/hwmon3/in0_input":       "8\n", // the shunt, and no line
	"sys/class/hwmon/hwmon3/in1_input":       "12000\n",
	"sys/class/hwmon/hwmon3/curr1_input":     "350\n",
	"sys/class/hwmon/hwmon3/power1_input":    "4175000\n",
	"sys/class/hwmon/hwmon3/update_interval": "141\n",
	"sys/class/hwmon/hwmon0/name":            "coretemp\n",
}

func TestAChipGivesItsPower(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		files   map[string]string
		setting stopwatt.HWMonMeter
		want    int64
		renewal time.Duration
		energy  bool // µJ that add up, not µW
	}{
		{"an INA226", ina226, stopwatt.HWMonMeter{Chip: "ina226"}, 4175000, 141 * time.Millisecond, false},
		{"found without a name", ina226, stopwatt.HWMonMeter{}, 4175000, 141 * time.Millisecond, false},
		{"without a power register: line voltage times current", with(ina226, map[string]string{"sys/class/hwmon/hwmon3/power1_input": ""}),
			stopwatt.HWMonMeter{Chip: "ina226"}, 4200000, 141 * time.Millisecond, false},
		{"the third channel of an INA3221", map[string]string{
			"sys/class/hwmon/hwmon0/name": "ina3221\n", "sys/class/hwmon/hwmon0/in3_input": "5000\n", "sys/class/hwmon/hwmon0/curr3_input": "1000\n",
		}, stopwatt.HWMonMeter{Chip: "ina3221", Channel: 3}, 5000000, 0, false},
		{"a chip that adds up its energy", with(ina226, map[string]string{"sys/class/hwmon/hwmon3/energy1_input": "123456789\n"}),
			stopwatt.HWMonMeter{Chip: "ina226"}, 123456789, 141 * time.Millisecond, true},
		{"a meter of ACPI, which averages", map[string]string{
			"sys/class/hwmon/hwmon1/name": "power_meter\n", "sys/class/hwmon/hwmon1/power1_average": "213000000\n", "sys/class/hwmon/hwmon1/power1_average_interval": "1000\n",
		}, stopwatt.HWMonMeter{Chip: "power_meter"}, 213000000, time.Second, false},
		{"a chip that does not say how often it renews", with(ina226, map[string]string{"sys/class/hwmon/hwmon3/update_interval": ""}),
			stopwatt.HWMonMeter{Chip: "ina226"}, 4175000, 0, false},
		{"a chip that says it renews every 0 ms", with(ina226, map[string]string{"sys/class/hwmon/hwmon3/update_interval": "0\n"}),
			stopwatt.HWMonMeter{Chip: "ina226"}, 4175000, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			opened, err := tree(t, test.files).openHWMon(test.setting)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.close()
			var got [1]int64
			if err := opened.read(got[:]); err != nil || got[0] != test.want {
				t.Errorf("it reads %d, %v; want %d", got[0], err, test.want)
			}
			if opened.renewal != test.renewal || (len(opened.counters) == 1) != test.energy {
				t.Errorf("renewal %s, %d counters", opened.renewal, len(opened.counters))
			}
		})
	}
}

// two are two boards' chips on one bus.
func two(t *testing.T) Host {
	host := tree(t, with(ina226, map[string]string{"sys/class/hwmon/hwmon4/name": "ina226\n", "sys/class/hwmon/hwmon4/power1_input": "9000000\n"}))
	for hwmon, device := range map[string]string{"hwmon3": "0-0040", "hwmon4": "0-0041"} {
		if err := os.Symlink("../../../devices/i2c-0/"+device, host.path("sys/class/hwmon", hwmon, "device")); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

func TestOneOfTwoChipsMustBeNamed(t *testing.T) {
	t.Parallel()
	host := two(t)
	for _, chip := range []string{"ina226", ""} {
		_, err := host.openHWMon(stopwatt.HWMonMeter{Chip: chip})
		refuses(t, err, "2 sensors that it may be (ina226 0-0040, ina226 0-0041)", "board: {hwmon: ina226, device: 0-0040}", false)
	}
	opened, err := host.openHWMon(stopwatt.HWMonMeter{Chip: "ina226", Device: "0-0041"})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.close()
	var got [1]int64
	if err := opened.read(got[:]); err != nil || got[0] != 9000000 || opened.source != "ina226 0-0041" {
		t.Errorf("%s reads %d, %v", opened.source, got[0], err)
	}
}

func TestAChipWithoutADeviceIsChosenByItsName(t *testing.T) {
	t.Parallel()
	const first, second = "sys/class/hwmon/hwmon0/name", "sys/class/hwmon/hwmon1/name"
	_, err := tree(t, map[string]string{first: "ina226\n", second: "ina219\n"}).openHWMon(stopwatt.HWMonMeter{})
	refuses(t, err, "there are 2 sensors that it may be (ina226, ina219)", "board: {hwmon: ina226}", false)
	_, err = tree(t, map[string]string{first: "ina226\n", second: "ina226\n"}).openHWMon(stopwatt.HWMonMeter{})
	refuses(t, err, "there are 2 sensors that it may be (ina226, ina226)", "", false)
}

func TestWhyAChipGivesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		files   map[string]string
		setting stopwatt.HWMonMeter
		says    string
		nothing bool
	}{
		{"there is no sensor at all", nil, stopwatt.HWMonMeter{Chip: "ina226"}, "there is no sensor ina226; there are: none", true},
		{"there are others", ina226, stopwatt.HWMonMeter{Chip: "ina219"}, "no sensor ina219; there are: coretemp, ina226", true},
		{"it is at another place", ina226, stopwatt.HWMonMeter{Chip: "ina226", Device: "1-0040"}, "no sensor ina226 1-0040", true},
		{"it has no such channel", ina226, stopwatt.HWMonMeter{Chip: "ina226", Channel: 2}, "ina226 has no energy, power, or voltage and current of channel 2", false},
		{"it measures no power", ina226, stopwatt.HWMonMeter{Chip: "coretemp"}, "coretemp has no energy, power, or voltage and current", false},
		{"its shunt is the wrong way round", with(ina226, map[string]string{"sys/class/hwmon/hwmon3/curr1_input": "-55\n"}),
			stopwatt.HWMonMeter{Chip: "ina226"}, "its current is negative (-55 mA)", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := tree(t, test.files).openHWMon(test.setting)
			refuses(t, err, test.says, "", test.nothing)
		})
	}
}

func TestAPowerThatNoMachineHasIsNoReading(t *testing.T) {
	t.Parallel()
	const power, voltage, current = "sys/class/hwmon/hwmon3/power1_input", "sys/class/hwmon/hwmon3/in1_input", "sys/class/hwmon/hwmon3/curr1_input"
	tests := []struct {
		name  string
		files map[string]string
		says  string // a part of the reason; empty: it is a reading
	}{
		{"a power", map[string]string{}, ""},
		{"0 W with voltage on the line", map[string]string{power: "0\n"}, "0 W, with 12.000 V on the line: it has lost its calibration"},
		{"0 W without voltage", map[string]string{power: "0\n", voltage: "0\n"}, "nothing is connected"},
		{"0 W where no voltage is measured", map[string]string{power: "0\n", voltage: ""}, "a machine that runs draws some"},
		{"the sentinel of 32 bits", map[string]string{power: "4294967295000\n"}, "no power but a sign that"},
		{"the greatest number", map[string]string{power: fmt.Sprintf("%d\n", math.MaxInt64)}, "no power but a sign"},
		{"a negative power", map[string]string{power: "-25000\n"}, "the current flows backwards"},
		{"an empty file", map[string]string{power: "\n"}, "power1_input: it is empty"},
		{"text", map[string]string{power: "N/A\n"}, `power1_input: "N/A" is no count`},
		{"a voltage of a sentinel, times current", map[string]string{power: "", voltage: "9223372036854775807\n"}, "are no line of a machine"},
		{"a negative voltage", map[string]string{power: "", voltage: "-3\n", current: "350\n"}, "are no line of a machine"},
		{"no current at all", map[string]string{power: "", current: "0\n"}, "it has lost its calibration"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			opened, err := tree(t, with(ina226, test.files)).openHWMon(stopwatt.HWMonMeter{Chip: "ina226"})
			if err != nil {
				t.Fatal(err)
			}
			defer opened.close()
			var got [1]int64
			err = opened.read(got[:])
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("it reads %d, %v; want %q", got[0], err, test.says)
			}
		})
	}
}

func TestASensorThatOnlyRootMayReadSaysSo(t *testing.T) {
	t.Parallel()
	host := tree(t, ina226)
	for _, file := range []string{"power1_input", "in1_input", "curr1_input"} {
		if err := os.Chmod(host.path("sys/class/hwmon/hwmon3", file), 0); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, host, func() {
		_, err := host.openHWMon(stopwatt.HWMonMeter{Chip: "ina226"})
		refuses(t, err, "ina226 is here, but this user may not read it", "sudo chmod a+r ", false)
	})
}

func TestWhatIsFoundWithoutAMachineFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{"proc/cpuinfo": "vendor_id : GenuineIntel\n"}
	zone(files, "intel-rapl:0", "package-0", 1000)
	zone(files, "intel-rapl:1", "psys", 9000)
	all := tree(t, with(files, ina226))
	link(t, all, []string{"intel-rapl:0", "intel-rapl:1"})
	masked := tree(t, map[string]string{"proc/cpuinfo": "vendor_id : GenuineIntel\n"})
	link(t, masked, []string{"intel-rapl:0"})
	tests := []struct {
		name     string
		host     Host
		file     stopwatt.MachineFile
		meters   string
		findings string
	}{
		{"a board with everything", all, stopwatt.MachineFile{}, "cpu: rapl package-0; board: ina226; psys: rapl psys", ""},
		{"what a file names, and no more", all, stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{{Name: "whole", RAPL: stopwatt.RAPLPlatform}}}, "whole: rapl psys", ""},
		{"a virtual machine has no meter, and is told why", tree(t, map[string]string{"proc/cpuinfo": "vendor_id : x\nflags : hypervisor\n"}), stopwatt.MachineFile{}, "", "energy_cpu, energy_board"},
		{"a masked RAPL stays in the list, for it is there", masked, stopwatt.MachineFile{}, "cpu: absent", "energy_cpu, energy_board"},
		{"a meter that a file names stays in the list", tree(t, nil), stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{{Name: "board", HWMon: &stopwatt.HWMonMeter{Chip: "ina226"}}}}, "board: absent", "energy_board"},
		{"a setting that says nothing", all, stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{{Name: "x"}}}, "x: absent", "energy_x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			opened, findings := OpenMeters(test.host, test.file)
			defer opened.Close()
			var meters, subjects []string
			for _, meter := range opened.List() {
				if meter.Absent != "" {
					meter.Source = "absent"
				}
				meters = append(meters, meter.Name+": "+meter.Source)
			}
			for _, f := range findings {
				subjects = append(subjects, f.Subject)
				if f.Verdict != stopwatt.Unfit || len(f.Metrics) != len(stopwatt.EnergyMetrics("x")) || f.Says == "" {
					t.Errorf("finding %+v", f)
				}
			}
			if got := strings.Join(meters, "; "); got != test.meters {
				t.Errorf("meters %q, want %q", got, test.meters)
			}
			if got := strings.Join(subjects, ", "); got != test.findings {
				t.Errorf("findings %q, want %q", got, test.findings)
			}
		})
	}
}
