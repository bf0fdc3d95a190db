package meter

import (
	"math"
	"math/big"
	"testing"
)

func TestParseMicro(t *testing.T) {
	t.Parallel()
	const joule, kilowattHour = 1e6, 3600e9
	tests := []struct {
		name, text string
		micro      int64
		want       int64
		ok         bool
	}{
		{"a joule", "1", joule, 1e6, true},
		{"a total in which a float of 32 bits has lost 3 J", "100000003.300001", joule, 100000003300001, true},
		{"a total in which it has lost all of a run", "123456789.654321", joule, 123456789654321, true},
		{"a printf of %f", "98.700000", joule, 98700000, true},
		{"nothing used yet", "0.000000", joule, 0, true},
		{"nothing used yet, said oddly", "-0.0", joule, 0, true},
		{"digits beyond a millionth are rounded", "0.0000015", joule, 2, true},
		{"and so are these, downwards", "0.00000149999", joule, 1, true},
		{"an exponent, as JSON may have it", "1.5e3", joule, 1500e6, true},
		{"a small one", "1.5E-3", joule, 1500, true},
		{"a plug that counts kWh in thousandths", "12.345", kilowattHour, 12345 * 3600e6, true},
		{"the most that there is", "9223372036854.775807", joule, math.MaxInt64, true},
		{"more than that", "9223372036854.775808", joule, 0, false},
		{"far more than that", "1e99", joule, 0, false},
		{"a negative total", "-1.0", joule, 0, false},
		{"no digit before the point", ".5", joule, 0, false},
		{"none after it", "5.", joule, 0, false},
		{"a comma", "1,5", joule, 0, false},
		{"a unit", "5 J", joule, 0, false},
		{"a sign that JSON does not know", "+5", joule, 0, false},
		{"no number", "nan", joule, 0, false},
		{"infinity", "inf", joule, 0, false},
		{"nothing", "", joule, 0, false},
		{"an exponent that would fill the memory", "1e999999999", joule, 0, false},
		{"a hexadecimal number", "0x10", joule, 0, false},
	}
	for _, test := range tests {
		got, err := parseMicro([]byte(test.text), test.micro)
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %q is %d, %v; want %d, good: %v", test.name, test.text, got, err, test.want, test.ok)
		}
	}
}

func FuzzParseMicroAgreesWithRationals(f *testing.F) {
	f.Add("123456789.654321")
	f.Add("1.5e-3")
	f.Add("9223372036854.7758079")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseMicro([]byte(text), 1e6)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok || got < 0 {
			t.Fatalf("%q became %d", text, got)
		}
		off := want.Sub(want.Mul(want, big.NewRat(1e6, 1)), big.NewRat(got, 1))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Errorf("%q became %d, off by %s", text, got, off)
		}
	})
}
