package meter

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestParseNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want int64
		ok   bool
	}{
		{"0\n", 0, true},
		{"301234567\n", 301234567, true},
		{"17", 17, true},
		{"9223372036854775807\n", math.MaxInt64, true},
		{"9223372036854775808\n", 0, false},
		{"18446744073709551616\n", 0, false},
		{"-1\n", 0, false},
		{"max\n", 0, false},
		{"1.5\n", 0, false},
		{"1e3\n", 0, false},
		{"1 \n", 0, false},
		{"1\n2\n", 0, false},
		{"\n", 0, false},
		{"", 0, false},
	}
	for _, test := range tests {
		got, err := parseNumber([]byte(test.text))
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %d, %v; want %d, good: %v", test.text, got, err, test.want, test.ok)
		}
	}
}

func TestParseKeyed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"the key is first", "usage_usec 5\nuser_usec 3\n", 5, true},
		{"the key is last, without a line feed", "user_usec 3\nusage_usec 5", 5, true},
		{"the key begins another", "usage_usec_total 9\nusage_usec 5\n", 5, true},
		{"the key ends another", "x_usage_usec 9\nusage_usec 5\n", 5, true},
		{"there is no such key", "user_usec 3\n", 0, false},
		{"the key has no number", "usage_usec\n", 0, false},
		{"the key has text", "usage_usec many\n", 0, false},
		{"nothing", "", 0, false},
	}
	for _, test := range tests {
		got, err := parseKeyed([]byte(test.text), "usage_usec")
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %d, %v; want %d, good: %v", test.name, got, err, test.want, test.ok)
		}
	}
}

func TestAMicrosecondCountBeyond63BitsOfNanosecondsIsNoNumber(t *testing.T) {
	t.Parallel()
	if got, err := scaled(math.MaxInt64/1000+1, 1000); err == nil {
		t.Errorf("it became %d", got)
	}
	if got, err := scaled(math.MaxInt64/1000, 1000); err != nil || got != math.MaxInt64/1000*1000 {
		t.Errorf("the largest: %d, %v", got, err)
	}
}

func FuzzParseNumberAgreesWithTheLibrary(f *testing.F) {
	f.Add("301234567\n")
	f.Add("18446744073709551615")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseNumber([]byte(text))
		trimmed := strings.TrimSuffix(text, "\n")
		want, wantError := strconv.ParseInt(trimmed, 10, 64)
		signed := strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "-")
		if (err == nil) != (wantError == nil && !signed) || (err == nil && got != want) {
			t.Errorf("%q: %d, %v; the library says %d, %v", text, got, err, want, wantError)
		}
		if keyed, err := parseKeyed([]byte("other 1\nkey "+trimmed), "key"); err == nil && keyed < 0 {
			t.Errorf("%q: %d is no count", text, keyed)
		}
	})
}
