package report

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A tally is a text and how often it was said.
type tally struct {
	text  string
	count int
}

// numeral is what texts of one kind may differ in.
var numeral = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)

// skeleton is a text without its numbers: those of one kind have the same.
func skeleton(text string) string { return numeral.ReplaceAllString(text, "#") }

// kinds joins texts that differ in their numbers alone, and says between which
// two numbers each lies: "used 3.3…6.1 % of the CPU". The most frequent comes
// first.
func kinds(tallies []tally) []tally {
	var order []string
	members := map[string][]tally{}
	for _, t := range tallies {
		kind := skeleton(t.text)
		if members[kind] == nil {
			order = append(order, kind)
		}
		members[kind] = append(members[kind], t)
	}
	var joined []tally
	for _, kind := range order {
		joined = append(joined, join(members[kind]))
	}
	slices.SortStableFunc(joined, func(a, b tally) int { return b.count - a.count })
	return joined
}

// join makes one of tallies of one kind.
func join(members []tally) tally {
	var out strings.Builder
	total, rest := 0, members[0].text
	for _, m := range members {
		total += m.count
	}
	for i, place := range numeral.FindAllStringIndex(members[0].text, -1) {
		at := place[0] - (len(members[0].text) - len(rest))
		out.WriteString(rest[:at] + spanned(members, i))
		rest = members[0].text[place[1]:]
	}
	return tally{out.String() + rest, total}
}

// spanned is the i-th number of texts of one kind: the smallest and the largest
// when they differ.
func spanned(members []tally, i int) string {
	var low, high string
	for _, m := range members {
		text := numeral.FindAllString(m.text, -1)[i]
		if low == "" || less(text, low) {
			low = text
		}
		if high == "" || less(high, text) {
			high = text
		}
	}
	if low == high {
		return low
	}
	return low + "…" + high
}

// less compares two texts of numbers.
func less(a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64) // digits alone: at worst too many, which is +Inf
	y, _ := strconv.ParseFloat(b, 64)
	return x < y
}
