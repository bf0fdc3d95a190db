package meter

import (
	"bytes"
	"errors"
)

// errPressureOff says why there is no pressure stall information, and the
// remedy.
var errPressureOff = errors.New("this kernel accounts for no pressure: add psi=1 to the kernel command line and restart")

// parsePressure takes the microseconds of "some" from a file of pressure stall
// information, as in the kernel's accounting/psi.rst:
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=641728".
func parsePressure(text []byte) (int64, error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, total, ok := bytes.Cut(line, []byte(" total="))
	if !ok || !bytes.HasPrefix(line, []byte("some ")) {
		return 0, errors.New("it tells no pressure")
	}
	return parseNumber(total)
}
