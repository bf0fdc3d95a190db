package meter

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// powerChips are chips that measure a supply line, the INA226 and its kin.
var powerChips = regexp.MustCompile(`^(ina2[0-9]{2}|ina3221|isl28022|ltc2945|ltc2947|ltc4151|sq52206)$`)

// A chip is a sensor of the kernel's hardware monitoring.
type chip struct {
	dir    string
	name   string // "ina226"
	device string // "0-0040", where on which bus; empty when it has none
}

// String is the chip as people find it.
func (c chip) String() string { return strings.TrimSpace(c.name + " " + c.device) }

// chips lists the sensor chips of the machine, in the order of their numbers.
func (h Host) chips() []chip {
	var all []chip
	dirs, _ := filepath.Glob(h.path("sys/class/hwmon/hwmon[0-9]*"))
	for _, dir := range dirs {
		name, err := os.ReadFile(filepath.Join(dir, "name"))
		if err != nil {
			continue
		}
		found := chip{dir: dir, name: strings.TrimSpace(string(name))}
		if link, err := os.Readlink(filepath.Join(dir, "device")); err == nil {
			found.device = filepath.Base(link)
		}
		all = append(all, found)
	}
	return all
}

// findChip returns the one chip that a setting means. One without a name means
// any that measures a supply line.
func (h Host) findChip(wanted stopwatt.HWMonMeter) (chip, error) {
	all := h.chips()
	var found []chip
	for _, c := range all {
		named := c.name == wanted.Chip || wanted.Chip == "" && powerChips.MatchString(c.name)
		if named && (wanted.Device == "" || wanted.Device == c.device) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return chip{}, refusal{says: fmt.Sprintf("there are %d sensors that it may be (%s): which one is meant is not known", len(found), listChips(found)), remedies: found[0].chosen(found[1:])}
	}
	meant := strings.TrimSpace(wanted.Chip + " " + wanted.Device)
	return chip{}, refusal{says: fmt.Sprintf("there is no sensor %s; there are: %s", cmp.Or(meant, "of the INA226's kind"), listChips(all)), nothing: true}
}

// chosen is how a machine file names this chip and none of the others; nothing
// where they cannot be told apart.
func (c chip) chosen(others []chip) []stopwatt.Remedy {
	line := fmt.Sprintf("board: {hwmon: %s, device: %s}", c.name, c.device)
	if c.device == "" {
		line = fmt.Sprintf("board: {hwmon: %s}", c.name)
		if slices.ContainsFunc(others, func(other chip) bool { return other.name == c.name }) {
			return nil
		}
	}
	return []stopwatt.Remedy{{When: "in the machine file, under meters", Line: line}}
}

func listChips(chips []chip) string {
	if len(chips) == 0 {
		return "none"
	}
	var list []string
	for _, c := range chips {
		list = append(list, c.String())
	}
	return strings.Join(list, ", ")
}

// openHWMon opens a sensor: its energy where it accumulates that, else its
// power, else its voltage and current. The error is a refusal.
func (h Host) openHWMon(setting stopwatt.HWMonMeter) (instrument, error) {
	c, err := h.findChip(setting)
	if err != nil {
		return instrument{}, err
	}
	channel := max(setting.Channel, 1)
	opened, err := c.open(channel)
	if err != nil {
		return instrument{}, err
	}
	opened.source = c.String()
	opened.renewal = c.renewal(channel)
	return opened, nil
}

// open opens one channel of the chip.
func (c chip) open(channel int) (instrument, error) {
	energy, energyErr := c.number("energy", channel)
	if energyErr == nil {
		return accumulating(*energy), nil
	}
	sensor := &powerSensor{}
	var powerErr, voltageErr, currentErr error
	sensor.power, powerErr = c.number("power", channel)
	sensor.voltage, voltageErr = c.number("in", channel)
	sensor.current, currentErr = c.number("curr", channel)
	if sensor.power == nil && (sensor.voltage == nil || sensor.current == nil) {
		return instrument{}, errors.Join(c.unreadable(channel, energyErr, powerErr, voltageErr, currentErr), sensor.close())
	}
	if err := sensor.forwards(); err != nil {
		return instrument{}, errors.Join(err, sensor.close())
	}
	return instrument{read: sensor.read, close: sensor.close}, nil
}

// accumulating is an instrument whose chip adds up µJ by itself. How far it
// counts no driver says, so that no step back is mended.
func accumulating(energy numberFile) instrument {
	return instrument{
		counters: []counter{{most: mostPower, lump: mostPower / 2}}, // half a second of it
		read:     func(into []int64) error { return readAll([]numberFile{energy}, into) },
		close:    energy.close,
	}
}

// number opens a number of a channel: power1_input, or power1_average.
func (c chip) number(what string, channel int) (*numberFile, error) {
	base := filepath.Join(c.dir, what+strconv.Itoa(channel))
	file, err := openNumber(base + "_input")
	if err == nil {
		return &file, nil
	}
	if what != "power" {
		return nil, err
	}
	if file, averageErr := openNumber(base + "_average"); averageErr == nil {
		return &file, nil
	}
	return nil, err
}

// renewal is the time from one value of the chip to the next; 0 when it is not
// known. update_interval holds for the chip, in ms.
func (c chip) renewal(channel int) time.Duration {
	for _, name := range []string{"update_interval", fmt.Sprintf("power%d_average_interval", channel)} {
		text, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			continue
		}
		if n, err := parseNumber(text); err == nil && n > 0 && n < 3600_000 {
			return time.Duration(n) * time.Millisecond
		}
	}
	return 0
}
