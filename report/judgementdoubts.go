package report

import (
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// DoubtText is a doubt in words.
func DoubtText(d stopwatt.Doubt) string {
	have, need := int(d.Have), int(d.Need)
	switch d.Kind {
	case stopwatt.TooFewPairs:
		return fmt.Sprintf("%s: a verdict takes %d", plural(have, "pair"), need)
	case stopwatt.IncompletePairs:
		return fmt.Sprintf("%d of %s have both values", have, plural(need, "round"))
	case stopwatt.NegativeValues:
		return plural(have, "pair") + " left out: a value below zero has no ratio"
	case stopwatt.FromNothing:
		return "base is 0 and head is not, in " + plural(have, "pair")
	case stopwatt.ToNothing:
		return "head is 0 and base is not, in " + plural(have, "pair")
	case stopwatt.NoSpread:
		return "every pair has the same ratio: a count, or a meter that stands still"
	case stopwatt.UnequalFailures:
		return fmt.Sprintf("head failed in %s of its trials, base in %s", percentOf(d.Have), percentOf(d.Need))
	case stopwatt.ThinPercentile:
		return fmt.Sprintf("not judged: %s lie beyond it, and %d are needed", plural(have, "request"), need)
	case stopwatt.NoDirection:
		return "not judged: neither more nor less of it is better"
	case stopwatt.DifferingAnswers:
		return "not judged: the head is expected to answer otherwise than the base (judge: {differing-answers: true} judges it)"
	case stopwatt.ThresholdRaised:
		return fmt.Sprintf("worse or better must be beyond %s here, not %s: this machine's calibration sees no smaller change", percentOf(d.Need), percentOf(d.Have))
	case stopwatt.NotConfirmed:
		return fmt.Sprintf("suspected and not confirmed in fresh pairs, %s", map[bool]string{true: "once", false: fmt.Sprintf("%d times", have)}[have == 1])
	case stopwatt.NotYetConfirmed:
		return fmt.Sprintf("suspected; the run ended after %d of %d fresh pairs", have, need)
	case stopwatt.NotPaired:
		return "two runs at two times: numbers, no verdict"
	case stopwatt.ByControl:
		return fmt.Sprintf("two runs at two times: the change is relative to the control's rounds, %d at the base and %d at the head; the values are as measured", need, have)
	case stopwatt.SmallerThanFound:
		return fmt.Sprintf("in the fresh pairs the change is %s, within the threshold of %s", percentOf(d.Have), percentOf(d.Need))
	}
	return string(d.Kind)
}
