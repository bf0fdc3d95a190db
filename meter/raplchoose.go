package meter

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// choose picks the zones whose sum is a domain: each joule once. The function
// tells whether two zones show one counter.
func choose(zones []raplZone, domain string, mirror func(a, b raplZone) bool) ([]raplZone, error) {
	zones = withoutTwins(zones)
	var chosen []raplZone
	for _, zone := range zones {
		kind := zone.kind()
		if kind == domain || domain == stopwatt.RAPLPackage && kind == stopwatt.RAPLMemory {
			chosen = append(chosen, zone)
		}
	}
	chosen = withoutMirrors(chosen, mirror)
	has := slices.ContainsFunc(chosen, func(z raplZone) bool { return z.kind() == domain })
	switch {
	case !has:
		return nil, fmt.Errorf("RAPL has no %s here; it has %s", domain, names(zones))
	case domain == stopwatt.RAPLPlatform && len(chosen) > 1:
		return nil, fmt.Errorf("RAPL has %d psys zones that differ (%s), and which of them is the platform's is not known", len(chosen), names(chosen))
	}
	return chosen, nil
}

// withoutTwins leaves out what another control type shows too: a package whose
// registers are also mapped into memory (MMIO) has the same name there. The
// control type without anything behind "rapl" comes first in the order of ids.
func withoutTwins(zones []raplZone) []raplZone {
	control := map[string]string{} // of the first with this full name
	var kept []raplZone
	for _, zone := range zones {
		first, known := control[zone.fullName()]
		if known && first != zone.control {
			continue
		}
		control[zone.fullName()] = zone.control
		kept = append(kept, zone)
	}
	return kept
}

// withoutMirrors leaves out zones of one socket that show the same counter as
// another one: the dies of some AMD packages do, where each tells of the whole
// package. Dies of Intel's count for themselves and stay. With a die its parts
// are left out.
func withoutMirrors(zones []raplZone, mirror func(a, b raplZone) bool) []raplZone {
	var kept []raplZone
	left := map[string]bool{} // ids of mirrors
	for _, zone := range zones {
		mirrored := left[zone.parentID()] || slices.ContainsFunc(kept, func(k raplZone) bool {
			return k.kind() == zone.kind() && k.socket() == zone.socket() && mirror(k, zone)
		})
		if mirrored {
			left[zone.id] = true
			continue
		}
		kept = append(kept, zone)
	}
	return kept
}

// names lists zones for people.
func names(zones []raplZone) string {
	if len(zones) == 0 {
		return "none"
	}
	var list []string
	for _, zone := range zones {
		list = append(list, zone.fullName())
	}
	return strings.Join(list, ", ")
}
