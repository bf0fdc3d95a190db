package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// openRAPL opens the counters whose sum is a domain of RAPL. The error is a
// refusal.
func (h Host) openRAPL(powercapDir, domain string) (instrument, error) {
	tree := powercap(h.powercapDir(powercapDir))
	if len(tree.zones) == 0 {
		return instrument{}, h.noRAPL(tree, powercapDir)
	}
	chosen, err := choose(tree.zones, domain, mirrors)
	if err != nil {
		return instrument{}, refusal{says: err.Error()}
	}
	var files []numberFile
	var counters []counter
	for _, zone := range chosen {
		file, err := openNumber(zone.energyFile())
		if err == nil {
			_, err = file.read()
			files = append(files, file)
		}
		if err != nil {
			return instrument{}, errors.Join(unreadable(zone, err), closeAll(files))
		}
		most := raplMost[zone.kind()]
		counters = append(counters, counter{span: zone.span(), most: most, lump: most / 50})
	}
	return instrument{
		source:   "rapl " + names(chosen),
		renewal:  raplRenewal,
		counters: counters,
		read:     func(into []int64) error { return readAll(files, into) },
		close:    func() error { return closeAll(files) },
	}, nil
}

// readAll reads every file, or none: a sum without a part is no sum.
func readAll(files []numberFile, into []int64) error {
	for i, file := range files {
		value, err := file.read()
		if err == nil && value < 0 {
			err = fmt.Errorf("%s: %d is no energy", file.name, value)
		}
		if err != nil {
			return err
		}
		into[i] = value
	}
	return nil
}

func (z raplZone) energyFile() string { return filepath.Join(z.dir, "energy_uj") }

// span is how far the zone counts, in µJ; 0 when the kernel does not say.
func (z raplZone) span() int64 {
	text, err := os.ReadFile(filepath.Join(z.dir, "max_energy_range_uj"))
	if err != nil {
		return 0
	}
	span, err := parseNumber(text)
	if err != nil {
		return 0
	}
	return span
}

// mirrors tells whether two zones show one counter: the second's value lies
// between two readings of the first's, and again when that has moved on. Two
// counters that go round every few minutes do not meet twice by chance.
func mirrors(a, b raplZone) bool {
	first, err := openNumber(a.energyFile())
	if err != nil {
		return false
	}
	defer first.close() // which was only read from
	second, err := openNumber(b.energyFile())
	if err != nil {
		return false
	}
	defer second.close() // which was only read from
	if !brackets(first, second) {
		return false
	}
	began, _ := first.read()
	for range 20 {
		time.Sleep(raplRenewal)
		if now, _ := first.read(); now != began {
			break
		}
	}
	return brackets(first, second)
}

// brackets tells whether the second file's value lies between two readings of
// the first's. It tries again, because a renewal may come in between.
func brackets(first, second numberFile) bool {
	for range 3 {
		low, err := first.read()
		value, valueErr := second.read()
		high, highErr := first.read()
		if errors.Join(err, valueErr, highErr) == nil && low <= value && value <= high {
			return true
		}
	}
	return false
}

// noRAPL says why there is no zone at all.
func (h Host) noRAPL(tree powercapTree, powercapDir string) error {
	info := h.cpuInfo()
	switch {
	case tree.dangling > 0:
		return refusal{says: "RAPL is masked by Docker in this container (the links in /sys/class/powercap lead nowhere)", remedies: []stopwatt.Remedy{
			{When: "in the runner's config.toml", Line: `volumes = ["/sys/devices/virtual/powercap:/powercap:ro"]`},
			{When: "and in the machine file", Line: "sysfs-powercap: /powercap"},
		}}
	case powercapDir != "":
		return refusal{says: "sysfs-powercap of the machine file holds no counters of RAPL", remedies: []stopwatt.Remedy{
			{When: "in the runner's config.toml", Line: `volumes = ["/sys/devices/virtual/powercap:` + powercapDir + `:ro"]`},
		}}
	case h.virtual(info):
		return refusal{nothing: true, says: "there is no RAPL: this is a virtual machine, and its hypervisor does not pass it on"}
	case info["vendor_id"] == "":
		return refusal{nothing: true, says: "there is no RAPL: this CPU is not of the x86 family"}
	case tree.controls > 0:
		return refusal{says: "the kernel's driver of RAPL is there, but has no counters: this kernel does not know this CPU's"}
	case tree.err != nil && !errors.Is(tree.err, fs.ErrNotExist):
		return refusal{says: "RAPL cannot be looked for: " + tree.err.Error()}
	}
	return refusal{nothing: true, says: "there is no RAPL: the kernel's driver of it is not loaded", remedies: []stopwatt.Remedy{
		{When: "until the next boot", Line: "sudo modprobe intel_rapl_msr"},
		{When: "for good", Line: "echo intel_rapl_msr | sudo tee /etc/modules-load.d/stopwatt.conf"},
	}}
}

// unreadable says why a zone's counter cannot be read.
func unreadable(zone raplZone, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return refusal{says: fmt.Sprintf("RAPL is here, but %s cannot be read: %v", zone.fullName(), err)}
	}
	return refusal{denied: true, says: fmt.Sprintf("RAPL is here (%s) but only root may read it", zone.fullName()), remedies: []stopwatt.Remedy{
		{When: "until the next boot", Line: "sudo chmod a+r /sys/class/powercap/intel-rapl*:*/energy_uj"},
		{When: "for good", Line: `echo 'SUBSYSTEM=="powercap", ACTION=="add", RUN+="/bin/chmod a+r /sys%p/energy_uj"' | sudo tee /etc/udev/rules.d/70-stopwatt.rules`},
	}}
}
