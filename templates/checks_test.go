package templates_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

func anything(string, any) []string { return nil }

func anyText(place string, value any) []string {
	if _, ok := value.(string); !ok {
		return []string{fmt.Sprintf("%s: %v is no text", place, value)}
	}
	return nil
}

// text is a text that is not blank.
func text(place string, value any) []string {
	if written, ok := value.(string); ok && strings.TrimSpace(written) == "" {
		return []string{place + ": is empty"}
	}
	return anyText(place, value)
}

func boolean(place string, value any) []string {
	if _, ok := value.(bool); !ok {
		return []string{fmt.Sprintf("%s: %v is neither true nor false", place, value)}
	}
	return nil
}

// number is a whole number within limits, both included.
func number(from, to int64) check {
	return func(place string, value any) []string {
		var n int64
		switch value := value.(type) {
		case uint64:
			n = int64(value)
		case int64:
			n = value
		default:
			return []string{fmt.Sprintf("%s: %v is no whole number", place, value)}
		}
		if n < from || n > to {
			return []string{fmt.Sprintf("%s: %d is not from %d to %d", place, n, from, to)}
		}
		return nil
	}
}

func oneOf(allowed ...string) check {
	return func(place string, value any) []string {
		if written, ok := value.(string); !ok || !slices.Contains(allowed, written) {
			return []string{fmt.Sprintf("%s: %v is none of %s", place, value, strings.Join(allowed, ", "))}
		}
		return nil
	}
}

func matches(pattern *regexp.Regexp) check {
	return func(place string, value any) []string {
		if written, ok := value.(string); !ok || !pattern.MatchString(written) {
			return []string{fmt.Sprintf("%s: %v does not match %v", place, value, pattern)}
		}
		return nil
	}
}

// duration is a time as GitLab writes it: 2h, 1 hour 30 minutes, 4 weeks.
var duration = matches(regexp.MustCompile(
	`^(never|\s*(\d+(\.\d+)?\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mos?|months?|y|yrs?|years?)\s*)+)$`))

// list is a list of so many entries, each of which passes a check.
func list(each check, least, most int) check {
	return func(place string, value any) []string {
		entries, ok := value.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v is no list", place, value)}
		}
		var faults []string
		if len(entries) < least || len(entries) > most {
			faults = append(faults, fmt.Sprintf("%s: %d entries, not %d to %d", place, len(entries), least, most))
		}
		for i, entry := range entries {
			faults = append(faults, each(fmt.Sprintf("%s[%d]", place, i), entry)...)
		}
		return faults
	}
}

// keys is a mapping of known keys.
func keys(known map[string]check, required ...string) check {
	return func(place string, value any) []string {
		mapping, ok := value.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v is no mapping", place, value)}
		}
		var faults []string
		for _, key := range slices.Sorted(maps.Keys(mapping)) {
			if each, ok := known[key]; ok {
				faults = append(faults, each(place+"."+key, mapping[key])...)
			} else {
				faults = append(faults, place+": no rule knows the keyword "+key)
			}
		}
		for _, key := range required {
			if _, there := mapping[key]; !there {
				faults = append(faults, place+": lacks "+key)
			}
		}
		return faults
	}
}

// either passes what one of the checks passes.
func either(checks ...check) check {
	return func(place string, value any) []string {
		var faults []string
		for _, each := range checks {
			more := each(place, value)
			if len(more) == 0 {
				return nil
			}
			faults = append(faults, more...)
		}
		return faults
	}
}

func with(tables ...map[string]check) map[string]check {
	all := map[string]check{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}
