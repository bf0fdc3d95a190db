package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// A screen shows how a run goes on: on a terminal a bar with the time left and
// the trial that runs, redrawn in place; elsewhere one line a trial.
type screen struct {
	out   io.Writer
	width int // columns of the terminal; 0: none

	every time.Duration // without a terminal: a line of a trial no more often than this; 0: of each
	told  time.Time     // when the last such line was written

	bars  *mpb.Progress // nil without a terminal
	build *mpb.Bar
	began time.Time                // of the build, or of the run
	logs  map[stopwatt.Case]string // of which a log was shown, for which reason

	mu       sync.Mutex // guards what follows: bars are drawn by a goroutine of mpb
	rounds   *mpb.Bar
	lines    []*mpb.Bar // below it
	run      stopwatt.Run
	round    int
	position int
	left     timeLeft
	now      string
	last     string
}

// newScreen makes a screen that writes to out. A width of 0 means that out is
// no terminal.
func newScreen(out io.Writer, width int) *screen {
	s := &screen{out: out, width: width, logs: map[stopwatt.Case]string{}}
	if width > 0 {
		s.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(min(width, 80)), mpb.WithRefreshRate(200*time.Millisecond))
	}
	return s
}

// barStyle is the bar of all drafts: [####----].
func barStyle() mpb.BarStyleComposer {
	return mpb.BarStyle().Lbound("[").Filler("#").Tip("#").Padding("-").Rbound("]")
}

// line prints a line that stays, above whatever is redrawn.
func (s *screen) line(format string, values ...any) {
	text := fmt.Sprintf(format, values...) + "\n"
	if s.bars != nil {
		_, _ = s.bars.Write([]byte(text)) // a terminal that has gone away
		return
	}
	_, _ = io.WriteString(s.out, text)
}

// buildBegins shows that an image is being made.
func (s *screen) buildBegins(implementation string) {
	s.began = time.Now()
	if s.bars == nil {
		s.line("build   %-18s begins", implementation)
		return
	}
	s.build = s.bars.New(1, barStyle(),
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("build   %-18s ", implementation))),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			return fmt.Sprintf(" %s", duration(time.Since(s.began)))
		})),
	)
}

// buildStep shows how far it is.
func (s *screen) buildStep(_ string, step stopwatt.BuildStep) {
	if s.build == nil || step.Total == 0 {
		return
	}
	s.build.SetTotal(int64(step.Total), false)
	s.build.SetCurrent(int64(min(step.Done, step.Total-1)))
}

// buildEnded shows what became of it.
func (s *screen) buildEnded(implementation string, image stopwatt.Image) {
	s.dropBuild()
	how := "done"
	if image.Reused {
		how = "there already"
	}
	s.line("build   %-18s %-13s %8s  %s", implementation, how, duration(time.Since(s.began)), value("image_size", float64(image.Bytes)))
}

// buildFailed shows that nothing became of it; why is told in the end.
func (s *screen) buildFailed(implementation string) {
	s.dropBuild()
	s.line("build   %-18s failed        %8s", implementation, duration(time.Since(s.began)))
}

// buildNone shows that there is nothing to make it from.
func (s *screen) buildNone(implementation string) {
	s.dropBuild()
	s.line("build   %-18s not there yet", implementation)
}

// dropBuild removes the bar of the build that is shown, if there is one.
func (s *screen) dropBuild() {
	if s.build != nil {
		s.build.Abort(true)
		s.build.Wait()
		s.build = nil
	}
}

// settled shows that the machine is quiet again, or was waited for in vain.
func (s *screen) settled(waited time.Duration, before, after stopwatt.MachineReading) {
	text := fmt.Sprintf("load %.2f", after.Load[0])
	if before.Absent["Temperature"] == "" && after.Absent["Temperature"] == "" {
		text += fmt.Sprintf(", %d °C (before the builds %d °C)", after.Temperature/1000, before.Temperature/1000)
	}
	s.line("settle  %-41s %8s", text, duration(waited))
}

// DriverShare shows what the driver takes by itself.
func (s *screen) DriverShare(share stopwatt.DriverShare) {
	text := "not measured"
	if cpu, known := share.Value("driver_cpu_request"); known {
		text = value("driver_cpu_request", cpu) + " of CPU a request"
	}
	s.line("driver  %-18s by itself: %-30s %8s", share.Workload, text, duration(share.Window.Duration()))
}

// Idle shows what the machine draws while it does nothing.
func (s *screen) Idle(window stopwatt.IdleWindow) {
	var powers []string
	for _, power := range window.Powers {
		if power.Absent != "" {
			powers = append(powers, power.Meter+" –")
			continue
		}
		powers = append(powers, fmt.Sprintf("%s %.2f ± %.2f W", power.Meter, power.Watts, power.Error))
	}
	text := strings.Join(powers, " · ")
	if text == "" {
		text = "no energy meter: stopwatt doctor says why"
	}
	s.line("idle    %-41s %8s", text, duration(window.Window.Duration()))
}

// Planned says what will be done, and begins the bar.
func (s *screen) Planned(run stopwatt.Run, done int) {
	s.run, s.began, s.position = run, time.Now(), done
	s.line("%s", headline(run))
	switch {
	case done > run.Planned: // of which some confirm what was suspected
		s.line("continue run %d: %d trials are there already", run.ID, done)
	case done > 0:
		s.line("continue run %d: %d of %d trials are there already", run.ID, done, run.Planned)
	}
	if s.bars == nil {
		return
	}
	s.rounds = s.bars.New(int64(run.Planned), barStyle(),
		mpb.PrependDecorators(decor.Any(s.roundText)),
		mpb.AppendDecorators(decor.Any(s.leftText)),
	)
	s.rounds.SetCurrent(int64(done))
	s.lines = []*mpb.Bar{
		s.textLine("now     ", &s.now),
		s.textLine("last    ", &s.last),
	}
}

// headline names the run: what, of which commit, where, by which seed.
func headline(run stopwatt.Run) string {
	commit := run.Checkout.Commit.Short()
	if commit == "" {
		commit = "no commit"
	}
	state := []string{"clean"}
	if run.Checkout.Dirty {
		state = []string{"dirty"}
	}
	if run.Checkout.Branch != "" {
		state = append([]string{report.Clean(run.Checkout.Branch)}, state...)
	}
	head := fmt.Sprintf("%s (%s)", commit, strings.Join(state, ", "))
	if run.Against.Commit.SHA != "" {
		head += " against " + run.Against.Commit.Short()
	}
	return fmt.Sprintf("%s · head %s · %s · seed %d\n%s in %s",
		run.Suite, head, report.Clean(run.Machine.Name), run.Seed, plural(run.Planned, "trial"), plural(run.Rounds, "round"))
}

// Begins shows the trial that runs.
func (s *screen) Begins(planned stopwatt.PlannedTrial, position int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.round, s.position = planned.Round, position
	s.now = planned.Case.String()
	s.left.begin(time.Now())
}

// Ended shows what a trial has come to.
func (s *screen) Ended(trial stopwatt.Trial) {
	s.mu.Lock()
	s.left.end(time.Now())
	s.last = told(trial)
	s.mu.Unlock()
	defer s.tellLog(trial)
	if s.bars == nil {
		s.tellTrial(trial, time.Now())
		return
	}
	if trial.Status == stopwatt.Invalid {
		s.line("invalid %s, round %d: %s", trial.Case, trial.Round, firstLine(trial.Reason))
	}
	s.rounds.Increment()
}

// tellTrial writes the line of a trial, where it is time for one: a log of thousands
// hides what matters. What is invalid is always told.
func (s *screen) tellTrial(trial stopwatt.Trial, now time.Time) {
	if now.Sub(s.told) < s.every && trial.Status == stopwatt.Valid && trial.Position < s.run.Planned {
		return
	}
	s.told = now
	s.line("%s %s trial %d/%d %s", now.Format(time.TimeOnly), roundOf(trial.Round, s.run.Rounds), trial.Position, s.run.Planned, told(trial))
}

// Stopped shows why no more rounds are begun.
func (s *screen) Stopped(why string) { s.line("stopped %s", why) }

// Judged shows what a look has come to, and makes the bar longer by what is ahead.
func (s *screen) Judged(judgement stopwatt.Judgement, ahead int) {
	s.line("%s", lookLine(judgement, ahead))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.Planned = s.position + ahead
	s.run.Rounds = judgement.Procedure.Rounds()
	if s.bars != nil && s.rounds != nil && ahead > 0 {
		s.rounds.SetTotal(s.rounds.Current()+int64(ahead), false)
	}
}

// lookLine is a look in one line.
func lookLine(judgement stopwatt.Judgement, ahead int) string {
	if judgement.Look == 0 {
		return fmt.Sprintf("judging after %s, %s together", roundsOf(judgement.Procedure), plural(judgement.Family, "comparison"))
	}
	text := fmt.Sprintf("look    %d: %s", judgement.Look, report.Answer(judgement))
	switch {
	case judgement.Stopped != "":
		text += "; stopped: " + judgement.Stopped
	case judgement.Confirming:
		text += fmt.Sprintf("; %s to confirm what is suspected", plural(ahead, "trial"))
	case ahead > 0:
		text += fmt.Sprintf("; %s until the next look", plural(ahead, "trial"))
	}
	return text
}

// roundsOf lists the rounds after which a procedure looks: "12, 20 and 32 rounds".
func roundsOf(procedure stopwatt.Procedure) string {
	var rounds []string
	for _, look := range procedure.Looks {
		rounds = append(rounds, fmt.Sprint(look.Rounds))
	}
	if n := len(rounds); n > 1 {
		return strings.Join(rounds[:n-1], ", ") + " and " + rounds[n-1] + " rounds"
	}
	return strings.Join(rounds, "") + " rounds"
}

// tellLog shows what stands behind the first line of an invalid trial's reason,
// the log of its server, the first time that a case has this reason.
func (s *screen) tellLog(trial stopwatt.Trial) {
	lines := strings.Split(trial.Reason, "\n")
	if len(lines) < 2 || s.logs[trial.Case] == lines[0] {
		return
	}
	s.logs[trial.Case] = lines[0]
	for _, line := range lines[1:] {
		s.line("        %s", report.Brief(line))
	}
}

// told is a trial in a few words.
func told(trial stopwatt.Trial) string {
	name := trial.Case.String()
	if trial.Revision == stopwatt.Base {
		name += " (base)"
	}
	if trial.Status == stopwatt.Invalid {
		return fmt.Sprintf("%s invalid: %s", name, firstLine(trial.Reason))
	}
	words := []string{name + " ok"}
	for _, figure := range []struct{ label, metric string }{{"", "time"}, {"", "throughput"}, {"p99 ", "latency_p99"}, {"cpu ", "cpu_server"}} {
		if v, ok := trial.Value(figure.metric); ok {
			words = append(words, figure.label+value(figure.metric, v))
		}
	}
	for _, doubt := range trial.Warnings {
		words = append(words, "noted: "+report.Clean(doubt))
	}
	return strings.Join(words, "  ")
}

// value is a metric's value with its unit, for people.
func value(metric string, v float64) string {
	known, _ := stopwatt.MetricNamed(metric)
	return report.Value(known, v)
}

// firstLine is the first line of foreign text, fit for a terminal.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return report.Brief(strings.TrimSuffix(line, "; its last lines:"))
}

// close leaves the screen as it is, or, after an interruption, without the bar.
func (s *screen) close() {
	if s.bars == nil {
		return
	}
	if s.rounds != nil {
		s.rounds.Abort(false)
	}
	for _, line := range s.lines {
		line.Abort(false)
	}
	s.bars.Wait()
}

// roundText stands before the bar.
func (s *screen) roundText(decor.Statistics) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return roundOf(s.round, s.run.Rounds) + " "
}

// roundOf says which round it is. Those behind the last are fresh pairs of what is
// suspected.
func roundOf(round, rounds int) string {
	if round > rounds {
		return fmt.Sprintf("confirm %d", round-rounds)
	}
	return fmt.Sprintf("round %d/%d", round, rounds)
}

// leftText stands behind the bar.
func (s *screen) leftText(at decor.Statistics) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(" %d/%d  %s", at.Current, at.Total, duration(time.Since(s.began)))
	if left, known := s.left.of(int(at.Total - at.Current)); known {
		text += ", " + duration(left) + " left"
	}
	return text
}

// textLine is a bar without a bar: one line of text that is redrawn in place.
func (s *screen) textLine(label string, text *string) *mpb.Bar {
	return s.bars.New(1, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return label + clip(*text, s.width-len(label)-1)
	})))
}

// clip cuts a line to a width in characters.
func clip(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= max(width, 1) {
		return line
	}
	return string(runes[:max(width-1, 0)]) + "…"
}

// duration is a stretch of time for people: 0.4 s, 48 s, 12 min, 1 h 12 min.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// timeLeft guesses how long the rest takes from how long trials took.
type timeLeft struct {
	began time.Time
	spent time.Duration
	done  int
}

func (l *timeLeft) begin(at time.Time) { l.began = at }

func (l *timeLeft) end(at time.Time) {
	l.spent += at.Sub(l.began)
	l.done++
}

// of is how long this many trials will take; nothing is known before the first.
func (l *timeLeft) of(trials int) (time.Duration, bool) {
	if l.done == 0 {
		return 0, false
	}
	return l.spent / time.Duration(l.done) * time.Duration(trials), true
}
