package report

import (
	"bytes"
	"html/template"

	"gitlab.com/stopwatt/stopwatt"
)

// BadgeState says what the colour of a badge repeats.
type BadgeState string

// The states of badges.
const (
	BadgePlain  BadgeState = "plain"
	BadgeWorse  BadgeState = "worse"
	BadgeBetter BadgeState = "better"
	BadgeNone   BadgeState = "none" // there is nothing to show
)

// badgeFills are dark enough for white text: 4.5 to 1 at least.
var badgeFills = map[BadgeState]string{BadgePlain: "#2f6fb3", BadgeWorse: "#b23a56", BadgeBetter: "#1f7a5c", BadgeNone: "#59636e"}

// longestBadge is how many columns each half of a badge may take.
const longestBadge = 48

// Badge draws a name and a value as one small SVG file.
func Badge(name, value string, state BadgeState) []byte {
	name, value = cut(Clean(name), longestBadge), cut(Clean(value), longestBadge)
	const perColumn, margin = 6.6, 12.0
	left, right := perColumn*float64(width(name))+margin, perColumn*float64(width(value))+margin
	var out bytes.Buffer
	out.WriteString(string(figure("badge", struct {
		Name, Value             string
		Width, Left, Right      string
		NameLength, ValueLength string
		ValueX                  string
		Fill                    string
	}{name, value, place(left + right), place(left), place(right), place(left - margin), place(right - margin), place(left + 6), badgeFills[state]})))
	return out.Bytes()
}

// BadgeOf is the newest value of a course, and what its last standing change did.
func BadgeOf(metric stopwatt.Metric, course stopwatt.Course, changes []stopwatt.SeriesChange) (value string, state BadgeState) {
	value, state = "no value yet", BadgeNone
	for _, p := range course.Points {
		if p.Absent == "" {
			value, state = Value(metric, p.Value), BadgePlain
			if course.Against != "" {
				value = plainRatio(p.Value) + "×"
			}
		}
	}
	if len(changes) == 0 || state == BadgeNone {
		return value, state
	}
	last := changes[len(changes)-1]
	if last.Change.State != stopwatt.Confirmed {
		return value, state
	}
	value += ", " + changeText(last.Change)
	switch worse, known := Worse(metric, last.Change); {
	case !known:
		return value, BadgePlain
	case worse:
		return value, BadgeWorse
	}
	return value, BadgeBetter
}

// Icon is the page's own small picture.
func Icon() template.HTML {
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>stopwatt</title><rect width="32" height="32" rx="7" fill="#2f6fb3"/><path d="M18 4 8 18h7l-2 10 11-15h-7z" fill="#ffffff"/></svg>`
}
