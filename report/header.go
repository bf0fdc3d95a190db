package report

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// headline says what was run: suite · run · commit (branch) · machine · date.
func headline(run stopwatt.Run) string {
	return strings.Join(append([]string{short(run.Suite)}, whichRun(run)...), " · ")
}

// whichRun says which run of a suite it was.
func whichRun(run stopwatt.Run) []string {
	var parts []string
	if run.ID != 0 {
		parts = append(parts, fmt.Sprintf("run %d", run.ID))
	}
	parts = append(parts, checkout(run.Checkout))
	if run.Machine.Name != "" {
		parts = append(parts, short(run.Machine.Name))
	}
	if !run.Started.IsZero() {
		parts = append(parts, run.Started.Format("2006-01-02 15:04"))
	}
	if run.Imported {
		parts = append(parts, "imported from "+short(run.Source))
	}
	return parts
}

// checkout names the commit and the state of the work tree.
func checkout(c stopwatt.Checkout) string {
	if c.Commit.SHA == "" {
		return "no commit"
	}
	var about []string
	if c.Branch != "" {
		about = append(about, short(c.Branch))
	}
	if c.Dirty {
		about = append(about, "with uncommitted changes")
	}
	name := short(c.Commit.Short())
	if about != nil {
		name += " (" + strings.Join(about, ", ") + ")"
	}
	return name
}

// counted says how many trials went in: "10 rounds, 118 of 120 trials valid,
// 3 marked".
func counted(run stopwatt.Run, c stopwatt.Contrast) string {
	valid, invalid, marked := 0, 0, 0
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			if row.Result.Part {
				continue // its trials are counted where they are whole
			}
			valid += row.Result.Valid
			invalid += row.Result.Invalid
			marked += row.Result.Marked
		}
	}
	parts := []string{plural(run.Rounds, "round"), fmt.Sprintf("%d of %s valid", valid, plural(valid+invalid, "trial"))}
	if marked > 0 {
		parts = append(parts, fmt.Sprintf("%d marked", marked))
	}
	if run.Profile != "" {
		parts = append(parts, "profile "+short(run.Profile))
	}
	if missing := run.Planned - valid - invalid; missing > 0 && run.Status != stopwatt.Finished && run.Status != "" {
		parts = append(parts, fmt.Sprintf("%s: %d of %s not carried out", run.Status, missing, plural(run.Planned, "planned trial")))
	}
	return strings.Join(parts, ", ")
}

// dotted joins what there is of these parts: "10 rounds · idle: board 4.19 W".
func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// plural writes a count of things: "1 round", "10 rounds".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(fmt.Sprint(n)) + " " + thing + "s"
}

// loadOf says in short how a workload is driven: "4 users × 5,000". It is no
// wider than the longest name.
func loadOf(run stopwatt.Run, name string) string {
	workload, known := run.Settings.Workload(name)
	load := workload.Load
	switch {
	case load.Tool != nil:
		return cut("by "+short(load.Tool.Run[0]), longestName)
	case !known || load.Users == 0:
		return ""
	case load.Find != nil:
		return cut("highest rate, "+Seconds(load.For.Seconds()), longestName)
	case load.Open():
		return cut(thousands(fmt.Sprintf("%.0f", load.Rate()))+"/s, "+Seconds(load.For.Seconds()), longestName)
	case load.For > 0:
		return cut(plural(load.Users, "user")+", "+Seconds(load.For.Seconds()), longestName)
	}
	return cut(plural(load.Users, "user")+" × "+thousands(fmt.Sprint(load.Requests)), longestName)
}
