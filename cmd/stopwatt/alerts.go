package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// An alertsView says which alerts are asked for.
type alertsView struct {
	all           bool
	suite, format string
}

// alertsVerb is `stopwatt alerts`.
func (d *desk) alertsVerb() *cobra.Command {
	var v alertsView
	verb := &cobra.Command{
		Use:   "alerts",
		Short: "What became worse on the default branch, and what was said to it",
		Long: `Lists the changes for the worse on the default branch that nobody acknowledged yet.
An alert keeps its ID for as long as the change is found; it is resolved when a later
commit brings the level back, and withdrawn when it is no longer found.`,
		Example: `  stopwatt alerts
  stopwatt alerts --all --suite web-servers --format csv
  stopwatt alerts ack 3f2a9010 --why 'validates every line now'`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.tellAlerts(cmd.Context(), v) },
	}
	verb.Flags().BoolVar(&v.all, "all", false, "also those that were acknowledged, resolved or withdrawn")
	verb.Flags().StringVar(&v.suite, "suite", "", "of this suite alone")
	verb.Flags().StringVar(&v.format, "format", "text", "text, csv or json")
	verb.AddCommand(d.acknowledgeVerb())
	return verb
}

// tellAlerts prints the alerts that are asked for.
func (d *desk) tellAlerts(ctx context.Context, v alertsView) error {
	write := map[string]func(report.Alerts) error{
		"text": func(a report.Alerts) error { return report.AlertsText(d.stdout, a, terminalWidth(d.stdout)) },
		"csv":  func(a report.Alerts) error { return report.AlertsCSV(d.stdout, a) },
		"json": func(a report.Alerts) error { return report.AlertsJSON(d.stdout, a) },
	}[v.format]
	if write == nil {
		return askedWrongly(fmt.Errorf("--format %s: write text, csv or json", quote(v.format)))
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	query := storage.AlertQuery{Suite: v.suite}
	if !v.all {
		query.States = []stopwatt.AlertState{stopwatt.AlertOpen}
	}
	told := report.Alerts{All: v.all}
	if told.Alerts, err = store.Alerts(ctx, query); err != nil {
		return err
	}
	if told.Machines, err = store.MachineNames(ctx); err != nil {
		return err
	}
	return write(told)
}

// acknowledgeVerb is `stopwatt alerts ack`.
func (d *desk) acknowledgeVerb() *cobra.Command {
	var why, until string
	verb := &cobra.Command{
		Use:   "ack ALERT",
		Short: "Say that a change for the worse is meant, and why",
		Example: `  stopwatt alerts ack 3f2a9010 --why 'validates every line now'
  stopwatt alerts ack 3f2a --why 'a new board is on its way' --until 30d
  stopwatt alerts ack 3f2a --why 'to be mended in the next release' --until 2027-01-31`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return askedWrongly(errors.New("ack needs one alert\nusage: stopwatt alerts ack ALERT --why REASON"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.acknowledge(cmd.Context(), args[0], why, until)
		},
	}
	verb.Flags().StringVar(&why, "why", "", "`REASON` that others will read; needed")
	verb.Flags().StringVar(&until, "until", "", "it is open again from this `DATE` on, or after so long: 2027-01-31, 30d, 12h")
	return verb
}

// acknowledge stores what was said to an alert.
func (d *desk) acknowledge(ctx context.Context, id, why, until string) error {
	by := stopwatt.Acceptance{Reason: strings.Join(strings.Fields(why), " "), By: d.person(ctx), At: time.Now()}
	if by.Reason == "" {
		return askedWrongly(errors.New("say why it is meant: --why REASON"))
	}
	var err error
	if by.Until, err = untilWhen(until, by.At); err != nil {
		return askedWrongly(err)
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	alert, err := store.Acknowledge(ctx, id, by)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return askedWrongly(fmt.Errorf("there is no alert %s; stopwatt alerts --all lists them", quote(id)))
	case errors.Is(err, storage.ErrAmbiguous):
		return askedWrongly(fmt.Errorf("several alerts begin with %s; write more of it", quote(id)))
	case err != nil:
		return err
	}
	machines, err := store.MachineNames(ctx)
	if err != nil {
		return err
	}
	return report.AlertsText(d.stdout, report.Alerts{Alerts: []stopwatt.Alert{alert}, Machines: machines}, terminalWidth(d.stdout))
}

// untilWhen reads when an acknowledgement ends; never, when nothing is said.
func untilWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	wrong := fmt.Errorf("--until %s: write a date in the future, or how long, as in 2027-01-31, 30d or 12h", quote(text))
	if days, found := strings.CutSuffix(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || n == 0 {
			return time.Time{}, wrong
		}
		return now.AddDate(0, 0, int(n)), nil
	}
	if lasting, err := time.ParseDuration(text); err == nil && lasting > 0 {
		return now.Add(lasting), nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil && at.After(now) {
			return at, nil
		}
	}
	return time.Time{}, wrong
}

// person is who asks: whoever started the job, the name that git knows, or the
// user's.
func (d *desk) person(ctx context.Context) string {
	if name := d.getenv("GITLAB_USER_NAME"); name != "" && d.inCI() {
		return name
	}
	if repo, err := git.Open(ctx, "."); err == nil {
		repo.Getenv = d.getenv
		if name := repo.Person(ctx); name != "" {
			return name
		}
	}
	me, err := user.Current()
	if err != nil {
		return "somebody"
	}
	return cmp.Or(me.Name, me.Username)
}

// followAlerts carries the alerts of a series on now that it has been searched
// again, and acknowledges those that a commit among theirs accepts.
func (d *desk) followAlerts(ctx context.Context, store *storage.Store, run stopwatt.Run, metric stopwatt.Metric, one report.Traced) error {
	of := stopwatt.Alert{Project: run.Project, Suite: run.Suite, Profile: run.Profile, Case: one.Series.Case, Metric: metric}
	for _, search := range one.Searches {
		known, err := store.Alerts(ctx, storage.AlertQuery{
			Project: of.Project, Suite: of.Suite, Case: of.Case, Metric: metric.Name, Machine: search.Machine})
		if err != nil {
			return err
		}
		known = slices.DeleteFunc(known, func(a stopwatt.Alert) bool { return a.Profile != of.Profile })
		alerts := regression.FollowAlerts(known, of, search)
		if err := store.SaveAlerts(ctx, alerts); err != nil {
			return err
		}
		if err := d.acceptedByCommits(ctx, store, alerts); err != nil {
			return err
		}
	}
	return nil
}

// acceptedByCommits acknowledges open alerts that nobody has said anything to, where
// the message of a commit that may have brought the change accepts it.
func (d *desk) acceptedByCommits(ctx context.Context, store *storage.Store, alerts []stopwatt.Alert) error {
	for _, alert := range alerts {
		if alert.State != stopwatt.AlertOpen || alert.Accepted != nil {
			continue
		}
		messages, known := d.messagesOf(ctx, alert.Change)
		if !known {
			continue
		}
		if by := acceptedIn(messages, alert); by != nil {
			if _, err := store.Acknowledge(ctx, alert.ID, *by); err != nil {
				return err
			}
			fmt.Fprintf(d.stderr, "alert   %s  %s %s: accepted in %s: %s\n", alert.ID, report.Clean(alert.Case.String()), alert.Metric.Name,
				stopwatt.Commit{SHA: by.Commit}.Short(), report.Brief(by.Reason))
		}
	}
	return nil
}

// messagesOf are those of the commits that may have brought a change; not known
// outside the checkout, or where it is too shallow: then nobody is taken to have
// accepted it.
func (d *desk) messagesOf(ctx context.Context, change stopwatt.ChangePoint) (messages []git.Message, known bool) {
	if change.Past.SHA == "" {
		return nil, false
	}
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return nil, false
	}
	repo.Getenv = d.getenv
	messages, err = repo.Messages(ctx, change.Past.SHA, change.Reached.SHA)
	return messages, err == nil
}

// acceptedIn is what the youngest of these commits says that covers an alert; nil
// when none does.
func acceptedIn(messages []git.Message, alert stopwatt.Alert) *stopwatt.Acceptance {
	for _, message := range messages {
		acceptances, _ := jobs.Acceptances(message.Text, message.SHA, message.Author, message.Time) // the commit's own pipeline told its faults
		for _, a := range acceptances {
			if a.Covers(alert.Case, alert.Metric.Name, message.Time) {
				return &a
			}
		}
	}
	return nil
}
