package stopwatt_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gitlab.com/stopwatt/stopwatt"
)

func TestLinesComeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20-1) + "\n"
	lines := stopwatt.NewLineReader(iotest.HalfReader(strings.NewReader("a\n\n"+long+"cut")), 1<<20)
	for _, want := range []string{"a\n", "\n", long} {
		got, err := lines.Next()
		if err != nil || string(got) != want {
			t.Fatalf("%.20q of %d bytes, %v; want %.20q", got, len(got), err, want)
		}
	}
	if got, err := lines.Next(); got != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the line that is cut off is %q, %v", got, err)
	}
	many := strings.NewReader("[" + strings.Repeat("{},", 5<<20) + "{}]\n")
	if _, err := stopwatt.NewLineReader(many, 1<<30).Next(); err == nil || !strings.Contains(err.Error(), "more than 4194304 objects and lists") {
		t.Errorf("five million objects are %v", err)
	}
	if _, err := stopwatt.NewLineReader(strings.NewReader(""), 1<<20).Next(); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
	if _, err := stopwatt.NewLineReader(strings.NewReader("x"+long), 1<<20).Next(); err == nil || err.Error() != "a line of more than 1 MiB" {
		t.Errorf("a byte too many is %v", err)
	}
}
