package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/harness"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// importFlags are what `stopwatt import` can be told.
type importFlags struct {
	suite           string
	implementations []string
	baseline        string
	workload        string
	machine         string
	source          string
	date            string
	commit          string
	format          string
	names           string
	unit, metric    string
	better          string
}

// importVerb is `stopwatt import`.
func (d *desk) importVerb() *cobra.Command {
	var flags importFlags
	verb := &cobra.Command{
		Use:   "import FILE...",
		Short: "Store results that were measured elsewhere",
		Long: `Reads what a benchmark harness or a load tool has written, or a CSV, and stores
it as a run, one for each machine. Several files are several implementations.
The same files with the same flags are stored once. An imported run is for
reading: it gets no verdict and enters no history.

Files that stopwatt export has written bring whole runs back as they were, each
once, with their verdicts and their place in history; flags do not apply to them.

Formats: ` + strings.Join(harness.Names(), ", ") + `.
See docs/harness.md.`,
		Example: `  stopwatt import --suite types --source https://example.org/issue rholang-types.csv
  stopwatt import --suite types --commit 3f2a901 --names 'strip: ^rholangn?\.' old.json new.json
  stopwatt import --suite hello --machine odroid-h3 --workload send-file go.txt rust.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return askedWrongly(errors.New("import needs a file\nusage: stopwatt import FILE... [flags]"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := filesOfRuns(args)
			if err != nil {
				return askedWrongly(err)
			}
			if runs {
				return d.importRuns(cmd.Context(), args)
			}
			return d.importFiles(cmd.Context(), args, flags)
		},
	}
	verb.Flags().StringVar(&flags.suite, "suite", "", "suite that the results are of (default: the first file's name)")
	verb.Flags().StringArrayVar(&flags.implementations, "implementation", nil,
		"`NAME` of the implementation that a file is of, once for each file (default: the file's name, or the CSV's column)")
	verb.Flags().StringVar(&flags.workload, "workload", "", "`NAME` of what was measured, where a format names no benchmark (default: the format)")
	verb.Flags().StringVar(&flags.baseline, "baseline", "", "implementation that the others are shown against (default: the first)")
	verb.Flags().StringVar(&flags.machine, "machine", "", "`NAME` of the machine that measured (default: the CSV's column, or unnamed)")
	verb.Flags().StringVar(&flags.source, "source", "", "`URL` where the figures come from (default: the files' names)")
	verb.Flags().StringVar(&flags.date, "date", "", "when it was measured, as in 2008-10-11 or 2008-10-11T01:19:14Z (default: now)")
	verb.Flags().StringVar(&flags.commit, "commit", "", "commit `SHA` that was measured (default: none)")
	verb.Flags().StringVar(&flags.format, "format", "", "format of the files (default: told by their look)")
	verb.Flags().StringVar(&flags.names, "names", "", "what becomes of benchmarks' names: `'strip: REGEXP'`")
	verb.Flags().StringVar(&flags.unit, "unit", "", "unit of the format number")
	verb.Flags().StringVar(&flags.metric, "metric", "", "metric of the format number")
	verb.Flags().StringVar(&flags.better, "better", "", "direction of the format number: less, more or neither")
	return verb
}

// An importOrder is what is to be stored.
type importOrder struct {
	run   stopwatt.Run // without its machine
	files []harness.Results
	key   string // hash of the files and of the flags
}

// importFiles reads the files and stores them.
func (d *desk) importFiles(ctx context.Context, files []string, flags importFlags) error {
	order, err := d.importOrder(ctx, files, flags)
	if err != nil {
		return err
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	sheets, err := order.sheets(ctx, store)
	if err != nil {
		return err
	}
	for _, sheet := range sheets {
		if err := d.importSheet(ctx, store, order, sheet); err != nil {
			return err
		}
	}
	return nil
}

// importOrder reads the files and checks the flags: nothing is stored unless all
// is well.
func (d *desk) importOrder(ctx context.Context, files []string, flags importFlags) (importOrder, error) {
	if n := len(flags.implementations); n > 0 && n != len(files) {
		return importOrder{}, askedWrongly(fmt.Errorf("there are %d --implementation for %s; name each file's once", n, plural(len(files), "file")))
	}
	options, err := flags.options()
	if err != nil {
		return importOrder{}, askedWrongly(err)
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", flags)
	var read []harness.Results
	for i, file := range files {
		text, err := readBounded(file)
		if err != nil {
			return importOrder{}, askedWrongly(err)
		}
		fmt.Fprintf(hash, "%q %x\n", filepath.Base(file), sha256.Sum256(text))
		results, err := importFile(file, text, flags, options)
		if err != nil {
			return importOrder{}, askedWrongly(err)
		}
		if len(flags.implementations) > 0 {
			results.Implementation = flags.implementations[i]
		}
		read = append(read, results)
	}
	sheets, err := harness.Lay(read)
	if err != nil {
		return importOrder{}, askedWrongly(err)
	}
	for _, sheet := range sheets {
		if flags.baseline != "" && !slices.Contains(sheet.Implementations, flags.baseline) {
			return importOrder{}, askedWrongly(fmt.Errorf("--baseline %s: there are %s", quote(flags.baseline), strings.Join(sheet.Implementations, ", ")))
		}
	}
	run, err := d.importRun(ctx, files, flags)
	return importOrder{run: run, files: read, key: hex.EncodeToString(hash.Sum(nil))}, err
}

// sheets lays the files out, in names of metrics that mean the same in the store.
func (o importOrder) sheets(ctx context.Context, store *storage.Store) ([]harness.Sheet, error) {
	senses := harness.Senses{}
	metrics, err := store.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	for _, metric := range metrics {
		senses[metric.Name] = metric
	}
	files := slices.Clone(o.files)
	for i, file := range files {
		files[i].Benchmarks = senses.TellApart(file.Benchmarks, file.Format)
	}
	return harness.Lay(files)
}

// options are what the flags say of all files.
func (f importFlags) options() (harness.Options, error) {
	options := harness.Options{Unit: f.unit, Metric: f.metric, Better: stopwatt.Better(f.better)}
	switch options.Better {
	case "", stopwatt.Less, stopwatt.More, stopwatt.Neither:
	default:
		return options, fmt.Errorf("--better %s: write less, more or neither", quote(f.better))
	}
	if f.names == "" {
		return options, nil
	}
	strip, found := strings.CutPrefix(f.names, "strip:")
	if !found {
		return options, fmt.Errorf("--names %s: write 'strip: REGEXP'", quote(f.names))
	}
	var err error
	if options.Strip, err = regexp.Compile(strings.TrimSpace(strip)); err != nil {
		return options, fmt.Errorf("--names: %w", err)
	}
	return options, nil
}

// readBounded reads a file, no more of it than a harness's results may have.
func readBounded(file string) ([]byte, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close() // which was only read from
	return io.ReadAll(io.LimitReader(opened, harness.MaxBytes+1))
}

// importFile reads the results of one file.
func importFile(file string, text []byte, flags importFlags, options harness.Options) (harness.Results, error) {
	options.File = file
	if err := harness.Check(text, options); err != nil {
		return harness.Results{}, err
	}
	format := cmp.Or(flags.format, harness.Guess(file, text))
	if format == "" {
		return harness.Results{}, fmt.Errorf("%s: its look tells no format; name it with --format, one of %s", file, strings.Join(harness.Names(), ", "))
	}
	options.Name = cmp.Or(flags.workload, format)
	benchmarks, err := harness.Read(format, text, options)
	if err == nil && format == "csv" {
		err = flags.contradict(file, benchmarks)
	}
	return harness.Results{
		File:           file,
		Format:         format,
		Implementation: baseName(file),
		Machine:        cmp.Or(flags.machine, "unnamed"),
		Benchmarks:     benchmarks,
	}, err
}

// contradict finds flags that say again what the columns of a CSV say.
func (f importFlags) contradict(file string, benchmarks []stopwatt.Benchmark) error {
	given := map[string]bool{"implementation": len(f.implementations) > 0, "machine": f.machine != ""}
	for _, b := range benchmarks {
		for _, p := range b.Params {
			if given[p.Name] {
				return fmt.Errorf("%s has a column %s, which says what --%s says; leave one out", file, p.Name, p.Name)
			}
		}
	}
	return nil
}

// baseName is a file's name without folders and extensions.
func baseName(file string) string {
	name := filepath.Base(file)
	return cmp.Or(strings.TrimSuffix(name, filepath.Ext(name)), name)
}

// importRun is the run as far as it is the same for all machines.
func (d *desk) importRun(ctx context.Context, files []string, flags importFlags) (stopwatt.Run, error) {
	started, err := importDate(flags.date)
	if err != nil {
		return stopwatt.Run{}, askedWrongly(err)
	}
	run := stopwatt.Run{
		Suite:    cmp.Or(flags.suite, baseName(files[0])),
		Baseline: flags.baseline,
		Rounds:   1,
		Tool:     toolVersion(),
		Command:  commandLine(os.Args),
		Started:  started,
		Imported: true,
		Source:   cmp.Or(flags.source, sourceOf(files)),
	}
	run.Project, run.Checkout.Commit, err = d.importCommit(ctx, flags.commit)
	return run, err
}

// sourceOf names files as a source.
func sourceOf(files []string) string {
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	return strings.Join(names, ", ")
}

// importDate understands --date.
func importDate(date string) (time.Time, error) {
	if date == "" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if parsed, err := time.Parse(layout, date); err == nil {
			return parsed, nil
		}
	}
	return time.Time{}, fmt.Errorf("--date %s: write it as in 2008-10-11 or 2008-10-11T01:19:14Z", quote(date))
}

// wholeSHA is a commit's name in full.
var wholeSHA = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// importCommit finds the project and, when one is named, the commit. Outside a
// checkout a commit is its name in full, and nothing else is known of it.
func (d *desk) importCommit(ctx context.Context, named string) (project string, commit stopwatt.Commit, err error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", commit, err
	}
	repo, err := git.Open(ctx, folder)
	switch {
	case errors.Is(err, git.ErrNoRepository) && named != "" && !wholeSHA.MatchString(named):
		return "", commit, askedWrongly(fmt.Errorf("--commit %s: outside a git checkout, write all 40 digits", quote(named)))
	case errors.Is(err, git.ErrNoRepository):
		return filepath.Base(folder), stopwatt.Commit{SHA: named}, nil
	case err != nil:
		return "", commit, askedWrongly(err)
	}
	repo.Getenv = d.getenv
	if named != "" {
		if commit, err = repo.Resolve(ctx, named); err != nil {
			return "", commit, askedWrongly(fmt.Errorf("--commit: %w", err))
		}
	}
	return repo.Project(ctx), commit, nil
}

// importSheet stores what one machine measured as a run, unless it is stored.
func (d *desk) importSheet(ctx context.Context, store *storage.Store, order importOrder, sheet harness.Sheet) error {
	run := order.run
	run.Machine = stopwatt.Machine{Name: sheet.Machine, Named: true}
	run.Key = importKey(order.key, sheet.Machine)
	run.PlanKey = run.Key
	run.Planned = len(sheet.Trials)
	run.Baseline = cmp.Or(run.Baseline, sheet.Implementations[0])
	run.Settings = stopwatt.Suite{Name: run.Suite, Baseline: run.Baseline, Workloads: sheet.Workloads}
	for _, name := range sheet.Implementations {
		run.Settings.Implementations = append(run.Settings.Implementations, stopwatt.Implementation{Name: name})
	}
	stored, _, err := store.Begin(ctx, run, false)
	if err != nil {
		return err
	}
	if stored.Status != stopwatt.Finished {
		err = storeSheet(ctx, store, stored.ID, stored.Started, sheet)
	}
	if err != nil {
		return err
	}
	d.tellImport(stored, sheet)
	return nil
}

// importKey names the run of one machine.
func importKey(key, machine string) string {
	sum := sha256.Sum256([]byte(key + " " + machine))
	return hex.EncodeToString(sum[:16])
}

// storeSheet stores the trials and what they add up to.
func storeSheet(ctx context.Context, store *storage.Store, runID int64, measured time.Time, sheet harness.Sheet) error {
	trials := slices.Clone(sheet.Trials)
	for i := range trials {
		trials[i].Started = measured
		if err := store.SaveTrial(ctx, runID, trials[i]); err != nil {
			return err
		}
	}
	if err := store.SaveSummaries(ctx, runID, regression.Summarize(trials)); err != nil {
		return err
	}
	return store.Finish(ctx, runID, stopwatt.Finished, measured)
}

// tellImport says what was stored, and what is doubtful in it.
func (d *desk) tellImport(run stopwatt.Run, sheet harness.Sheet) {
	figures, seen := 0, map[string]bool{}
	for _, trial := range sheet.Trials {
		figures += len(trial.Measurements)
		for _, warning := range trial.Warnings {
			if !seen[warning] {
				fmt.Fprintf(d.stderr, "note    %s: %s\n", report.Clean(trial.Case.Workload), report.Clean(warning))
			}
			seen[warning] = true
		}
	}
	state := ""
	if run.Status == stopwatt.Finished {
		state = ", stored before"
	}
	fmt.Fprintf(d.stdout, "run %d  %s on %s: %s, %s, %s%s\n", run.ID, report.Clean(run.Suite), report.Clean(sheet.Machine),
		plural(len(sheet.Implementations), "implementation"), plural(len(sheet.Workloads), "workload"), plural(figures, "figure"), state)
}
