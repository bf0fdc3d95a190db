package simulated

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A zone is a counter of RAPL that the machine has: its place, its name, and
// its share of the script's power.
type zone struct {
	id, name string
	share    float64
}

// layouts are the machines that there may be.
var layouts = map[string][]zone{
	// A board: one package, of which cores and graphics are parts.
	"board": {
		{"intel-rapl:0", "package-0", 1},
		{"intel-rapl:0:0", "core", 0.7},
		{"intel-rapl:0:1", "uncore", 0.1},
	},
	// A server: two sockets with memory, the platform between them, and both
	// packages once more by MMIO.
	"server": {
		{"intel-rapl:0", "package-1", 1 - firstShare},
		{"intel-rapl:0:0", "dram", memoryShare * (1 - firstShare)},
		{"intel-rapl:1", "psys", 1.5},
		{"intel-rapl:2", "package-0", firstShare},
		{"intel-rapl:2:0", "dram", memoryShare * firstShare},
		{"intel-rapl-mmio:0", "package-0", firstShare},
		{"intel-rapl-mmio:1", "package-1", 1 - firstShare},
	},
	// AMD: both dies show the counter of their package.
	"dies": {
		{"intel-rapl:0", "package-0-die-0", 1},
		{"intel-rapl:0:0", "core", 0.7},
		{"intel-rapl:1", "package-0-die-1", 1},
	},
}

// hasMemory tells whether the memory is counted apart, and so belongs to what
// RAPL says of the machine.
func hasMemory(layout string) bool { return layout == "server" }

// dir is where a zone's files are, below the root.
func (z zone) dir() string {
	dir := "sys/devices/virtual/powercap"
	parts := strings.Split(z.id, ":")
	for i := range parts {
		dir += "/" + strings.Join(parts[:i+1], ":")
	}
	return dir
}

// plant makes the files of a machine that do not change, and its links.
func plant(root, layout string) error {
	files := map[string]string{
		"proc/cpuinfo":              "vendor_id\t: GenuineIntel\nmodel name\t: Simulated\n",
		"proc/sys/kernel/hostname":  "simulated\n",
		sensor + "/name":            "ina226\n",
		sensor + "/in1_input":       "12000\n",
		sensor + "/curr1_input":     "500\n",
		sensor + "/update_interval": fmt.Sprintf("%d\n", renewal/1_000_000),
	}
	for _, z := range layouts[layout] {
		files[z.dir()+"/name"] = z.name + "\n"
		files[z.dir()+"/max_energy_range_uj"] = fmt.Sprintf("%d\n", span)
	}
	for name, text := range files {
		if err := write(filepath.Join(root, name), text); err != nil {
			return err
		}
	}
	for _, z := range layouts[layout] {
		if err := link(root, z); err != nil {
			return err
		}
	}
	return nil
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// link links a zone and its control type into /sys/class/powercap.
func link(root string, z zone) error {
	class := filepath.Join(root, "sys/class/powercap")
	if err := os.MkdirAll(class, 0o755); err != nil {
		return err
	}
	control, _, _ := strings.Cut(z.id, ":")
	for name, to := range map[string]string{z.id: z.dir(), control: "sys/devices/virtual/powercap/" + control} {
		err := os.Symlink("../../"+strings.TrimPrefix(to, "sys/"), filepath.Join(class, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
