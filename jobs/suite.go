package jobs

import (
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Limits of a plan. A million trials of a second each take twelve days.
const (
	mostRounds = 10_000
	mostTrials = 1_000_000
)

// A draft is a suite as it was written, before a profile is applied.
type draft struct {
	name            string
	baseline        string
	implementations []implementation
	workloads       node // read when the profile is known
	plan            plan
	judge           stopwatt.Judge
	control         string
	meters          stopwatt.MeterSettings
}

var suiteRows = []row[draft]{
	{word{key: "suite", kind: "text", example: "suite: and its name", doc: "The suite's name: letters, digits, `.`, `_` and `-`, 64 at most, a letter or digit first. All names in a suite are like this."},
		func(r *reader, at node, to *draft) { r.text(at, "suite", &to.name, isName) }},
	{word{key: "baseline", kind: "text", absent: "the first implementation", doc: "The implementation that the others are compared with."},
		func(r *reader, at node, to *draft) { r.text(at, "baseline", &to.baseline) }},
	{word{key: "implementations", kind: "names to [implementation]", example: "implementations: and below it, indented, name: {build: folder}", doc: "The things that are compared."},
		func(r *reader, at node, to *draft) { to.implementations = r.implementations(at) }},
	{word{key: "workloads", kind: "names to [workload]", example: "workloads: and below it, indented, name: {http: {…}, load: {…}}", doc: "What is asked of each of them."},
		func(r *reader, at node, to *draft) { to.workloads = at }},
	{word{key: "plan", kind: "[plan]", fallback: "{}", doc: "How often everything is measured."},
		func(r *reader, at node, to *draft) { whole(r, at, "plan", planRows, &to.plan) }},
	{word{key: "judge", kind: "[judge]", fallback: "{}", doc: "What a change is judged by, where base and head are measured (`stopwatt run --against`)."},
		func(r *reader, at node, to *draft) { whole(r, at, "judge", judgeRows, &to.judge) }},
	{word{key: "control", kind: "text", absent: "there is none", doc: "An implementation that never changes, best an `image` with its digest. It is measured in every run, so that a shift of the machine is told from one of the code."},
		func(r *reader, at node, to *draft) { r.text(at, "control", &to.control, isName) }},
	{word{key: "meters", kind: "[meters]", fallback: "{}", doc: "How the machine is metered. Which meters it has is the machine's matter: see [machine.md](machine.md)."},
		func(r *reader, at node, to *draft) { whole(r, at, "meters", metersRows, &to.meters) }},
}

var metersRows = []row[stopwatt.MeterSettings]{
	{word{key: "idle", kind: "duration", fallback: "30s", doc: "How long the machine's idle power is measured, before the first round and after the last, at most an hour. Where no energy meter can be read, a second is enough for its other columns."},
		func(r *reader, at node, to *stopwatt.MeterSettings) { r.idle(at, &to.Idle) }},
	{word{key: "every", kind: "duration", fallback: "100ms", doc: "From one sample to the next, 10ms to a minute. A meter that renews its value less often is read less often."},
		func(r *reader, at node, to *stopwatt.MeterSettings) {
			r.duration(at, "every", &to.Every, 10*time.Millisecond, time.Minute)
		}},
	{word{key: "counters", kind: "yes or no", fallback: "true", doc: "Count context switches and, where the CPU can, instructions of both containers by perf events. That is exact, and costs about half a microsecond for each switch; `false` does without."},
		func(r *reader, at node, to *stopwatt.MeterSettings) { r.yes(at, "counters", &to.Counters) }},
}

// plan is the mapping of that name.
type plan struct {
	rounds   span
	budget   time.Duration
	cooldown time.Duration
	warmup   time.Duration
	settle   time.Duration
	null     bool
	profiles []profile
}

var planRows = []row[plan]{
	{word{key: "rounds", kind: "number or [rounds]", fallback: "10", doc: "How often each case is measured, 1 to 10000; or from which number to which, as `{min: 12, max: 32}`: where base and head are compared, what is decided is measured no longer."},
		func(r *reader, at node, to *plan) { r.roundsOrSpan(at, &to.rounds) }},
	{word{key: "budget", kind: "duration", absent: "no bound", doc: "How long the rounds of a comparison may take, 1m to 720h, builds and idle windows left out. What could not be decided within it stays undecided."},
		func(r *reader, at node, to *plan) { r.budget(at, &to.budget) }},
	{word{key: "cooldown", kind: "duration", fallback: "0s", doc: "How long each trial waits at most until the machine is as cool as before the first one, at most an hour. Where no temperature can be read it does not wait."},
		func(r *reader, at node, to *plan) { r.duration(at, "cooldown", &to.cooldown, 0, time.Hour) }},
	{word{key: "warmup", kind: "duration", fallback: "2s", doc: "How long each trial is under load before its measured window, at most an hour; `0s` for not at all."},
		func(r *reader, at node, to *plan) { r.warmup(at, &to.warmup) }},
	{word{key: "settle", kind: "duration", fallback: "2m", doc: "After builds, how long to wait at most until load and temperature are what they were before them, at most an hour; `0s` for not at all."},
		func(r *reader, at node, to *plan) { r.settle(at, &to.settle) }},
	{word{key: "null-server", kind: "yes or no", fallback: "true", doc: "Before the first round, measure once under each `http` workload's load what the driver takes by itself, against a server that costs next to nothing: two seconds each. It stands below the results and is no case; `false` does without."},
		func(r *reader, at node, to *plan) { r.yes(at, "null-server", &to.null) }},
	{word{key: "profiles", kind: "names to [profile]", absent: "no profiles", doc: "Other settings under a name, for `--profile`: a short run, a thorough one."},
		func(r *reader, at node, to *plan) { to.profiles = r.profiles(at) }},
}

// A profile holds what it says otherwise than the suite. Fields that are nil or
// zero say nothing.
type profile struct {
	name   string
	rounds span
	budget time.Duration
	warmup *time.Duration
	settle *time.Duration
	idle   *time.Duration
	load   load
	repeat *stopwatt.Repeat
	params []parameter
}

var profileRows = []row[profile]{
	{word{key: "rounds", kind: "number or [rounds]", absent: "the plan's", doc: "Instead of the plan's `rounds`."},
		func(r *reader, at node, to *profile) { r.roundsOrSpan(at, &to.rounds) }},
	{word{key: "budget", kind: "duration", absent: "the plan's", doc: "Instead of the plan's `budget`."},
		func(r *reader, at node, to *profile) { r.budget(at, &to.budget) }},
	{word{key: "warmup", kind: "duration", absent: "the plan's", doc: "Instead of the plan's `warmup`."},
		func(r *reader, at node, to *profile) { to.warmup = new(time.Duration); r.warmup(at, to.warmup) }},
	{word{key: "settle", kind: "duration", absent: "the plan's", doc: "Instead of the plan's `settle`."},
		func(r *reader, at node, to *profile) { to.settle = new(time.Duration); r.settle(at, to.settle) }},
	{word{key: "idle", kind: "duration", absent: "the meters'", doc: "Instead of the meters' `idle`."},
		func(r *reader, at node, to *profile) { to.idle = new(time.Duration); r.idle(at, to.idle) }},
	{word{key: "load", kind: "[load]", absent: "each workload's", doc: "Keys here replace the same keys in the load of every workload; `requests` replaces `for`, and `for` replaces `requests`, but an open load keeps its time; stages are stretched to last `for`. No key has a default here."},
		func(r *reader, at node, to *profile) { r.overridingLoad(at, to) }},
	{word{key: "repeat", kind: "number or [repeat]", absent: "each workload's", doc: "Instead of the `repeat` of every `command` workload."},
		func(r *reader, at node, to *profile) { to.repeat = new(stopwatt.Repeat); r.repeat(at, to.repeat) }},
	{word{key: "params", kind: "names to lists of texts", absent: "each workload's", doc: "Other values of parameters, for every workload that has them."},
		func(r *reader, at node, to *profile) { to.params = r.parameters(at) }},
}

func (r *reader) rounds(at node, to *int) { r.count(at, "number of rounds", to, 1, mostRounds) }

func (r *reader) warmup(at node, to *time.Duration) {
	r.duration(at, "warmup", to, 0, time.Hour)
}

func (r *reader) settle(at node, to *time.Duration) {
	r.duration(at, "settle", to, 0, time.Hour)
}

func (r *reader) idle(at node, to *time.Duration) {
	r.duration(at, "idle", to, 0, time.Hour)
}

func (r *reader) profiles(at node) []profile {
	var all []profile
	r.named(at, "profile", func(name string, value node) {
		p := profile{name: name}
		decode(r, value, "profile "+brief(name), profileRows, &p)
		all = append(all, p)
	})
	return all
}

func (r *reader) overridingLoad(at node, to *profile) {
	noun := "load of profile " + brief(to.name)
	decode(r, at, noun, loadRows, &to.load)
	r.fitting(at, noun)
}

// suite reads the whole file.
func (r *reader) suite(root node, options Options) stopwatt.Suite {
	var d draft
	whole(r, root, "the file", suiteRows, &d)
	suite := stopwatt.Suite{
		Name:     d.name,
		Baseline: d.baseline,
		Plan:     d.plan.settings(),
		Judge:    d.judge,
		Control:  d.control,
		Meters:   d.meters,
		Profile:  options.Profile,
	}
	chosen := r.profile(root, d.plan.profiles, options.Profile)
	chosen.over(&suite)
	r.askedRounds(options.Rounds, &suite.Plan)
	var workloads []workload
	if d.workloads.kind != "" {
		workloads = r.workloads(d.workloads, chosen.params)
	}
	for _, w := range workloads {
		suite.Workloads = append(suite.Workloads, w.under(chosen))
	}
	for _, i := range d.implementations {
		suite.Implementations = append(suite.Implementations, r.overridden(i, workloads))
	}
	r.parametersUsed(d.workloads, d.implementations)
	r.parametersKnown(d.workloads, d.plan.profiles)
	r.baseline(root, &suite)
	r.control(root, suite)
	r.bounded(root, suite)
	r.nullAsked(root, suite)
	if len(r.faults) == 0 {
		r.runnable(root, suite)
		r.ownNames(root, suite)
	}
	return suite
}

// profile finds the profile that is asked for; with no name, it is one that
// says nothing.
func (r *reader) profile(root node, profiles []profile, name string) profile {
	if name == "" {
		return profile{}
	}
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if p.name == name {
			return p
		}
		names[i] = brief(p.name)
	}
	plan, _ := root.get("plan")
	if at, ok := plan.get("profiles"); ok {
		r.fault(at.owner, "there is no profile %s; there are: %s", brief(name), strings.Join(names, ", "))
	} else {
		r.fault(place{}, "there is no profile %s, the suite has none; add it to plan as profiles: {name: {rounds: 2}}", brief(name))
	}
	return profile{}
}

// parametersKnown checks that some workload has the parameters of each profile.
func (r *reader) parametersKnown(workloads node, profiles []profile) {
	var names []string
	for _, w := range workloads.entries {
		params, _ := w.value.get("params")
		names = append(names, params.keys()...)
	}
	for _, profile := range profiles {
		for _, p := range profile.params {
			if slices.Contains(names, p.name) {
				continue
			}
			if guess, near := nearest(p.name, names); near {
				r.fault(p.at, "no workload has a param %s; did you mean %s?", brief(p.name), brief(guess))
			} else {
				r.fault(p.at, "no workload has a param %s; write it there, or remove it here", brief(p.name))
			}
		}
	}
}

// over lays what the profile says over the suite's settings.
func (p profile) over(suite *stopwatt.Suite) {
	if p.rounds.most != 0 {
		suite.Plan.Rounds, suite.Plan.MinRounds = p.rounds.most, p.rounds.least
	}
	if p.budget != 0 {
		suite.Plan.Budget = p.budget
	}
	for _, setting := range []struct{ said, to *time.Duration }{
		{p.warmup, &suite.Plan.Warmup},
		{p.settle, &suite.Plan.Settle},
		{p.idle, &suite.Meters.Idle},
	} {
		if setting.said != nil {
			*setting.to = *setting.said
		}
	}
}

// askedRounds takes the rounds that are asked for beside the suite.
func (r *reader) askedRounds(asked int, to *stopwatt.PlanSettings) {
	switch {
	case asked == 0:
	case asked < 1 || asked > mostRounds:
		r.fault(place{}, "%d rounds are asked for; ask for 1 to %d", asked, mostRounds)
	default:
		to.Rounds, to.MinRounds = asked, asked
	}
}

// settings is the plan in the words of everybody.
func (p plan) settings() stopwatt.PlanSettings {
	return stopwatt.PlanSettings{
		Rounds: p.rounds.most, MinRounds: p.rounds.least, Budget: p.budget,
		Warmup: p.warmup, Settle: p.settle, Cooldown: p.cooldown, WithoutNullServer: !p.null,
	}
}

// baseline checks the baseline, or takes the first implementation.
func (r *reader) baseline(root node, suite *stopwatt.Suite) {
	at, written := root.get("baseline")
	if !written && len(suite.Implementations) > 0 {
		suite.Baseline = suite.Implementations[0].Name
	}
	if written {
		r.anImplementation(at, "baseline", suite.Baseline, *suite)
	}
}

// control checks the control.
func (r *reader) control(root node, suite stopwatt.Suite) {
	if at, written := root.get("control"); written {
		r.anImplementation(at, "control", suite.Control, suite)
	}
}

// anImplementation tells when a name is that of none.
func (r *reader) anImplementation(at node, noun, name string, suite stopwatt.Suite) {
	if at.kind != scalar || len(suite.Implementations) == 0 {
		return
	}
	var names []string
	for _, implementation := range suite.Implementations {
		names = append(names, implementation.Name)
	}
	if slices.Contains(names, name) {
		return
	}
	if guess, near := nearest(name, names); near {
		r.fault(at.at, "%s %s is no implementation; did you mean %s?", noun, brief(name), brief(guess))
	} else {
		r.fault(at.at, "%s %s is no implementation; write one of implementations", noun, brief(name))
	}
}

// bounded checks that the plan can be held in memory and in a lifetime.
func (r *reader) bounded(root node, suite stopwatt.Suite) {
	cases := len(suite.Implementations) * len(suite.Workloads)
	if trials := cases * suite.Plan.Rounds; trials > mostTrials {
		r.fault(root.at, "%d cases in %d rounds are %d trials, and a plan has at most %d; write fewer rounds", cases, suite.Plan.Rounds, trials, mostTrials)
	}
}

// nullAsked checks that a null server is asked what it can answer.
func (r *reader) nullAsked(root node, suite stopwatt.Suite) {
	if !slices.ContainsFunc(suite.Implementations, func(i stopwatt.Implementation) bool { return i.Null }) {
		return
	}
	for _, w := range suite.Workloads {
		if w.HTTP == nil || w.HTTP.TLS != nil || w.HTTP.Socket != "" || w.HTTP.Connects {
			at, _ := root.get("implementations")
			r.fault(at.owner, "the null server answers plain HTTP on a port, and workload %s is another; put the null server into a suite without it", brief(w.Name))
			return
		}
	}
}
