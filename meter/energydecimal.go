package meter

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
)

// decimal is a number as meters print it, and as JSON writes it.
var decimal = regexp.MustCompile(`^(-?)([0-9]{1,40})(?:\.([0-9]{1,40}))?(?:[eE]([+-]?[0-9]{1,2}))?$`)

// parseMicro turns a decimal number into millionths: micro is how many of them
// one of its unit has. It works on the digits, because a float of 32 bits
// cannot tell joules apart from ten million on, and what is wanted is the
// difference of two such numbers. It rounds to the nearest millionth.
func parseMicro(text []byte, micro int64) (int64, error) {
	parts := decimal.FindSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%.40q is no number", text)
	}
	n, ok := new(big.Int).SetString(string(parts[2])+string(parts[3]), 10)
	if !ok {
		return 0, fmt.Errorf("%.40q is no number", text)
	}
	if len(parts[1]) > 0 && n.Sign() != 0 {
		return 0, fmt.Errorf("%.40q is negative", text)
	}
	exponent := 0
	if len(parts[4]) > 0 {
		exponent, _ = strconv.Atoi(string(parts[4])) // two digits at most
	}
	n.Mul(n, big.NewInt(micro))
	shift(n, exponent-len(parts[3]))
	if !n.IsInt64() {
		return 0, errors.New("it is beyond 63 bits of millionths")
	}
	return n.Int64(), nil
}

// shift multiplies n by a power of ten, rounding halves up.
func shift(n *big.Int, exponent int) {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent >= 0 {
		n.Mul(n, power)
		return
	}
	half := new(big.Int).Rsh(power, 1)
	n.Quo(n.Add(n, half), power)
}
