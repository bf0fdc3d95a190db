package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/runfile"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// An exportOrder says which runs are to be written.
type exportOrder struct {
	runs         []string
	suite, since string
}

// exportVerb is `stopwatt export`.
func (d *desk) exportVerb() *cobra.Command {
	var order exportOrder
	verb := &cobra.Command{
		Use:   "export [RUN...]",
		Short: "Write whole runs as lines of JSON",
		Long: `Writes runs with all that is stored of them, for another database or beside a paper:
settings, images, machine, commits, pipeline and labels, every trial with its
figures, samples and latencies, idle power, summaries and verdicts. stopwatt import
reads the file. Runs that have not ended are left out.`,
		Example: `  stopwatt export > runs.jsonl
  stopwatt export 412 413 > two.jsonl
  stopwatt export --suite web-servers --since 30d | zstd > servers.jsonl.zst
  stopwatt import runs.jsonl --db postgres://bench@db.example.org/bench`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			order.runs = args
			return d.export(cmd.Context(), order)
		},
	}
	verb.Flags().StringVar(&order.suite, "suite", "", "of this suite alone")
	verb.Flags().StringVar(&order.since, "since", "", "begun on this `DATE` or later, or so long ago: 2026-11-01, 30d")
	return verb
}

// query is what an order asks the database for.
func (o exportOrder) query(now time.Time) (storage.EndedQuery, error) {
	query := storage.EndedQuery{Suite: o.suite}
	for _, name := range o.runs {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil || id < 1 {
			return query, fmt.Errorf("run %s is no number; stopwatt sql 'select run, suite, started from runs' lists them", quote(name))
		}
		query.IDs = append(query.IDs, id)
	}
	if o.since == "" {
		return query, nil
	}
	var err error
	if query.Since, err = momentOf(o.since, now); err != nil {
		return query, fmt.Errorf("--since %w", err)
	}
	return query, nil
}

// export writes the runs that are asked for to standard output.
func (d *desk) export(ctx context.Context, order exportOrder) error {
	query, err := order.query(time.Now())
	if err != nil {
		return askedWrongly(err)
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	ids, err := store.EndedRuns(ctx, query)
	if err != nil {
		return err
	}
	if len(query.IDs) > 0 && len(ids) < len(query.IDs) {
		return askedWrongly(fmt.Errorf("%d of the %d runs that are asked for are stored and have ended; stopwatt sql 'select run, status from runs' lists them", len(ids), len(query.IDs)))
	}
	buffered := bufio.NewWriter(d.stdout)
	out := runfile.NewWriter(buffered)
	if err := out.Begin(); err != nil {
		return err
	}
	for _, id := range ids {
		if err := exportRun(ctx, store, out, id); err != nil {
			return err
		}
	}
	if err := buffered.Flush(); err != nil {
		return surroundings(fmt.Errorf("write the export: %w", err))
	}
	fmt.Fprintf(d.stderr, "export  %s\n", plural(len(ids), "run"))
	return nil
}

// exportRun writes one run. Samples are read trial by trial: they are a thousand
// times as large as the rest.
func exportRun(ctx context.Context, store *storage.Store, out *runfile.Writer, id int64) error {
	results, err := store.Results(ctx, id)
	if err != nil {
		return err
	}
	if err := out.Run(results.Run); err != nil {
		return err
	}
	trials, err := store.Trials(ctx, id)
	if err != nil {
		return err
	}
	for _, trial := range trials {
		if trial.Samples, err = store.Samples(ctx, id, trial.PlannedTrial); err != nil {
			return err
		}
		if err := out.Trial(trial); err != nil {
			return err
		}
	}
	summaries := []stopwatt.Summary{}
	for _, result := range results.Cases {
		summaries = append(summaries, result.Summaries...)
	}
	if err := out.Summaries(summaries); err != nil {
		return err
	}
	if err := exportSaid(ctx, store, out, id); err != nil {
		return err
	}
	return out.End()
}

// exportSaid writes what was said about a run.
func exportSaid(ctx context.Context, store *storage.Store, out *runfile.Writer, id int64) error {
	judgements, err := store.Judgements(ctx, id)
	if err != nil {
		return err
	}
	for _, j := range judgements {
		if err := out.Judgement(runfile.Judgement{Taken: j.Taken, Said: j.Judgement}); err != nil {
			return err
		}
	}
	calibrations, err := store.Calibrations(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range calibrations {
		if err := out.Calibration(c); err != nil {
			return err
		}
	}
	return nil
}

// ofRuns tells whether a file is one that export has written.
func ofRuns(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close() // which was only read from
	beginning := make([]byte, 64)
	n, err := io.ReadFull(file, beginning)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return runfile.Looks(beginning[:n]), nil
}

// filesOfRuns tells whether export has written the files; all of them or none.
func filesOfRuns(names []string) (bool, error) {
	count := 0
	for _, name := range names {
		runs, err := ofRuns(name)
		if err != nil {
			return false, err
		}
		if runs {
			count++
		}
	}
	if count > 0 && count < len(names) {
		return false, errors.New("some of the files are of stopwatt export and some are not; import them one after the other")
	}
	return count > 0, nil
}

// importRuns stores the runs of files that export has written, each whole or not at
// all. What was stored before a file turns out to be bad stays.
func (d *desk) importRuns(ctx context.Context, names []string) error {
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	for _, name := range names {
		if err := d.importRunFile(ctx, store, name); err != nil {
			return err
		}
	}
	return nil
}

func (d *desk) importRunFile(ctx context.Context, store *storage.Store, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return askedWrongly(err)
	}
	defer file.Close() // which was only read from
	in := runfile.NewReader(name, file)
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := d.restoreRun(ctx, store, in, *line.Run); err != nil {
			return err
		}
	}
}

// restoreRun stores a run whose first line has been read, unless it is stored.
func (d *desk) restoreRun(ctx context.Context, store *storage.Store, in *runfile.Reader, run stopwatt.Run) error {
	id, stored, err := store.Restore(ctx, run, func(r *storage.Restoration) error {
		return eachLine(in, func(line runfile.Line) error { return restoreLine(ctx, r, line) })
	})
	if err == nil && stored { // its lines are read all the same: a bad file is to be told
		err = eachLine(in, func(runfile.Line) error { return nil })
	}
	switch {
	case err == nil:
	case errors.Is(err, stopwatt.ErrUnreachable) || ctx.Err() != nil:
		return err
	default:
		return askedWrongly(in.Place(err))
	}
	state := ""
	if stored {
		state = ", stored before"
	}
	fmt.Fprintf(d.stdout, "run %d  %s on %s, begun %s%s\n", id, report.Clean(run.Suite), report.Clean(run.Machine.Name), run.Started.UTC().Format(time.DateTime), state)
	return nil
}

// eachLine does something with each line of a run, until its end.
func eachLine(in *runfile.Reader, do func(runfile.Line) error) error {
	for {
		line, err := in.Next()
		if err != nil || line.End != nil {
			return err
		}
		if err := do(line); err != nil {
			return err
		}
	}
}

func restoreLine(ctx context.Context, r *storage.Restoration, line runfile.Line) error {
	switch {
	case line.Trial != nil:
		return r.Trial(ctx, *line.Trial)
	case line.Summaries != nil:
		return r.Summaries(ctx, *line.Summaries)
	case line.Judgement != nil:
		return r.Judgement(ctx, line.Judgement.Said, line.Judgement.Taken)
	}
	return r.Calibration(ctx, *line.Calibration)
}
