package jobs

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// AtBase are the workloads of a head's suite as they are asked of its base: each
// answer is checked by what the base's own suite expects where that asks the same,
// and by what the head expects where it does not. Differing names those of which the
// two expect different answers.
func AtBase(base, head stopwatt.Suite) (asked map[string]stopwatt.Workload, differing []string) {
	asked = map[string]stopwatt.Workload{}
	for _, workload := range head.Workloads {
		was, known := base.Workload(workload.Name)
		own := workload
		if known {
			own = expectedBy(was, workload)
		}
		asked[workload.Name] = own
		if !alike(own, workload) {
			differing = append(differing, workload.Name)
		}
	}
	return asked, differing
}

// expectedBy is a workload of the head whose answers are those that the base expects.
func expectedBy(was, now stopwatt.Workload) stopwatt.Workload {
	switch {
	case was.HTTP != nil && now.HTTP != nil:
		http := *now.HTTP
		http.Expect = expectOf(was.HTTP.Asks(), stopwatt.Ask{Request: now.HTTP.Request, Expect: now.HTTP.Expect})
		http.Others = slices.Clone(now.HTTP.Others)
		for i, ask := range http.Others {
			http.Others[i].Expect = expectOf(was.HTTP.Asks(), ask)
		}
		now.HTTP = &http
	case was.Command != nil && now.Command != nil && sameProgram(was.Command.Program, now.Command.Program):
		command := *now.Command
		command.OKExit, command.Output.SHA256 = was.Command.OKExit, was.Command.Output.SHA256
		now.Command = &command
	case was.Harness != nil && now.Harness != nil && sameProgram(was.Harness.Program, now.Harness.Program):
		harness := *now.Harness
		harness.OKExit = was.Harness.OKExit
		now.Harness = &harness
	}
	return now
}

// expectOf is what one of these expects of the same request as another; else what
// that expects itself.
func expectOf(all []stopwatt.Ask, of stopwatt.Ask) stopwatt.Expect {
	for _, ask := range all {
		if sameRequest(ask.Request, of.Request) {
			expect := ask.Expect
			expect.CheckOneIn = of.Expect.CheckOneIn // how often it is looked at is the load's matter
			return expect
		}
	}
	return of.Expect
}

func sameRequest(a, b stopwatt.Request) bool {
	return a.Method == b.Method && a.Path == b.Path && maps.Equal(a.Headers, b.Headers) && bytes.Equal(a.Body, b.Body)
}

func sameProgram(a, b stopwatt.Program) bool {
	return slices.Equal(a.Run, b.Run) && bytes.Equal(a.Stdin, b.Stdin)
}

// alike tells whether two forms of a workload expect the same answers.
func alike(a, b stopwatt.Workload) bool {
	switch {
	case a.HTTP != nil:
		return a.HTTP.Expect == b.HTTP.Expect && reflect.DeepEqual(a.HTTP.Others, b.HTTP.Others)
	case a.Command != nil:
		return slices.Equal(a.Command.OKExit, b.Command.OKExit) && a.Command.Output.SHA256 == b.Command.Output.SHA256
	case a.Harness != nil:
		return slices.Equal(a.Harness.OKExit, b.Harness.OKExit)
	}
	return true
}

// Removed are the cases of a base that its head has no more.
func Removed(base, head stopwatt.Suite) []stopwatt.Case {
	now := head.Cases()
	return slices.DeleteFunc(base.Cases(), func(c stopwatt.Case) bool { return slices.Contains(now, c) })
}

// Changes says in words how a head's suite differs from its base's in what decides
// a verdict: judge, plan, and what is expected and asked of each workload.
func Changes(base, head stopwatt.Suite) []string {
	changes := slices.Concat(judgeChanges(base.Judge, head.Judge), planChanges(base.Plan, head.Plan))
	if base.Control != head.Control {
		changes = append(changes, fmt.Sprintf("control: %s → %s", orNone(base.Control), orNone(head.Control)))
	}
	_, differing := AtBase(base, head)
	for _, now := range head.Workloads {
		was, known := base.Workload(now.Name)
		if !known {
			continue // it is new
		}
		if slices.Contains(differing, now.Name) {
			changes = append(changes, "expect of "+now.Name)
		}
		if !reflect.DeepEqual(asks(was), asks(now)) {
			changes = append(changes, "what is asked of "+now.Name)
		}
		if !reflect.DeepEqual(was.Load, now.Load) {
			changes = append(changes, "load of "+now.Name)
		}
	}
	return changes
}

// asks is a workload without its load and without what it expects.
func asks(w stopwatt.Workload) stopwatt.Workload {
	w.Load = stopwatt.Load{}
	switch {
	case w.HTTP != nil:
		http := *w.HTTP
		http.Expect, http.Others = stopwatt.Expect{}, slices.Clone(http.Others)
		for i := range http.Others {
			http.Others[i].Expect = stopwatt.Expect{}
		}
		w.HTTP = &http
	case w.Command != nil:
		command := *w.Command
		command.OKExit, command.Output.SHA256 = nil, ""
		w.Command = &command
	case w.Harness != nil:
		harness := *w.Harness
		harness.OKExit = nil
		w.Harness = &harness
	}
	return w
}

func judgeChanges(base, head stopwatt.Judge) []string {
	var changes []string
	names := slices.Sorted(maps.Keys(thresholds(base, head)))
	for _, name := range names {
		was, now := thresholds(base)[name], thresholds(head)[name]
		if was != now {
			changes = append(changes, fmt.Sprintf("judge of %s: %s → %s", name, inPercent(was), inPercent(now)))
		}
	}
	if (len(base.Metrics) == 0) != (len(head.Metrics) == 0) {
		changes = append(changes, fmt.Sprintf("judge: %s → %s", defaultOr(base), defaultOr(head)))
	}
	if failing(base) != failing(head) {
		changes = append(changes, fmt.Sprintf("fail-on: %s → %s", failing(base), failing(head)))
	}
	if base.Net != head.Net {
		changes = append(changes, fmt.Sprintf("judged energy: %s → %s", grossOrNet(base.Net), grossOrNet(head.Net)))
	}
	if base.Differing != head.Differing {
		changes = append(changes, fmt.Sprintf("differing-answers: %t → %t", base.Differing, head.Differing))
	}
	return changes
}

// thresholds are those of some judges, by metric.
func thresholds(judges ...stopwatt.Judge) map[string]float64 {
	all := map[string]float64{}
	for _, judge := range judges {
		for _, threshold := range judge.Metrics {
			all[threshold.Metric] = threshold.Relative
		}
	}
	return all
}

func inPercent(share float64) string {
	if share == 0 {
		return "none"
	}
	return strconv.FormatFloat(100*share, 'g', 4, 64) + " %"
}

func defaultOr(judge stopwatt.Judge) string {
	if len(judge.Metrics) == 0 {
		return "the default metrics"
	}
	return "metrics of its own"
}

func failing(judge stopwatt.Judge) string {
	var words []string
	for _, verdict := range []stopwatt.Verdict{stopwatt.Regressed, stopwatt.Undecided} {
		if judge.Fails(verdict) {
			words = append(words, string(verdict))
		}
	}
	return orNone(strings.Join(words, ", "))
}

func grossOrNet(net bool) string {
	if net {
		return "net"
	}
	return "gross"
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func planChanges(base, head stopwatt.PlanSettings) []string {
	var changes []string
	if base.Rounds != head.Rounds || base.MinRounds != head.MinRounds {
		changes = append(changes, fmt.Sprintf("rounds: %s → %s", rounds(base), rounds(head)))
	}
	for _, setting := range []struct {
		name      string
		was, then time.Duration
	}{
		{"budget", base.Budget, head.Budget},
		{"warmup", base.Warmup, head.Warmup},
		{"cooldown", base.Cooldown, head.Cooldown},
	} {
		if setting.was != setting.then {
			changes = append(changes, fmt.Sprintf("%s: %v → %v", setting.name, setting.was, setting.then))
		}
	}
	return changes
}

func rounds(plan stopwatt.PlanSettings) string {
	if plan.MinRounds == plan.Rounds {
		return strconv.Itoa(plan.Rounds)
	}
	return fmt.Sprintf("%d to %d", plan.MinRounds, plan.Rounds)
}
