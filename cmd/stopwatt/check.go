package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
)

// checkVerb is `stopwatt check`.
func (d *desk) checkVerb() *cobra.Command {
	var flags runFlags
	verb := &cobra.Command{
		Use:     "check [SUITE]",
		Short:   "Faults of a suite and the plan of its run; starts nothing",
		Example: "  stopwatt check\n  stopwatt check suites/web-servers --profile short",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.roundsGiven = cmd.Flags().Changed("rounds")
			planned, err := d.plan(cmd.Context(), first(args), flags)
			if err != nil {
				return err
			}
			energy, err := d.energyTexts(cmd.Context(), planned)
			if err != nil {
				return err
			}
			d.printPlan(planned, energy, d.verdictText(cmd.Context(), planned))
			return nil
		},
	}
	verb.Flags().StringVar(&flags.profile, "profile", "", "apply this profile of the suite")
	verb.Flags().StringArrayVar(&flags.cases, "case", nil, "only these cases: `IMPLEMENTATION/WORKLOAD`, globs allowed; may be repeated")
	verb.Flags().IntVar(&flags.rounds, "rounds", 0, "rounds instead of the suite's")
	return verb
}

// printPlan says what a run would do, what it would know of energy, and what it
// could tell of a change.
func (d *desk) printPlan(planned plannedRun, energy []string, verdict string) {
	suite, state := planned.file.suite, planned.checkout.state
	trials := len(planned.cases) * suite.Plan.Rounds
	fmt.Fprintf(d.stdout, "%s: %s, %s, %s\n", suite.Name, plural(len(planned.cases), "case"), plural(suite.Plan.Rounds, "round"), plural(trials, "trial"))
	for _, implementation := range suite.Implementations {
		fmt.Fprintf(d.stdout, "  %-22s %s\n", implementation.Name, limitsText(implementation))
	}
	for _, workload := range suite.Workloads {
		fmt.Fprintf(d.stdout, "  %-22s %s\n", workload.Name, workloadText(workload))
	}
	fmt.Fprintf(d.stdout, "commit   %s\n", commitText(state))
	fmt.Fprintf(d.stdout, "time     %s\n", timeText(suite, planned.cases))
	for _, text := range energy {
		fmt.Fprintf(d.stdout, "energy   %s\n", text)
	}
	fmt.Fprintf(d.stdout, "verdict  %s\n", verdict)
	fmt.Fprintln(d.stdout, "no faults")
}

// limitsText is what an implementation may use: unequal limits are to be seen.
func limitsText(implementation stopwatt.Implementation) string {
	text := "all cores"
	if implementation.CPUs != "" {
		text = "cores " + implementation.CPUs
	}
	if implementation.Memory > 0 {
		text += fmt.Sprintf(", %d MiB", implementation.Memory>>20)
	}
	if implementation.Writable {
		text += ", may write to its root"
	}
	return text
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// loadText is a load in words.
func loadText(load stopwatt.Load) string {
	text := fmt.Sprintf("%d users × %d requests", load.Users, load.Requests)
	switch {
	case load.Tool != nil:
		return "driven by " + programText(load.Tool.Program)
	case load.Find != nil:
		text = fmt.Sprintf("the highest rate is searched, then driven for %s, at most %d connections", duration(load.For), load.Users)
	case load.Open():
		text = fmt.Sprintf("%.4g requests/s for %s, at most %d connections", load.Rate(), duration(load.For), load.Users)
	case load.For > 0:
		text = fmt.Sprintf("%d users for %s", load.Users, duration(load.For))
	}
	if load.Close {
		text += ", a new connection for each"
	}
	return text
}

// commitText says which commit would be measured and what would become of it.
func commitText(state stopwatt.Checkout) string {
	switch {
	case state.Commit.SHA == "":
		return "none: the suite lies in no git checkout; results would stand under no commit"
	case state.Dirty:
		return state.Commit.Short() + ", dirty: results would be stored, but never become part of a branch's history"
	}
	return state.Commit.Short() + ", clean"
}

// timeText says how long measuring takes, as far as that is known beforehand.
func timeText(suite stopwatt.Suite, cases []stopwatt.Case) string {
	known := time.Duration(0)
	for _, each := range cases {
		workload, _ := suite.Workload(each.Workload)
		if workload.HTTP == nil {
			return "unknown until round 1 has been measured: programs end when they are done"
		}
		if workload.Load.Tool != nil {
			return "unknown until round 1 has been measured: tools end when they are done"
		}
		if workload.Load.Find != nil {
			return "unknown: the highest rate is searched in as many probes as it takes"
		}
		if workload.Load.For == 0 {
			return "unknown until round 1 has been measured: requests are counted, not seconds"
		}
		known += workload.Load.For + suite.Plan.Warmup
	}
	known *= time.Duration(suite.Plan.Rounds)
	return duration(known) + " of load and warm-up, and about a second more for each trial; builds come before"
}
