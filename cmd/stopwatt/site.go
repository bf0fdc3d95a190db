package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/web"
)

// siteBound is how long one question of a site may take: nobody waits for a page of
// it.
const siteBound = time.Minute

// A reportView says what is written as files.
type reportView struct{ suite, out, site string }

// reportVerb is `stopwatt report`.
func (d *desk) reportVerb() *cobra.Command {
	var v reportView
	verb := &cobra.Command{
		Use:   "report [RUN]",
		Short: "A stored run as a report folder, or the history as a site of files",
		Long: `Writes the report folder of a stored run, the one of this number or the latest: a
page, tables and all figures.

With --site, the whole history as plain files with links between them: the pages of
stopwatt serve, for GitLab Pages or any web server that serves files.`,
		Example: `  stopwatt report 412 --out report-412
  stopwatt report --site public`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case v.site != "" && (len(args) > 0 || v.out != "" || v.suite != ""):
				return askedWrongly(errors.New("--site writes the whole history: leave out the run, --suite and --out"))
			case v.site != "":
				return d.writeSite(cmd.Context(), v.site)
			}
			return d.reportStored(cmd.Context(), first(args), v)
		},
	}
	verb.Flags().StringVar(&v.suite, "suite", "", "the latest run of this suite")
	verb.Flags().StringVar(&v.out, "out", "", "`FOLDER` of the report (default: as after a run)")
	verb.Flags().StringVar(&v.site, "site", "", "`FOLDER` of the whole history's pages")
	return verb
}

// reportStored writes the report folder of a stored run.
func (d *desk) reportStored(ctx context.Context, named string, v reportView) error {
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	id, err := d.findRun(ctx, store, named, v.suite, nil)
	if err != nil {
		return err
	}
	results, err := store.Results(ctx, id)
	if err != nil {
		return err
	}
	if results.Run.Against.Commit.SHA != "" {
		judgement, err := store.Judgement(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if err == nil {
			results.Judgement = &judgement
		}
	}
	trials, err := trialsWithSamples(ctx, store, id)
	if err != nil {
		return err
	}
	contrast, err := lay(results, view{})
	if err != nil {
		return askedWrongly(err)
	}
	page, err := d.writeReport(results, contrast, trials, v.out)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.stdout, page)
	return nil
}

// writeSite writes the history as files.
func (d *desk) writeSite(ctx context.Context, folder string) error {
	archive, release, err := d.openArchive(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := makeReportFolder(folder); err != nil {
		return err
	}
	server := &web.Server{Archive: archive, Alarms: alarms{archive, d}, Version: toolVersion(), Timeout: siteBound, Log: log.New(d.stderr, "", 0)}
	pages, left, err := server.Site(ctx, func(name string, content []byte) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return surroundings(fmt.Errorf("write the site: %w", err))
		}
		if err := writeWhole(path, content); err != nil {
			return surroundings(fmt.Errorf("write the site: %w", err))
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "%s: %d files\n", filepath.Join(folder, "index.html"), pages)
	if left > 0 {
		fmt.Fprintf(d.stderr, "%d links lead nowhere: a site has %d files at most; stopwatt serve shows the rest\n", left, pages)
	}
	return nil
}
