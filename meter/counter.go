package meter

import (
	"bytes"
	"errors"
	"fmt"
	"math"
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

// scaled multiplies a count, unless that is beyond 63 bits.
func scaled(n, scale int64) (int64, error) {
	if n > math.MaxInt64/scale {
		return 0, fmt.Errorf("%d times %d is beyond 63 bits", n, scale)
	}
	return n * scale, nil
}
