package jobs

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A check says what is wrong with a text and what to write instead, or nothing.
type check func(text string) (complaint string)

// text reads one text. Numbers and booleans are taken as they were written.
func (r *reader) text(at node, noun string, to *string, checks ...check) {
	if !r.is(at, scalar, noun) {
		return
	}
	for _, check := range checks {
		if complaint := check(at.text); complaint != "" {
			r.fault(at.at, "%s cannot be %s; %s", noun, brief(at.text), complaint)
			return
		}
	}
	*to = at.text
}

// texts reads a list of texts.
func (r *reader) texts(at node, noun string, to *[]string, checks ...check) {
	if at.kind == scalar {
		r.fault(at.at, "%s is one text here and must be a list; write [%s]", noun, strings.Join(quoteEach(strings.Fields(at.text)), ", "))
		return
	}
	if !r.is(at, list, noun) {
		return
	}
	all := make([]string, len(at.items))
	for i, item := range at.items {
		r.text(item, "an element of "+noun, &all[i], checks...)
	}
	*to = all
}

func quoteEach(words []string) []string {
	quoted := make([]string, 0, len(words))
	for _, word := range words[:min(len(words), 12)] {
		quoted = append(quoted, brief(word))
	}
	return quoted
}

// dictionary reads a mapping from names to texts.
func (r *reader) dictionary(at node, noun string, to *map[string]string, name, value check) {
	if !r.is(at, mapping, noun) {
		return
	}
	all := map[string]string{}
	for _, e := range r.unique(at, noun) {
		if complaint := name(e.key); complaint != "" {
			r.fault(e.at, "%s cannot hold %s; %s", noun, brief(e.key), complaint)
			continue
		}
		if e.value.kind == nothing {
			r.fault(e.at, `nothing is written after %s in %s; write "" for an empty text`, e.key, noun)
			continue
		}
		var text string
		r.text(e.value, e.key+" in "+noun, &text, value)
		all[e.key] = text
	}
	*to = all
}

// choice reads one of a few words.
func (r *reader) choice(at node, noun string, to *string, words ...string) {
	r.text(at, noun, to, func(text string) string {
		if slices.Contains(words, text) {
			return ""
		}
		if guess, near := nearest(text, words); near {
			return "did you mean " + guess + "?"
		}
		return "write " + strings.Join(words, " or ")
	})
}

// yes reads true or false.
func (r *reader) yes(at node, noun string, to *bool) {
	var word string
	r.choice(at, noun, &word, "true", "false")
	*to = word == "true"
}

var (
	wholeNumber  = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	nearlyNumber = regexp.MustCompile(`^\+?0*([1-9][0-9_,']*)( *[A-Za-z]+)*$`)
)

// count reads a whole number from least to most. What it is, the noun says: a
// number of rounds, a port number.
func (r *reader) count(at node, noun string, to *int, least, most int) {
	if !r.is(at, scalar, "the "+noun) {
		return
	}
	n, err := strconv.Atoi(at.text)
	switch {
	case wholeNumber.MatchString(at.text) && !at.plain:
		r.fault(at.at, "%s is text, no %s; write %s without quotes", brief(at.text), noun, at.text)
	case wholeNumber.MatchString(at.text) && (err != nil || n > most):
		r.fault(at.at, "%s is above %d, the greatest %s; write less", brief(at.text), most, noun)
	case err == nil && n < least:
		r.fault(at.at, "%s is below %d, the least %s; write %d or more", brief(at.text), least, noun, least)
	case !wholeNumber.MatchString(at.text):
		r.fault(at.at, "%s is no %s; write %s", brief(at.text), noun, numberIn(at.text, least))
	default:
		*to = n
	}
}

// numberIn finds the number that was probably meant.
func numberIn(text string, least int) string {
	if found := nearlyNumber.FindStringSubmatch(text); found != nil {
		return strings.NewReplacer("_", "", ",", "", "'", "").Replace(found[1])
	}
	return fmt.Sprintf("a whole number like %d", max(least, 10))
}

var (
	measure = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *([A-Za-zµ]*)$`)
	// units of time as people write them, and as we want them.
	units = map[string]string{
		"": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "s": "s", "S": "s",
		"min": "m", "mins": "m", "minute": "m", "minutes": "m", "m": "m", "M": "m",
		"hour": "h", "hours": "h", "hr": "h", "h": "h", "H": "h",
		"ms": "ms", "msec": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
	}
)

// duration reads a stretch of time from least to most.
func (r *reader) duration(at node, noun string, to *time.Duration, least, most time.Duration) {
	if !r.is(at, scalar, noun) {
		return
	}
	d, err := time.ParseDuration(at.text)
	found := measure.FindStringSubmatch(at.text)
	switch {
	case found != nil && found[2] == "" && (err != nil || d < least):
		r.fault(at.at, "%s %s names no unit; write %ss", noun, brief(at.text), found[1])
	case err != nil && found != nil && units[found[2]] != "":
		r.fault(at.at, "%s %s is no duration; write %s%s", noun, brief(at.text), found[1], units[found[2]])
	case err != nil:
		r.fault(at.at, "%s %s is no duration; write it like 10s, 500ms or 1m30s", noun, brief(at.text))
	case d < least:
		r.fault(at.at, "%s %s is too short; write %s or more", noun, brief(at.text), short(least))
	case d > most:
		r.fault(at.at, "%s %s is too long; write %s or less", noun, brief(at.text), short(most))
	default:
		*to = d
	}
}

// short is a duration as a person would write it: 1h, not 1h0m0s.
func short(d time.Duration) string {
	text := strings.TrimSuffix(d.String(), "m0s")
	if text != d.String() {
		text += "m"
	}
	if hours := strings.TrimSuffix(text, "h0m"); hours != text {
		text = hours + "h"
	}
	return text
}

// sizes are the units that a size may have.
var sizes = map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// size reads a number of bytes from least to most.
func (r *reader) size(at node, noun string, to *int64, least, most int64) {
	if !r.is(at, scalar, noun) {
		return
	}
	found := measure.FindStringSubmatch(at.text)
	if found == nil {
		r.fault(at.at, "%s %s is no size; write it like 512MiB or 1GiB", noun, brief(at.text))
		return
	}
	unit, ok := sizes[found[2]]
	if !ok || strings.Contains(at.text, " ") {
		r.fault(at.at, "%s %s is no size; write %s", noun, brief(at.text), sizeIn(found[1], found[2]))
		return
	}
	n, _ := strconv.ParseFloat(found[1], 64)
	switch bytes := n * float64(unit); {
	case bytes != math.Trunc(bytes):
		r.fault(at.at, "%s %s is no whole number of bytes; write it in a smaller unit", noun, brief(at.text))
	case bytes < float64(least):
		r.fault(at.at, "%s %s is below %d bytes, the least; write more, like 512MiB", noun, brief(at.text), least)
	case bytes > float64(most):
		r.fault(at.at, "%s %s is above %d bytes, the most; write less", noun, brief(at.text), most)
	default:
		*to = int64(bytes)
	}
}

// sizeIn finds the size that was probably meant.
func sizeIn(number, unit string) string {
	unit = strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(unit), "B"), "I")
	if unit == "" {
		return number + " without a unit, for bytes"
	}
	if _, ok := sizes[unit+"iB"]; ok {
		return number + unit + "iB"
	}
	return "it like 512MiB or 1GiB"
}
