package report

import (
	"math"
	"strconv"
	"strings"
)

// Signs of what has no number, which is never shown as 0, or a doubtful one.
const (
	absent  = "–" // not measured; a footnote says why
	unknown = "?" // a ratio that has no value
	near    = "≈" // the trials show no difference; a footnote says when
	minus   = "−"
)

// Beyond these a number is written with an exponent, so that no column grows
// without bound: 1.23e+12.
const (
	largestPlain  = 1e9
	smallestPlain = 1e-4
)

// fixed writes x with so many decimals, thousands separated by commas, and a
// minus sign that is none of the hyphens.
func fixed(x float64, decimals int) string {
	size := math.Abs(x)
	if size == 0 && decimals > 4 {
		return "0" // beside numbers with exponents
	}
	if size >= largestPlain || size > 0 && size < smallestPlain && decimals > 4 {
		return sign(x) + strconv.FormatFloat(size, 'e', 2, 64)
	}
	digits := strconv.FormatFloat(size, 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(digits, ".")
	text := thousands(whole)
	if fraction != "" {
		text += "." + fraction
	}
	if strings.Trim(digits, "0.") == "" {
		return text // what rounds to nothing has no sign
	}
	return sign(x) + text
}

// sign is what stands before a number's digits.
func sign(x float64) string {
	if x < 0 {
		return minus
	}
	return ""
}

// thousands puts a comma between every three digits.
func thousands(digits string) string {
	var out strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(digit)
	}
	return out.String()
}

// decimalsFor is how many decimals show so many significant digits of x.
func decimalsFor(x float64, digits int) int {
	if x == 0 {
		return 0
	}
	// The exponent after rounding: 9.996 has one digit more before its point
	// at three digits than at four.
	rounded := strconv.FormatFloat(math.Abs(x), 'e', digits-1, 64)
	exponent, err := strconv.Atoi(rounded[strings.IndexByte(rounded, 'e')+1:])
	if err != nil {
		return 0 // unreachable for finite x
	}
	return max(digits-1-exponent, 0)
}

// significant writes x with so many significant digits; whole digits are never
// rounded away.
func significant(x float64, digits int) string { return fixed(x, decimalsFor(x, digits)) }

// Thousands is a whole number with its digits in groups: "26,000,000".
func Thousands(n int64) string { return thousands(strconv.FormatInt(n, 10)) }
