package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// suiteAsked is the suite that a request names, with what it can be asked about.
func (s *Server) suiteAsked(r *http.Request) (stopwatt.SuiteContents, error) {
	return s.Archive.Contents(r.Context(), stopwatt.SuiteName{Project: r.FormValue("project"), Suite: strings.TrimSuffix(r.PathValue("suite"), ".svg")})
}

// A choice is one of several things that a form offers.
type choice struct {
	Value, Name string
	Chosen      bool
}

// choices offers values, one of which is chosen.
func choices(values []string, chosen string, name func(string) string) []choice {
	var all []choice
	for _, value := range values {
		all = append(all, choice{value, name(value), value == chosen})
	}
	return all
}

func itself(name string) string { return report.Clean(name) }

// metricAsked is the metric that is asked for, else the first that the suite is
// judged by, else its first.
func metricAsked(r *http.Request, c stopwatt.SuiteContents) (stopwatt.Metric, error) {
	name := r.FormValue("metric")
	if name == "" {
		for _, judged := range append(slices.Clone(c.Judged), "time") {
			if m, has := metricOf(c, judged); has {
				return m, nil
			}
		}
		if len(c.Metrics) > 0 {
			return c.Metrics[0], nil
		}
		name = "time"
	}
	if m, has := metricOf(c, name); has {
		return m, nil
	}
	if m, known := stopwatt.MetricNamed(name); known {
		return m, nil // which this suite has nothing of; the page says so
	}
	return stopwatt.Metric{}, wrongly("There is no metric %q; this suite has %s.", name, strings.Join(metricNames(c), ", "))
}

func metricOf(c stopwatt.SuiteContents, name string) (stopwatt.Metric, bool) {
	i := slices.IndexFunc(c.Metrics, func(m stopwatt.Metric) bool { return m.Name == name })
	if i < 0 {
		return stopwatt.Metric{}, false
	}
	return c.Metrics[i], true
}

func metricNames(c stopwatt.SuiteContents) []string {
	var names []string
	for _, m := range c.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// machineAsked is the fingerprint that is asked for, else that of the machine that
// measured last.
func machineAsked(r *http.Request, c stopwatt.SuiteContents) string {
	if asked := r.FormValue("machine"); asked != "" {
		return asked
	}
	if len(c.Machines) > 0 {
		return c.Machines[0].Fingerprint
	}
	return ""
}

// machineChoices offers the machines of a suite; those of one name are told apart.
func machineChoices(c stopwatt.SuiteContents, chosen string) []choice {
	var all []choice
	for _, m := range c.Machines {
		name := report.Clean(m.Name)
		for _, other := range c.Machines {
			if other.Name == m.Name && other.Fingerprint != m.Fingerprint {
				name = report.Clean(m.Name) + " " + m.Fingerprint[:min(6, len(m.Fingerprint))]
			}
		}
		all = append(all, choice{m.Fingerprint, name, m.Fingerprint == chosen})
	}
	return all
}

// profileChoices offers the profiles of a suite.
func profileChoices(c stopwatt.SuiteContents, chosen string) []choice {
	return choices(c.Profiles, chosen, func(profile string) string {
		if profile == "" {
			return "whole runs"
		}
		return report.Clean(profile)
	})
}

// implementations of a suite, in the order of its cases.
func implementations(c stopwatt.SuiteContents) []string {
	return distinct(c.Cases, func(c stopwatt.Case) string { return c.Implementation })
}

func distinct(cases []stopwatt.Case, of func(stopwatt.Case) string) []string {
	var names []string
	for _, c := range cases {
		if !slices.Contains(names, of(c)) {
			names = append(names, of(c))
		}
	}
	return names
}

// caseNamed finds a case by IMPLEMENTATION/WORKLOAD; a name may have a stroke in it.
func caseNamed(c stopwatt.SuiteContents, name string) (stopwatt.Case, bool) {
	i := slices.IndexFunc(c.Cases, func(c stopwatt.Case) bool { return c.String() == name })
	if i >= 0 {
		return c.Cases[i], true
	}
	return stopwatt.Case{}, false
}

// shaLike is what a commit is named by: seven digits at least, so that it is none
// of the numbers of runs.
var shaLike = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// timeAsked reads a moment: a date, a time, or a commit that was measured. Until is
// true of the end of a stretch, which holds its whole day.
func (s *Server) timeAsked(ctx context.Context, place stopwatt.RunPlace, text string, until bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse("2006-01-02", text); err == nil {
		if until {
			day = day.Add(24*time.Hour - time.Nanosecond)
		}
		return day, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if !shaLike.MatchString(text) {
		return time.Time{}, wrongly("%q is no time: write 2026-11-30, or seven digits at least of a measured commit.", text)
	}
	place.Commit = strings.ToLower(text)
	run, err := s.Archive.RunAt(ctx, place)
	if errors.Is(err, stopwatt.ErrNotFound) {
		return time.Time{}, wrongly("No commit %s was measured.", text)
	}
	if err != nil {
		return time.Time{}, err
	}
	line, err := s.Archive.Line(ctx, run)
	return line.Commit.Time, err
}

// numberAsked reads a number in a path.
func numberAsked(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n < 1 {
		return 0, stopwatt.ErrNotFound
	}
	return n, nil
}

// with is a request's own address with some of what it asks replaced; an empty
// value takes it out.
func with(r *http.Request, path string, pairs ...string) string {
	query := url.Values{}
	for key, values := range r.URL.Query() {
		query[key] = values
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Del(pairs[i])
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
