package report

import (
	"math"

	"gitlab.com/stopwatt/stopwatt"
)

// roughRatio writes a ratio as a person would quote it: its last digit is where
// its standard error has its first, at most two decimals. One digit is always left.
func roughRatio(ratio stopwatt.Ratio) string {
	if !ratio.Known {
		return unknown
	}
	decimals := ratioDecimals(ratio.Value)
	if size := errorShown(ratio); size > 0 {
		decimals = min(decimals, max(-placeOf(size), decimalsFor(ratio.Value, 1)))
	}
	return nearSign(ratio) + fixed(ratio.Value, decimals) + "×"
}

// roughChange writes a ratio as a change, likewise: "+130 % more" where the error
// is tens of percent.
func roughChange(ratio stopwatt.Ratio) string {
	if !ratio.Known {
		return unknown
	}
	change, place := (ratio.Value-1)*100, -1
	if change == 0 || math.Abs(change) >= 999.95 {
		place = 0
	}
	if size := errorShown(ratio); size > 0 && change != 0 {
		place = max(place, min(placeOf(100*size), placeOf(change)))
	}
	step := math.Pow(10, float64(place))
	return nearSign(ratio) + changed(math.Round(change/step)*step, max(-place, 0))
}

// errorShown is the error that digits are chosen by. That of a single trial, which
// nobody knows, is taken as a hundredth: few machines repeat better.
func errorShown(ratio stopwatt.Ratio) float64 {
	if ratio.Near && ratio.Error == 0 {
		return max(1, ratio.Value) / 100
	}
	return ratio.Error
}

// placeOf is the power of ten of the first digit of a number that is not 0.
func placeOf(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)))) }
