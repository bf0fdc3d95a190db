package meter

import (
	"math"
	"slices"
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

func TestParseIOStat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"nothing was read or written", "", 0, true},
		{"one disk", "8:0 rbytes=4096 wbytes=1 rios=9 wios=9 dbytes=9 dios=9\n", 4096, true},
		{"two disks", "8:0 rbytes=4096 wbytes=1\n8:16 rbytes=4 wbytes=1\n", 4100, true},
		{"a volume that lies on a disk", "253:0 rbytes=4096 wbytes=1\n8:0 rbytes=4096 wbytes=1\n", 4096, true},
		{"a disk that has not read", "8:0 wbytes=1\n", 0, true},
		{"a disk without counts", "7:7 \n", 0, true},
		{"the last line without its end", "8:0 rbytes=7", 7, true},
		{"text where a count should be", "8:0 rbytes=many\n", 0, false},
		{"more than can be counted", "8:0 rbytes=9223372036854775807\n8:16 rbytes=1\n", 0, false},
	}
	for _, test := range tests {
		got, err := parseIOStat([]byte(test.text), "rbytes", []string{"253:0"})
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %d, %v; want %d, good: %v", test.name, got, err, test.want, test.ok)
		}
	}
}

func TestParseBlkio(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"nothing was read or written", "Total 0\n", 0, true},
		{"one disk", "8:0 Read 4096\n8:0 Write 1\n8:0 Sync 9\n8:0 Total 4097\nTotal 4097\n", 4096, true},
		{"two disks", "8:0 Read 4096\n8:16 Read 4\nTotal 4100\n", 4100, true},
		{"a volume that lies on a disk", "253:0 Read 4096\n8:0 Read 4096\n", 4096, true},
		{"text where a count should be", "8:0 Read many\n", 0, false},
		{"more than can be counted", "8:0 Read 9223372036854775807\n8:16 Read 1\n", 0, false},
	}
	for _, test := range tests {
		got, err := parseBlkio([]byte(test.text), "Read", []string{"253:0"})
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %d, %v; want %d, good: %v", test.name, got, err, test.want, test.ok)
		}
	}
}

func TestParsePressure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"some and full", "some avg10=0.00 avg60=0.00 avg300=0.00 total=641728\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=634187\n", 641728, true},
		{"a machine's CPU, which is never full", "some avg10=93.19 avg60=94.97 avg300=86.63 total=9\n", 9, true},
		{"full alone", "full avg10=0.00 avg60=0.00 avg300=0.00 total=634187\n", 0, false},
		{"no total", "some avg10=0.00\n", 0, false},
		{"nothing", "", 0, false},
	}
	for _, test := range tests {
		got, err := parsePressure([]byte(test.text))
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

func FuzzCountsOfAContainer(f *testing.F) {
	f.Add([]byte("8:0 rbytes=4096 wbytes=1\n253:0 rbytes=4\n"))
	f.Add([]byte("8:0 Read 4096\nTotal 4096\n"))
	f.Add([]byte("some avg10=0.00 total=641728\n"))
	f.Add([]byte("voluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t92\n"))
	f.Add([]byte("1030189 4302523 2\n"))
	f.Add([]byte("42\n43\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		never := func(what string, n int64, err error) {
			if n < 0 || err != nil && n != 0 {
				t.Errorf("%q: %s is %d, %v", text, what, n, err)
			}
		}
		n, err := parseIOStat(text, "rbytes", []string{"253:0"})
		never("io.stat", n, err)
		n, err = parseBlkio(text, "Read", []string{"253:0"})
		never("blkio", n, err)
		n, err = parsePressure(text)
		never("pressure", n, err)
		n, err = parseRuntime(text)
		never("schedstat", n, err)
		voluntary, involuntary, err := parseSwitches(text)
		never("voluntary", voluntary, err)
		never("involuntary", involuntary, err)
		if ids, err := parseIDs(text); err == nil && slices.Contains(ids, 0) {
			t.Errorf("%q names the thread 0", text)
		}
	})
}
