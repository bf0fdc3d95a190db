//go:build linux

package agent

import "bytes"

// trimSpace cuts spaces and tabs, and nothing else, off both ends.
func trimSpace(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// cutList cuts the first element off a comma-separated list and tells whether
// there are more.
func cutList(list []byte) (first, rest []byte, more bool) {
	first, rest, more = bytes.Cut(list, comma)
	return trimSpace(first), rest, more
}

var comma = []byte{','}

// equalFold tells whether s is the given lower-case word in any case. The word
// must consist of letters and hyphens.
func equalFold(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// decimal reads a number of 1 to 18 digits, which an int64 holds.
func decimal(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// hexNumber reads a hexadecimal number of 1 to 15 digits, which an int64 holds.
func hexNumber(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	for _, c := range digits {
		value, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		n = n<<4 | value
	}
	return n, true
}

func hexDigit(c byte) (int64, bool) {
	switch {
	case isDigit(c):
		return int64(c - '0'), true
	case c >= 'a' && c <= 'f':
		return int64(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return int64(c-'A') + 10, true
	}
	return 0, false
}
