package meter

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
)

// parseNumber understands a file that holds one number and a line feed.
func parseNumber(text []byte) (int64, error) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	if len(text) == 0 {
		return 0, errors.New("it is empty")
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is no count", text)
		}
		digit := int64(c - '0')
		if n > (math.MaxInt64-digit)/10 {
			return 0, fmt.Errorf("%q is beyond 63 bits", text)
		}
		n = n*10 + digit
	}
	return n, nil
}

// parseKeyed finds a key's number in a file of lines "key number", as cpu.stat
// is one.
func parseKeyed(text []byte, key string) (int64, error) {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		name, value, ok := bytes.Cut(line, []byte(" "))
		if ok && string(name) == key {
			return parseNumber(value)
		}
		text = rest
	}
	return 0, fmt.Errorf("it has no %s", key)
}

// keyed parses a file of lines "key number" for one key.
func keyed(key string) func([]byte) (int64, error) {
	return func(text []byte) (int64, error) { return parseKeyed(text, key) }
}

// parseIOStat sums up one count of all block devices in io.stat, whose lines
// are "8:0 rbytes=4096 wbytes=0 …". Devices that lie on others are left out,
// for what they do is counted there again. No line at all means nothing done.
func parseIOStat(text []byte, key string, stacked []string) (int64, error) {
	sum := int64(0)
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		device, counts, _ := bytes.Cut(line, []byte(" "))
		if slices.Contains(stacked, string(device)) {
			continue
		}
		n, err := parseIOCount(counts, key)
		if err != nil {
			return 0, err
		}
		if sum, err = added(sum, n); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// parseIOCount finds "key=number" among the counts of one device. A device
// that has none did nothing.
func parseIOCount(counts []byte, key string) (int64, error) {
	for len(counts) > 0 {
		count, rest, _ := bytes.Cut(counts, []byte(" "))
		name, value, ok := bytes.Cut(count, []byte("="))
		if ok && string(name) == key {
			return parseNumber(value)
		}
		counts = rest
	}
	return 0, nil
}

// parseBlkio sums up one operation of all block devices in a file of cgroup
// v1's blkio controller, whose lines are "8:0 Read 4096", with "Total 4096" at
// the end. Devices that lie on others are left out, as in parseIOStat.
func parseBlkio(text []byte, operation string, stacked []string) (int64, error) {
	sum := int64(0)
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		device, count, _ := bytes.Cut(line, []byte(" "))
		name, value, ok := bytes.Cut(count, []byte(" "))
		if !ok || string(name) != operation || slices.Contains(stacked, string(device)) {
			continue
		}
		n, err := parseNumber(value)
		if err != nil {
			return 0, err
		}
		if sum, err = added(sum, n); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// added adds two counts, unless the sum is beyond 63 bits.
func added(a, b int64) (int64, error) {
	if a > math.MaxInt64-b {
		return 0, fmt.Errorf("%d and %d are beyond 63 bits", a, b)
	}
	return a + b, nil
}

// scaled multiplies a count, unless that is beyond 63 bits.
func scaled(n, scale int64) (int64, error) {
	if n > math.MaxInt64/scale {
		return 0, fmt.Errorf("%d times %d is beyond 63 bits", n, scale)
	}
	return n * scale, nil
}
