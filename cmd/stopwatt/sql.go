package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// mostRows bounds what stopwatt sql prints.
const mostRows = 100_000

// sqlVerb is `stopwatt sql`.
func (d *desk) sqlVerb() *cobra.Command {
	var format string
	verb := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Ask the database, read-only, over the documented views",
		Long:  "Runs one query, read-only, over the views of docs/sql.md: runs, trials, results, measurements.",
		Example: `  stopwatt sql 'select * from runs order by started desc limit 5'
  stopwatt sql --format csv "select implementation, mean from results where metric = 'time'"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return askedWrongly(fmt.Errorf("write the query as one argument, in quotes\nusage: %s", cmd.UseLine()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return d.sql(cmd.Context(), args[0], format) },
	}
	verb.Flags().StringVar(&format, "format", "text", "text, csv or json")
	return verb
}

// sql runs one query and prints its rows.
func (d *desk) sql(ctx context.Context, query, format string) error {
	write, known := map[string]func(columns []string, rows [][]any) error{
		"text": func(columns []string, rows [][]any) error {
			return report.Table(d.stdout, columns, rows, terminalWidth(d.stdout))
		},
		"csv":  func(columns []string, rows [][]any) error { return report.TableCSV(d.stdout, columns, rows) },
		"json": func(columns []string, rows [][]any) error { return report.TableJSON(d.stdout, columns, rows) },
	}[format]
	if !known {
		return askedWrongly(fmt.Errorf("--format %s: write text, csv or json", quote(format)))
	}
	asked, release, err := d.openAsked(ctx)
	if err != nil {
		return err
	}
	defer release()
	answer, err := asked.Query(ctx, query, mostRows)
	if errors.Is(err, stopwatt.ErrUnreachable) {
		return surroundings(err)
	}
	if err != nil {
		return askedWrongly(err)
	}
	if answer.Cut {
		fmt.Fprintf(d.stderr, "only the first %d rows are shown; add limit, or ask for less\n", len(answer.Rows))
	}
	return write(answer.Columns, answer.Rows)
}

// An askedDatabase answers statements.
type askedDatabase interface {
	Query(ctx context.Context, sql string, limit int) (storage.Answer, error)
}

// openAsked opens the database, as a reader where the role is one.
func (d *desk) openAsked(ctx context.Context) (askedDatabase, func(), error) {
	store, release, err := d.openStore(ctx)
	if !errors.Is(err, storage.ErrMayNotStore) {
		return store, release, err
	}
	return d.openArchive(ctx)
}
