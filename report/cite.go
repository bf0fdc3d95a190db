package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Cite writes how a run was measured in one paragraph, for a text that quotes
// its figures, and how to cite it. No line is wider than 80 columns. What is not
// known of the run is left out.
func Cite(w io.Writer, results stopwatt.Results) error {
	run := results.Run
	sentences := []string{
		citeWhere(run),
		citePlan(results),
		citeTrial(run.Settings),
		citeLoads(run.Settings),
		citeEnergy(run),
		citeFigures(results),
	}
	if run.Imported {
		sentences = []string{citeImport(run), citeFigures(results)}
	}
	sentences = slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
	lines := wrap(strings.Join(sentences, " "), defaultWidth, 0)
	lines = append(append(lines, ""), wrap(citation(run), defaultWidth, 2)...)
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// citeImport says where figures come from that somebody else measured: how, stopwatt
// cannot tell.
func citeImport(run stopwatt.Run) string {
	text := "Measured by others"
	if run.Machine.Name != "" && run.Machine.Name != "unnamed" {
		text += " on " + short(run.Machine.Name)
	}
	text += ", and imported"
	if run.Source != "" {
		text += " from " + short(run.Source)
	}
	if !run.Started.IsZero() {
		text += " on " + run.Started.Format("2006-01-02")
	}
	if run.Tool != "" {
		text += " with stopwatt " + short(run.Tool)
	}
	return text + "."
}

// citeWhere says when, with what and on what it was measured.
func citeWhere(run stopwatt.Run) string {
	text := "Measured"
	if !run.Started.IsZero() {
		text += " on " + run.Started.Format("2006-01-02")
	}
	if run.Tool != "" {
		text += " with stopwatt " + short(run.Tool)
	}
	if run.Machine.Name != "" {
		text += " on " + short(run.Machine.Name)
	}
	if about := citeMachine(run.Machine); about != "" {
		text += " (" + about + ")"
	}
	if run.Engine.Version != "" {
		text += ", in Docker " + short(run.Engine.Version)
		if about := commas(short(run.Engine.StorageDriver), cgroup(run.Engine)); about != "" {
			text += " (" + about + ")"
		}
	}
	return text + "."
}

// cgroup names the version of cgroups, where it is known.
func cgroup(e stopwatt.Engine) string {
	if e.CgroupVersion == "" {
		return ""
	}
	return "cgroup v" + short(e.CgroupVersion)
}

// citeMachine says what of a machine decides its figures.
func citeMachine(m stopwatt.Machine) string {
	cores, memory, kind := "", "", ""
	if m.Identity.Cores > 0 {
		cores = fmt.Sprintf("%s, %s", plural(m.Identity.Cores, "core"), plural(m.Identity.Threads, "thread"))
	}
	if m.Identity.MemoryBytes > 0 {
		memory = Value(stopwatt.Metric{Unit: "B"}, float64(m.Identity.MemoryBytes)) + " of memory"
	}
	if m.Identity.Virtual {
		kind = "a virtual machine"
	}
	return commas(short(m.Identity.CPUModel), cores, memory, kind, named("SMT", short(m.Identity.SMT)), named("turbo", short(m.Identity.Turbo)),
		named("governor", short(m.Epoch.Governor)), named("kernel", short(m.Epoch.Kernel)), named("microcode", short(m.Epoch.Microcode)))
}

// commas joins what there is of these parts.
func commas(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// citePlan says how many trials there were and in which order.
func citePlan(results stopwatt.Results) string {
	run := results.Run
	least, most, valid, invalid, marked := -1, 0, 0, 0, 0
	for _, result := range results.Cases {
		if result.Part {
			continue
		}
		if least < 0 || result.Valid < least {
			least = result.Valid
		}
		most = max(most, result.Valid)
		valid, invalid, marked = valid+result.Valid, invalid+result.Invalid, marked+result.Marked
	}
	if least < 0 {
		return ""
	}
	n := fmt.Sprint(least)
	if least < most {
		n = fmt.Sprintf("%d to %d", least, most)
	}
	text := fmt.Sprintf("Each of %s was measured once in each of %s, in an order shuffled anew in every round from the seed %d",
		plural(len(results.Cases), "case"), plural(run.Rounds, "round"), run.Seed)
	text += fmt.Sprintf("; %d of %s were valid (n = %s for each case)", valid, plural(valid+invalid, "trial"), n)
	if marked > 0 {
		text += fmt.Sprintf(", and %d of them marked as doubtful and kept", marked)
	}
	if missing := run.Planned - valid - invalid; missing > 0 && run.Status != stopwatt.Finished {
		text += fmt.Sprintf("; the run is %s, %d of %s were not carried out", run.Status, missing, plural(run.Planned, "planned trial"))
	}
	return text + "."
}

// citeTrial says how a trial goes.
func citeTrial(suite stopwatt.Suite) string {
	text := "Each trial starts a fresh container without any network, which a driver in its network namespace asks over loopback; " +
		verification(suite) + " is verified before the load and after it, and one wrong answer makes the trial invalid"
	if suite.Plan.Warmup > 0 {
		text += fmt.Sprintf("; it is warmed up under load for %s", Seconds(suite.Plan.Warmup.Seconds()))
	}
	return text + "; the window measured lasts from the first request written to the last answer read."
}

// verification says what of the answers is verified.
func verification(suite stopwatt.Suite) string {
	byBody := 0
	for _, w := range suite.Workloads {
		if w.HTTP != nil && w.HTTP.Expect.BodySHA256 != "" {
			byBody++
		}
	}
	switch byBody {
	case 0:
		return "the status of its answer"
	case len(suite.Workloads):
		return "its answer (status, and SHA-256 of the body)"
	}
	return fmt.Sprintf("its answer (status, and in %d of %s the SHA-256 of the body)", byBody, plural(len(suite.Workloads), "workload"))
}

// citeLoads says how each workload was driven.
func citeLoads(suite stopwatt.Suite) string {
	var loads, open []string
	for _, w := range suite.Workloads {
		if w.Load.Users == 0 {
			continue
		}
		connections := "kept alive"
		if w.Load.Close {
			connections = "closed after each request"
		}
		amount := fmt.Sprintf("%s each", plural(w.Load.Requests, "request"))
		if w.Load.For > 0 {
			amount = "for " + Seconds(w.Load.For.Seconds())
		}
		if w.Load.Open() {
			open = append(open, fmt.Sprintf("%s, %s, %s, at most %s, connections %s", short(w.Name), citeRate(w.Load), amount, plural(w.Load.Users, "connection"), connections))
			continue
		}
		loads = append(loads, fmt.Sprintf("%s, %s, %s, connections %s", short(w.Name), plural(w.Load.Users, "user"), amount, connections))
	}
	return strings.TrimSpace(citeLoop("a closed loop", loads) + " " + citeLoop("an open loop", open))
}

// citeLoop says which loads were of one model; nothing when none was.
func citeLoop(model string, loads []string) string {
	if loads == nil {
		return ""
	}
	return "Loads, in " + model + ": " + strings.Join(loads, "; ") + "."
}

// citeRate says at which rate an open load came.
func citeRate(load stopwatt.Load) string {
	switch {
	case load.Find != nil:
		return "at the highest rate that kept its promises"
	case load.Poisson:
		return fmt.Sprintf("Poisson arrivals of %.4g/s in the mean", load.Rate())
	case len(load.Stages) > 1 || load.Stages[0].From != load.Stages[0].To:
		return fmt.Sprintf("%s of %.4g/s in the mean", plural(len(load.Stages), "stage"), load.Rate())
	}
	return fmt.Sprintf("%.4g/s", load.Rate())
}

// citeEnergy says what measured energy, and how it was made net.
func citeEnergy(run stopwatt.Run) string {
	var meters []string
	for _, m := range run.Meters {
		if m.Absent != "" {
			continue
		}
		about := commas(short(m.Source), renewed(m.Renewal))
		if about != "" {
			about = " (" + about + ")"
		}
		meters = append(meters, short(m.Name)+about)
	}
	if meters == nil {
		return ""
	}
	text := "Energy was read by " + strings.Join(meters, " and by ") + "."
	var idles []string
	var lasted time.Duration
	for _, idle := range run.IdlePowers() {
		if idle.Absent == "" {
			idles = append(idles, fmt.Sprintf("%s %s", short(idle.Meter), idleWatts(idle)))
			lasted = max(lasted, idle.Over)
		}
	}
	if idles == nil {
		return text + " Idle power was not measured, so energy is gross."
	}
	return fmt.Sprintf("%s The idle machine drew %s (mean ± standard error over %s %s); "+
		"net energy is gross energy less idle power times the window, and may be negative.", text, strings.Join(idles, ", "), Seconds(lasted.Seconds()), idleWhen(run))
}

// idleWhen says when idle power was measured.
func idleWhen(run stopwatt.Run) string {
	if run.Idle[len(run.Idle)-1].Place == stopwatt.IdleAfter {
		return "before the first round and after the last, their drift included"
	}
	return "before the first round, and not after the last"
}

// idleWatts writes an idle power with its error.
func idleWatts(idle stopwatt.IdlePower) string {
	scale := scaleOf(stopwatt.Metric{Unit: "W"}, "", []stopwatt.Summary{{Mean: idle.Watts, SD: idle.Error}})
	return scale.unit.with(scale.write(idle.Watts) + " ± " + scale.beside(idle.Error, idle.Watts))
}

// renewed says how often a meter renews its value.
func renewed(every time.Duration) string {
	if every <= 0 {
		return ""
	}
	return "renewed every " + Seconds(every.Seconds())
}

// citeFigures says what the figures are.
func citeFigures(results stopwatt.Results) string {
	if len(results.Cases) == 0 {
		return ""
	}
	return "Figures are means and sample standard deviations over trials, never over the requests within one."
}

// citation names the run so that it can be found and repeated.
func citation(run stopwatt.Run) string {
	id := ""
	if run.ID != 0 {
		id = fmt.Sprintf("run %d", run.ID)
	}
	date := ""
	if !run.Started.IsZero() {
		date = run.Started.Format("2006-01-02")
	}
	commit := ""
	if run.Checkout.Commit.SHA != "" {
		commit = "commit " + short(run.Checkout.Commit.SHA)
	}
	if run.Checkout.Dirty {
		commit = strings.TrimSpace(commit + " with uncommitted changes")
	}
	suite := short(run.Suite)
	if run.Project != "" {
		suite += " of " + short(run.Project)
	}
	return "Cite as: " + commas(suite, id, named("key", short(run.Key)), named("plan", short(run.PlanKey)), commit, short(run.Machine.Name), date, named("stopwatt", short(run.Tool))) + "."
}
