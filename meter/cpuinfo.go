package meter

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseCPUInfo understands /proc/cpuinfo: "key : value", a block a processor.
// Of each key the first value counts; the processors of one machine differ in
// nothing that is asked here.
func parseCPUInfo(text []byte) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if _, known := info[key]; ok && !known {
			info[key] = strings.TrimSpace(value)
		}
	}
	return info
}

// parseRanges understands a list of processors as the kernel writes it:
// "0-3,7".
func parseRanges(list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of processors", list)
		}
		last := first
		if isRange {
			last, err = strconv.ParseUint(to, 10, 16)
		}
		if err != nil || last < first {
			return nil, fmt.Errorf("%q is no list of processors", list)
		}
		for cpu := first; cpu <= last; cpu++ {
			all = append(all, int(cpu))
		}
	}
	return all, nil
}

// parseMemTotal takes the memory in KiB from /proc/meminfo.
func parseMemTotal(text []byte) (int64, error) {
	for line := range bytes.Lines(text) {
		value, ok := bytes.CutPrefix(line, []byte("MemTotal:"))
		if !ok {
			continue
		}
		number, ok := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
		kibibytes, err := parseNumber(number)
		if !ok || err != nil || kibibytes > math.MaxInt64>>12 {
			return 0, fmt.Errorf("%q is no amount of memory", bytes.TrimSpace(value))
		}
		return kibibytes, nil
	}
	return 0, errors.New("it has no MemTotal")
}
