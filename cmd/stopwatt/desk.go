package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// A desk is where one command line is dealt with: what the environment says,
// where output goes, and the flags that all verbs share.
type desk struct {
	getenv         func(string) string
	stdout, stderr io.Writer
	database       string // --db
}

// commands is the command line: every verb, and the flags they share.
func (d *desk) commands() *cobra.Command {
	root := &cobra.Command{
		Use:   "stopwatt",
		Short: "Benchmarks several implementations of the same thing, in Docker",
		Long: `stopwatt benchmarks several implementations of the same thing, in Docker:
it builds and starts each one, drives load at it (or times a command, or runs a
harness), stores every result in Postgres under its commit, shows which is slower
or hungrier, and says of a change whether it made anything worse.`,
		Example: `  stopwatt init                      write a starter stopwatt.yml
  stopwatt check                     faults and plan; starts nothing
  stopwatt run --profile short       build, measure, store, print
  stopwatt run --against main        what got worse or better since, and how sure
  stopwatt show                      the latest run again
  stopwatt sql 'select * from runs'  anything else`,
		Version:       toolVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.PersistentFlags().StringVar(&d.database, "db", "", "Postgres to use `URL` (default $STOPWATT_DATABASE, else a private one)")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return askedWrongly(err) })
	root.AddCommand(d.runVerb(), d.ciVerb(), d.checkVerb(), d.initVerb(), d.showVerb(), d.compareVerb(), d.calibrateVerb(), d.historyVerb(), d.serveVerb(), d.reportVerb(),
		d.importVerb(), d.sqlVerb(), d.doctorVerb(), d.migrateVerb(), d.cleanVerb(), d.versionVerb(), d.keeperVerb())
	root.AddCommand(d.alertsVerb(), d.exportVerb(), d.pruneVerb(), d.syncVerb())
	root.AddCommand(d.backfillVerb(), d.bisectVerb())
	return root
}

// unknownVerb names the verbs that were perhaps meant.
func unknownVerb(cmd *cobra.Command, verb string) error {
	message := "there is no verb " + quote(verb)
	if near := cmd.SuggestionsFor(verb); len(near) > 0 {
		message += "; did you mean " + near[0] + "?"
	}
	return askedWrongly(errors.New(message + "\nstopwatt --help lists them"))
}

// exactly makes a check of the number of arguments whose error names the verb's use.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.MaximumNArgs(n)(cmd, args); err != nil {
			return askedWrongly(errors.New("too many arguments\nusage: " + cmd.UseLine()))
		}
		return nil
	}
}

// between is like atMost for a verb that cannot do without some.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return askedWrongly(errors.New("too few arguments\nusage: " + cmd.UseLine()))
		}
		return atMost(most)(cmd, args)
	}
}

// first is the first argument, or empty.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// dataFolder is where stopwatt keeps what lasts: $XDG_DATA_HOME/stopwatt, else
// ~/.local/share/stopwatt, else, without a home, /var/lib/stopwatt.
func (d *desk) dataFolder() string {
	if data := d.getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "stopwatt")
	}
	if home := d.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "stopwatt")
	}
	return rootFolder
}

// rootFolder is where root's data lie. A test has them elsewhere.
var rootFolder = "/var/lib/stopwatt"

// inCI tells whether a pipeline runs this command.
func (d *desk) inCI() bool { return d.getenv("CI") == "true" }

// terminalWidth is the width of w in columns when it is a terminal, else 0.
func terminalWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}
