package meter

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// raplRenewal is how often the counters of RAPL are renewed: about every
// millisecond (Intel 64 Software Developer's Manual, volume 3, 16.10.1).
const raplRenewal = time.Millisecond

// raplMost is the greatest power of each kind of zone, in µW: about twice what
// any that is sold can draw.
var raplMost = map[string]int64{
	stopwatt.RAPLPackage:  1000e6,
	stopwatt.RAPLMemory:   500e6,
	stopwatt.RAPLPlatform: 5000e6,
}

// A raplZone is one counter of the kernel's power capping framework.
type raplZone struct {
	dir     string
	id      string // "intel-rapl:0:1": its control type and its place, which says nothing of what it is
	control string // "intel-rapl", or "intel-rapl-mmio" for the same counters by another way
	name    string // "package-0", "package-0-die-1", "dram", "core", "uncore", "psys"
	parent  string // the name of the zone that it is a part of; empty for one of its own
}

// parentID is the id of the zone that it is a part of, or its control type.
func (z raplZone) parentID() string { return z.id[:strings.LastIndexByte(z.id, ':')] }

// fullName is the name with its parent's: "package-0/dram".
func (z raplZone) fullName() string {
	if z.parent == "" {
		return z.name
	}
	return z.parent + "/" + z.name
}

var (
	raplEntry    = regexp.MustCompile(`^([a-z]+-rapl(?:-[a-z]+)?)((?::[0-9]+)*)$`)
	raplPackage  = regexp.MustCompile(`^package-([0-9]+)(?:-die-[0-9]+)?$`)
	raplPlatform = regexp.MustCompile(`^psys(?:-[0-9]+)?$`)
)

// kind says what a zone counts, of RAPLDomains. Cores and graphics are parts of
// a package, and what has another name is not known: both are empty.
func (z raplZone) kind() string {
	switch {
	case raplPackage.MatchString(z.name):
		return stopwatt.RAPLPackage
	case z.name == "dram":
		return stopwatt.RAPLMemory
	case raplPlatform.MatchString(z.name):
		return stopwatt.RAPLPlatform
	}
	return ""
}

// socket is the number of the package that a zone is or is a part of.
func (z raplZone) socket() string {
	for _, name := range []string{z.name, z.parent} {
		if found := raplPackage.FindStringSubmatch(name); found != nil {
			return found[1]
		}
	}
	return ""
}

// A powercapTree is what was found below /sys/class/powercap.
type powercapTree struct {
	zones    []raplZone
	controls int // control types: a driver is there, whether it has zones or not
	dangling int // links that lead nowhere
	err      error
}

// powercap looks for zones below a folder, in the order of their ids. Below
// /sys/class all are links beside each other, below /sys/devices each is within
// its parent.
func powercap(base string) powercapTree {
	var tree powercapTree
	dirs := map[string]string{}
	tree.err = tree.walk(base, 3, dirs)
	for id, dir := range dirs {
		parts := raplEntry.FindStringSubmatch(id)
		zone := raplZone{dir: dir, id: id, control: parts[1], name: zoneName(dir)}
		if parent := dirs[zone.parentID()]; parent != "" {
			zone.parent = zoneName(parent)
		}
		tree.zones = append(tree.zones, zone)
	}
	slices.SortFunc(tree.zones, func(a, b raplZone) int { return compareIDs(a.id, b.id) })
	return tree
}

// walk fills in where each zone is, by its id.
func (t *powercapTree) walk(dir string, levels int, dirs map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || levels == 0 {
		return err
	}
	for _, entry := range entries {
		parts := raplEntry.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			t.dangling++
			continue
		case err != nil:
			return err
		}
		if parts[2] == "" {
			t.controls++
		} else if dirs[entry.Name()] == "" {
			dirs[entry.Name()] = path
		}
		if err := t.walk(path, levels-1, dirs); err != nil {
			return err
		}
	}
	return nil
}

func zoneName(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "name"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// compareIDs puts intel-rapl:2 before intel-rapl:10, and the main control type
// before its twins.
func compareIDs(a, b string) int {
	as, bs := strings.Split(a, ":"), strings.Split(b, ":")
	if order := cmp.Compare(as[0], bs[0]); order != 0 {
		return order
	}
	return slices.CompareFunc(as[1:], bs[1:], func(a, b string) int {
		m, _ := strconv.Atoi(a) // digits, by raplEntry
		n, _ := strconv.Atoi(b)
		return cmp.Compare(m, n)
	})
}
