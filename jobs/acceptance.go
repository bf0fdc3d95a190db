package jobs

import (
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"gitlab.com/stopwatt/stopwatt"
)

// acceptTrailer begins a line of a commit's message that accepts a change for the
// worse:
//
//	Stopwatt-Accept: IMPLEMENTATION/WORKLOAD [METRIC] "reason"
const acceptTrailer = "Stopwatt-Accept:"

// writeAccept is what a malformed one should have been.
const writeAccept = `write ` + acceptTrailer + ` IMPLEMENTATION/WORKLOAD [METRIC] "reason"`

// longestReason is how many bytes of a reason are kept: notes and tables show it.
const longestReason = 500

// Acceptances are those that a commit's message states, whoever sha, by and at are:
// the commit, its author, and its time. They may stand on any line, not only among
// the trailers at the end, because a squash puts the messages of several commits
// one after the other. A line that begins with white space goes on with the one
// before it. What is malformed is told, with its line in the message, and accepts
// nothing.
func Acceptances(message, sha, by string, at time.Time) ([]stopwatt.Acceptance, stopwatt.Faults) {
	var accepted []stopwatt.Acceptance
	var faults stopwatt.Faults
	for _, line := range trailerLines(message) {
		acceptance, fault := parseAcceptance(line.value)
		if fault != "" {
			faults = append(faults, stopwatt.Fault{
				File: "message of commit " + stopwatt.Commit{SHA: sha}.Short(), Line: line.number, Column: 1,
				Message: fault, Source: line.source, Width: utf8.RuneCountInString(line.source),
			})
			continue
		}
		acceptance.By, acceptance.Commit, acceptance.At = by, sha, at
		accepted = append(accepted, acceptance)
	}
	return accepted, faults
}

// A trailerLine is one that begins with acceptTrailer.
type trailerLine struct {
	number int    // in the message, from 1
	source string // as it is written
	value  string // behind the colon, with the lines that go on with it
}

func trailerLines(message string) []trailerLine {
	var found []trailerLine
	within := false
	number := 0
	for text := range strings.Lines(message) {
		number++
		text = strings.TrimRight(text, "\r\n")
		switch {
		case len(text) >= len(acceptTrailer) && strings.EqualFold(text[:len(acceptTrailer)], acceptTrailer):
			found = append(found, trailerLine{number, text, text[len(acceptTrailer):]})
			within = true
		case within && strings.HasPrefix(strings.ReplaceAll(text, "\t", " "), " ") && strings.TrimSpace(text) != "":
			found[len(found)-1].value += " " + strings.TrimSpace(text)
		default:
			within = false
		}
	}
	return found
}

// parseAcceptance understands what follows the colon; fault says what is wrong with
// it and what to write instead.
func parseAcceptance(value string) (acceptance stopwatt.Acceptance, fault string) {
	if !utf8.ValidString(value) {
		return acceptance, "it is no UTF-8; " + writeAccept
	}
	of, quoted, found := strings.Cut(value, `"`)
	reason, rest, closed := strings.Cut(quoted, `"`)
	reason = strings.Join(strings.Fields(reason), " ")
	words := strings.Fields(of)
	switch {
	case !found:
		return acceptance, "the reason in quotes is missing; " + writeAccept
	case !closed:
		return acceptance, "the reason has no closing quote; " + writeAccept
	case strings.TrimSpace(rest) != "":
		return acceptance, "something follows the reason; " + writeAccept
	case reason == "":
		return acceptance, "the reason is empty; say in quotes why the change is meant"
	case len(words) == 0:
		return acceptance, "it names no case; " + writeAccept
	case len(words) > 2:
		return acceptance, "there are more than a case and a metric in front of the reason; " + writeAccept
	case !strings.Contains(words[0], "/"):
		return acceptance, "case " + brief(words[0]) + " names no workload; write IMPLEMENTATION/WORKLOAD, like " + brief(words[0]+"/*")
	}
	if _, err := path.Match(words[0], ""); err != nil {
		return acceptance, "case " + brief(words[0]) + " is malformed; write * for any text, ? for any character, [a-c] for one of some"
	}
	acceptance.Case, acceptance.Reason = words[0], cutText(reason, longestReason)
	if len(words) == 2 {
		acceptance.Metric = words[1]
	}
	return acceptance, ""
}

// cutText is the beginning of a text, of so many bytes at most.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
