package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
)

// A historyScope says which part of history is asked for.
type historyScope struct {
	cases, implementations, workloads, machines []string // globs
	since, until, commits, again                string
}

// flags adds what a scope can be told to a verb.
func (s *historyScope) flags(verb *cobra.Command) {
	verb.Flags().StringArrayVar(&s.cases, "case", nil, "only these cases: `IMPLEMENTATION/WORKLOAD`, globs allowed; may be repeated")
	verb.Flags().StringArrayVar(&s.implementations, "implementation", nil, "only these implementations: a `GLOB`; may be repeated")
	verb.Flags().StringArrayVar(&s.workloads, "workload", nil, "only these workloads: a `GLOB`; may be repeated")
	verb.Flags().StringArrayVar(&s.machines, "machine", nil, "only these machines: a `GLOB` of names; may be repeated")
	verb.Flags().StringVar(&s.since, "since", "", "only commits from this `TIME` on: a date, or so long ago, as in 2026-11-01 or 30d")
	verb.Flags().StringVar(&s.until, "until", "", "only commits until this `TIME`")
	verb.Flags().StringVar(&s.again, "again", "pool", "commits that were measured again: pool their runs, or the latest alone")
}

// wants tells whether a case is asked for.
func (s historyScope) wants(c stopwatt.Case) (bool, error) {
	for _, row := range []struct {
		name  string
		globs []string
	}{{c.String(), s.cases}, {c.Implementation, s.implementations}, {c.Workload, s.workloads}} {
		matches, err := matchesAny(row.name, row.globs)
		if err != nil || !matches {
			return false, err
		}
	}
	return true, nil
}

// needs tells of which cases the series are needed: of those that are asked for, and
// of what they are laid against. What is no glob is told of where it is looked at.
func (v historyView) needs(control string) func(stopwatt.Case) bool {
	return func(c stopwatt.Case) bool {
		wanted, err := v.wants(c)
		return wanted || err != nil || c.Implementation == v.against || c.Implementation == control
	}
}

// narrowed tells whether only some cases are asked for.
func (s historyScope) narrowed() bool {
	return len(s.cases)+len(s.implementations)+len(s.workloads) > 0
}

// matchesAny tells whether a name matches one of the globs; without globs it does.
func matchesAny(name string, globs []string) (bool, error) {
	for _, glob := range globs {
		matches, err := path.Match(glob, name)
		if err != nil {
			return false, fmt.Errorf("%s is malformed; write * for any text, ? for any character, [a-c] for one of some", quote(glob))
		}
		if matches {
			return true, nil
		}
	}
	return len(globs) == 0, nil
}

// pick leaves the points of the machines that are asked for, and of commits that
// were measured again what is asked for.
func (s historyScope) pick(all []stopwatt.Series, names map[string]string) error {
	if s.again != "pool" && s.again != "latest" {
		return fmt.Errorf("--again %s: write pool or latest", quote(s.again))
	}
	any := false
	for i := range all {
		var points []stopwatt.SeriesPoint
		for _, p := range all[i].Points {
			matches, err := matchesAny(names[p.Machine], s.machines)
			if err != nil {
				return err
			}
			if matches {
				points = append(points, p)
			}
		}
		all[i].Points = points
		any = any || len(points) > 0
		if s.again == "latest" {
			all[i] = regression.Latest(all[i])
		}
	}
	if !any && len(s.machines) > 0 && len(all) > 0 {
		known := slices.Compact(slices.Sorted(maps.Values(names)))
		return fmt.Errorf("--machine %s: nothing was measured there; machines are %s", quote(strings.Join(s.machines, " ")), strings.Join(known, ", "))
	}
	return nil
}

// A historyStretch is the part of history that is shown; what is zero bounds nothing.
type historyStretch struct {
	since, until time.Time
	after, upTo  int    // places in the first-parent history
	words        string // empty: all of history
}

// holds tells whether a point is shown.
func (s historyStretch) holds(p stopwatt.SeriesPoint) bool {
	return (s.since.IsZero() || !p.Time.Before(s.since)) && (s.until.IsZero() || !p.Time.After(s.until)) &&
		p.Position > s.after && (s.upTo == 0 || p.Position <= s.upTo)
}

// crop leaves what lies in the stretch, and drops series of which nothing does.
func (s historyStretch) crop(all []report.Traced) []report.Traced {
	if s.words == "" {
		return all
	}
	var shown []report.Traced
	for _, traced := range all {
		var searches []stopwatt.ChangeSearch
		var orders []stopwatt.OrderChange
		for _, search := range traced.Searches {
			if search = regression.Crop(search, s.holds); len(search.Points) == 0 {
				continue
			}
			searches = append(searches, search)
			if traced.Series.Against != "" {
				orders = append(orders, regression.OrderChanges(search)...)
			}
		}
		if len(searches) > 0 {
			shown = append(shown, report.Traced{Series: traced.Series, Searches: searches, Orders: orders})
		}
	}
	return shown
}

// stretch reads --since, --until and A..B.
func (d *desk) stretch(ctx context.Context, s historyScope) (historyStretch, error) {
	var shown historyStretch
	var words []string
	var err error
	if s.since != "" {
		if shown.since, err = momentOf(s.since, time.Now()); err != nil {
			return shown, askedWrongly(fmt.Errorf("--since %w", err))
		}
		words = append(words, "since "+s.since)
	}
	if s.until != "" {
		if shown.until, err = momentOf(s.until, time.Now()); err != nil {
			return shown, askedWrongly(fmt.Errorf("--until %w", err))
		}
		if bareDate.MatchString(s.until) { // the whole day
			shown.until = shown.until.AddDate(0, 0, 1).Add(-time.Nanosecond)
		}
		words = append(words, "until "+s.until)
	}
	if s.commits != "" {
		if shown.after, shown.upTo, err = d.between(ctx, s.commits); err != nil {
			return shown, err
		}
		words = append(words, wholeName.ReplaceAllStringFunc(s.commits, func(sha string) string { return sha[:8] }))
	}
	shown.words = strings.Join(words, ", ")
	return shown, nil
}

// wholeName is the whole name of a commit.
var wholeName = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// between are the places of two commits in the first-parent history of the default
// branch, of which the first is left out: A..B, where A or B may be missing.
func (d *desk) between(ctx context.Context, commits string) (after, upTo int, err error) {
	from, to, isRange := strings.Cut(commits, "..")
	if !isRange {
		return 0, 0, askedWrongly(fmt.Errorf("%s is no range of commits; write A..B, as in v1.2..main", quote(commits)))
	}
	branch, err := d.openBranch(ctx)
	if err != nil {
		return 0, 0, err
	}
	if from != "" {
		if after, err = branch.placeOf(ctx, from); err != nil {
			return 0, 0, err
		}
	}
	upTo = len(branch.commits)
	if to != "" {
		if upTo, err = branch.placeOf(ctx, to); err != nil {
			return 0, 0, err
		}
	}
	if upTo <= after {
		return 0, 0, askedWrongly(fmt.Errorf("%s holds no commit: %s is not behind %s on the default branch", quote(commits), quote(to), quote(from)))
	}
	return after, upTo, nil
}

// A branch is the first-parent history of the default branch.
type branch struct {
	repo    *git.Repo
	name    string         // as a revision
	commits []string       // SHAs, the oldest first
	places  map[string]int // of SHAs, from 1
}

// openBranch reads the first-parent history of the default branch; it must be there.
func (d *desk) openBranch(ctx context.Context) (branch, error) {
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return branch{}, askedWrongly(fmt.Errorf("commits are asked for in their checkout: %w", err))
	}
	repo.Getenv = d.getenv
	name := repo.DefaultBranch(ctx)
	if name == "" {
		return branch{}, askedWrongly(errors.New("this checkout has no default branch: git remote set-head origin --auto, or name it main"))
	}
	commits, err := repo.FirstParents(ctx, name)
	if err != nil {
		return branch{}, err
	}
	b := branch{repo: repo, name: name, commits: commits, places: map[string]int{}}
	for i, sha := range commits {
		b.places[sha] = i + 1
	}
	return b, nil
}

// placeOf is the place of a revision, or of the nearest commit before it that the
// branch went through: that where it left the branch.
func (b branch) placeOf(ctx context.Context, revision string) (int, error) {
	commits, err := b.repo.FirstParents(ctx, revision)
	if err != nil {
		return 0, askedWrongly(err)
	}
	for _, sha := range slices.Backward(commits) {
		if place := b.places[sha]; place != 0 {
			return place, nil
		}
	}
	return 0, askedWrongly(fmt.Errorf("%s never was on the default branch, and left it nowhere", quote(revision)))
}

// bareDate is a day without a time.
var bareDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// ago is how long ago something was: 12h, 30d, 8w.
var ago = regexp.MustCompile(`^(\d{1,5})([hdw])$`)

// momentOf reads a date, a time, or how long before now.
func momentOf(text string, now time.Time) (time.Time, error) {
	if parts := ago.FindStringSubmatch(text); parts != nil {
		n, _ := strconv.Atoi(parts[1]) // at most five digits
		switch parts[2] {
		case "h":
			return now.Add(-time.Duration(n) * time.Hour), nil
		case "d":
			return now.AddDate(0, 0, -n), nil
		}
		return now.AddDate(0, 0, -7*n), nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if moment, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return moment, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: write a date, a time, or how long ago, as in 2026-11-01, 2026-11-01T14:30 or 30d", quote(text))
}
