package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
)

// runFlags are what `stopwatt run` can be told.
type runFlags struct {
	profile string
	cases   []string
	rounds  int
	seed    uint64
	fresh   bool
	bases   []string
	network string // of builds
	out     string
	against string   // revision of the base; empty: none
	all     bool     // identical cases too
	labels  []string // KEY=VALUE
	judge   string   // whose judge of the suite is used: base or head

	calibrating bool // everything against itself

	// In a pipeline: what it is, and what it asks for in the place of the suite.
	pipeline *stopwatt.Pipeline
	ends     time.Time          // when all must have been measured; zero: no limit
	budget   time.Duration      // 0: the suite's
	failOn   []stopwatt.Verdict // nil: the suite's

	roundsGiven, seedGiven bool
}

// runVerb is `stopwatt run`, the main job.
func (d *desk) runVerb() *cobra.Command {
	var flags runFlags
	verb := &cobra.Command{
		Use:   "run [SUITE]",
		Short: "Build, measure, store and print",
		Long: `Builds or pulls the images of a suite's implementations, carries out its rounds
of trials, stores each trial in Postgres as soon as it is done, prints the
result table and writes a report folder.

SUITE is a file, or a folder that holds stopwatt.yml; by default ./stopwatt.yml.
An unfinished run of the same plan is continued; --fresh begins a new one.

With --against, base and head of each case are measured back to back and judged
at the looks of the suite's plan; what is suspected is confirmed in fresh pairs.
Exit status 10 says that something regressed, 11, where the suite asks for it, that
something is undecided.`,
		Example: `  stopwatt run
  stopwatt run suites/web-servers --profile short
  stopwatt run --case 'go/*' --rounds 20
  stopwatt run --against main
  stopwatt run --db postgres://bench@db.example.org/bench`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.seedGiven = cmd.Flags().Changed("seed")
			flags.roundsGiven = cmd.Flags().Changed("rounds")
			if err := againstSomething(flags, cmd.Flags().Changed("against")); err != nil {
				return err
			}
			return d.run(cmd.Context(), first(args), flags)
		},
	}
	d.measuringFlags(verb, &flags)
	verb.Flags().StringVar(&flags.against, "against", "", "measure this `REVISION` too, interleaved, and say what got worse or better since")
	verb.Flags().BoolVar(&flags.all, "all", false, "with --against: measure also cases whose images are the same in both")
	verb.Flags().StringVar(&flags.judge, "judge", judgedByBase, "with --against: judge by the suite file of the `base` or of the head")
	return verb
}

// measuringFlags adds what every verb that measures can be told.
func (d *desk) measuringFlags(verb *cobra.Command, flags *runFlags) {
	d.planFlags(verb, flags)
	verb.Flags().Uint64Var(&flags.seed, "seed", 0, "seed of the order of trials (default: drawn)")
	verb.Flags().BoolVar(&flags.fresh, "fresh", false, "begin a new run even where an unfinished one could be continued")
	verb.Flags().StringVar(&flags.out, "out", "", "write the report into this `FOLDER` (default: under the data folder; in CI stopwatt-report)")
}

// planFlags adds what every verb that plans runs can be told.
func (d *desk) planFlags(verb *cobra.Command, flags *runFlags) {
	verb.Flags().StringVar(&flags.profile, "profile", "", "apply this profile of the suite")
	verb.Flags().StringArrayVar(&flags.cases, "case", nil, "only these cases: `IMPLEMENTATION/WORKLOAD`, globs allowed; may be repeated")
	verb.Flags().IntVar(&flags.rounds, "rounds", 0, "rounds instead of the suite's")
	verb.Flags().StringArrayVar(&flags.bases, "base", nil, "build from a stand-in: `OFFICIAL=IMAGE` (default $STOPWATT_BASES, separated by spaces)")
	verb.Flags().StringVar(&flags.network, "build-network", d.getenv("STOPWATT_BUILD_NETWORK"),
		"network of a build's RUN steps: host or none (default $STOPWATT_BUILD_NETWORK, else the engine's choice)")
	labelFlag(verb, &flags.labels, "find the run by this label later: `KEY=VALUE`; may be repeated")
}

// A plannedRun is what a suite file and the flags ask for, before anything is started.
type plannedRun struct {
	file     suiteFile
	checkout checkout
	cases    []stopwatt.Case
	seed     uint64
	standIns map[string]string
	rounds   int
	against  stopwatt.Checkout // the base; zero when there is none
	choice   stopwatt.BaseChoice
	noBase   string // why a merge request is measured against nothing; else empty
	pipeline *stopwatt.Pipeline
	ends     time.Time // when all must have been measured; zero: no limit
	past     pastSuite // that of the base
	all      bool
	labels   map[string]string

	calibrating bool
	repeated    []string // what is typed to measure it again; nil: what was typed
}

// compares tells whether head is measured against something.
func (p plannedRun) compares() bool { return p.against.Commit.SHA != "" }

// plan reads the suite and the checkout and applies the flags.
func (d *desk) plan(ctx context.Context, named string, flags runFlags) (plannedRun, error) {
	if flags.roundsGiven && flags.rounds == 0 {
		return plannedRun{}, askedWrongly(errors.New("--rounds 0: a run has at least 1 round"))
	}
	options := jobs.Options{Profile: flags.profile, Rounds: flags.rounds}
	if flags.calibrating {
		options.Rounds = 0 // its plan is what the machine is calibrated for
	}
	file, err := readSuite(named, options)
	if err != nil {
		return plannedRun{}, err
	}
	cases, err := jobs.Select(file.suite, flags.cases)
	if err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	if cases, err = withControl(file.suite, cases); err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	standIns, err := parseBases(flags.bases, d.getenv("STOPWATT_BASES"))
	if err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	checkout, err := d.checkout(ctx, file)
	if err != nil {
		return plannedRun{}, err
	}
	if file.suite, err = checkout.resolved(ctx, file.suite); err != nil {
		return plannedRun{}, err
	}
	labels, err := parseLabels(flags.labels)
	if err != nil {
		return plannedRun{}, askedWrongly(err)
	}
	seed := flags.seed
	if !flags.seedGiven {
		seed = uint64(rand.Uint32()) // short enough to be typed again
	}
	planned := plannedRun{
		file: file, checkout: checkout, cases: cases, seed: seed, standIns: standIns,
		rounds: file.suite.Plan.Rounds, all: flags.all, labels: labels, calibrating: flags.calibrating,
	}
	if flags.calibrating {
		planned.rounds = flags.rounds
	}
	if err := planned.inPipeline(flags); err != nil {
		return plannedRun{}, err
	}
	if err := planned.findBase(ctx, flags); err != nil || !planned.compares() {
		return planned, err
	}
	if planned.past, err = d.pastSuite(ctx, planned, flags); err != nil {
		return plannedRun{}, err
	}
	planned.judgeBy(flags.judge)
	if flags.failOn != nil {
		planned.file.suite.Judge.FailOn = flags.failOn
	}
	return planned, reachable(planned.file.suite, judgedCases(planned.file.suite, cases))
}

// parseBases reads OFFICIAL=IMAGE pairs from the flags, else from the environment.
func parseBases(flags []string, environment string) (map[string]string, error) {
	if len(flags) == 0 {
		flags = strings.Fields(environment)
	}
	standIns := map[string]string{}
	for _, pair := range flags {
		official, standIn, ok := strings.Cut(pair, "=")
		if !ok || official == "" || standIn == "" {
			return nil, fmt.Errorf("--base %s: write OFFICIAL=IMAGE, as in debian:bookworm-slim=mirror/debian:bookworm-slim", quote(pair))
		}
		standIns[official] = standIn
	}
	return standIns, nil
}

// run is the main job, from suite to table.
func (d *desk) run(ctx context.Context, named string, flags runFlags) error {
	planned, err := d.plan(ctx, named, flags)
	if err != nil {
		return err
	}
	place, err := d.openWorkplace(ctx, planned, flags)
	if err != nil {
		return err
	}
	defer place.close()
	measured, err := place.measure(ctx, planned, flags)
	if err != nil {
		return err
	}
	if flags.calibrating {
		return d.tellCalibration(ctx, place.store, measured.run, *measured.comparing)
	}
	outcome, err := d.outcome(ctx, place.store, measured.run)
	if err != nil {
		return err
	}
	if err := d.tell(outcome, flags.out); err != nil {
		return err
	}
	return cmp.Or(outcome.verdict(), unmatched(measured.comparing))
}

// unmatched is an error when the base of some cases could not be had.
func unmatched(comparing *orchestrator.Comparing) error {
	if comparing == nil || len(comparing.Unmatched) == 0 {
		return nil
	}
	return incomplete(fmt.Errorf("%s could not be compared: no image of the base", plural(len(comparing.Unmatched), "case")))
}

// order gets the images and puts together what the orchestrator is asked for.
func (d *desk) order(ctx context.Context, planned plannedRun, docker *containers.Docker, instruments *instruments, screen *screen) (orchestrator.Order, error) {
	machine, state := instruments.machine(docker.Engine()), planned.checkout.state
	suite := placed(planned.file.suite, instruments.file, machine, docker.Engine())
	if err := fitting(suite, docker.Engine()); err != nil {
		return orchestrator.Order{}, err
	}
	before := instruments.station.Reading()
	builder := orchestrator.Builder{
		Images: docker,
		Order: func(ctx context.Context, implementation stopwatt.Implementation) (stopwatt.BuildOrder, error) {
			return planned.checkout.buildOrder(ctx, planned.file, planned.standIns, implementation)
		},
		SHA:    state.Commit.SHA,
		Begins: screen.buildBegins,
		Step:   screen.buildStep,
		Ended:  screen.buildEnded,
		Failed: func(name string, _ error) { screen.buildFailed(name) },
	}
	images, err := builder.Get(ctx, needed(suite, planned.cases))
	if err == nil {
		suite, err = withServices(ctx, suite, planned.cases, builder)
	}
	screen.dropBuild()
	if err != nil {
		return orchestrator.Order{}, d.buildFailed(ctx, err)
	}
	baseImages, comparing, err := d.base(ctx, planned, suite, images, docker, screen)
	if err != nil {
		return orchestrator.Order{}, err
	}
	if err := settle(ctx, instruments, anyBuilt(images, baseImages), before, suite.Plan.Settle, screen); err != nil {
		return orchestrator.Order{}, err
	}
	return orchestrator.Order{
		Cases:     planned.cases,
		Comparing: comparing,
		Run: stopwatt.Run{
			Against:    planned.against,
			Choice:     planned.choice,
			Labels:     planned.labels,
			Pipeline:   planned.pipeline,
			BaseImages: baseImages,
			Suite:      suite.Name,
			Project:    planned.checkout.project,
			Baseline:   suite.Baseline,
			Profile:    suite.Profile,
			Seed:       planned.seed,
			Rounds:     planned.rounds,
			Checkout:   state,
			Machine:    machine,
			Meters:     instruments.meters(),
			Engine:     docker.Engine(),
			Images:     images,
			Settings:   suite,
			Tool:       toolVersion(),
			Command:    commandLine(planned.typed()),
		},
	}, nil
}

// commandLine is the command as a shell takes it again, without the database:
// its name may hold a password, and what is stored and shown must not.
func commandLine(args []string) string {
	words := []string{"stopwatt"}
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "--db":
			i++
		case strings.HasPrefix(args[i], "--db="):
		default:
			words = append(words, shellWord(args[i]))
		}
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word where a shell would read it otherwise.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// settle waits, when something was built, until the machine is as quiet and
// cool as it was before.
func settle(ctx context.Context, instruments *instruments, built bool, before stopwatt.MachineReading, atMost time.Duration, screen *screen) error {
	if !built {
		return nil
	}
	waited, after, err := instruments.station.Settle(ctx, before, atMost)
	if err != nil {
		return err
	}
	screen.settled(waited, before, after)
	return nil
}

// anyBuilt tells whether one of the images was made just now.
func anyBuilt(all ...map[string]stopwatt.Image) bool {
	for _, images := range all {
		for _, image := range images {
			if !image.Reused {
				return true
			}
		}
	}
	return false
}

// needed are the implementations that the chosen cases start.
func needed(suite stopwatt.Suite, cases []stopwatt.Case) []stopwatt.Implementation {
	var implementations []stopwatt.Implementation
	for _, implementation := range suite.Implementations {
		for _, chosen := range cases {
			if chosen.Implementation == implementation.Name && !implementation.Null {
				implementations = append(implementations, implementation)
				break
			}
		}
	}
	return append(implementations, tools(suite, cases)...)
}

// tools are what drives load in place of the agent, to be pulled as
// implementations are.
func tools(suite stopwatt.Suite, cases []stopwatt.Case) []stopwatt.Implementation {
	var tools []stopwatt.Implementation
	for _, workload := range suite.Workloads {
		chosen := func(c stopwatt.Case) bool { return c.Workload == workload.Name }
		if tool := workload.Load.Tool; tool != nil && slices.ContainsFunc(cases, chosen) {
			tools = append(tools, stopwatt.Implementation{Name: stopwatt.ToolImage(workload.Name), Image: tool.Image})
		}
	}
	return tools
}

// buildFailed says what an image that cannot be had means for the exit status:
// not all that was asked can be measured.
func (d *desk) buildFailed(ctx context.Context, err error) error {
	var known failure
	if ctx.Err() != nil || errors.As(err, &known) || stopwatt.EngineFailed(err) {
		return err
	}
	return incomplete(err)
}

// interrupted says what is kept of a run that did not come to its end.
func (d *desk) interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintln(d.stderr, "stopped: containers removed, finished trials kept.\nThe same command goes on where this one ended; --fresh begins a new run.")
	return incomplete(quiet{err})
}
