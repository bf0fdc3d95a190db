package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// lookFor is how long doctor watches the energy meters, and lookEvery how often
// it reads them.
const (
	lookFor   = 2 * time.Second
	lookEvery = 100 * time.Millisecond
)

// doctorVerb is `stopwatt doctor`.
func (d *desk) doctorVerb() *cobra.Command {
	var asJSON bool
	verb := &cobra.Command{
		Use:   "doctor [SUITE]",
		Short: "Is this machine fit to measure on?",
		Long: `Looks at what makes figures good or bad on this machine: Docker, the database,
CPU frequency, other load, the energy meters. Each finding says how it is mended,
in one line to paste. With a SUITE, fitness is asked of what it judges (where it
does not say: of time and of every energy meter that the machine file names);
without one, of time alone. Exit status 3: not fit.`,
		Example: "  stopwatt doctor\n  stopwatt doctor stopwatt.yml --json",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.doctor(cmd.Context(), args, asJSON)
		},
	}
	verb.Flags().BoolVar(&asJSON, "json", false, "the findings as JSON")
	return verb
}

// doctor gathers what every adapter finds and prints it.
func (d *desk) doctor(ctx context.Context, args []string, asJSON bool) error {
	needed := []string{"time"}
	if len(args) > 0 {
		named, err := readSuite(args[0], jobs.Options{})
		if err != nil {
			return err
		}
		file, err := d.machineFile()
		if err != nil {
			return err
		}
		needed = judged(named.suite.Judge, file)
	}
	machine, findings, err := d.findings(ctx)
	if err != nil {
		return err
	}
	write := report.Findings
	if asJSON {
		write = report.FindingsJSON
	}
	if err := write(d.stdout, machine, findings, needed...); err != nil {
		return err
	}
	if spoiled := unfitFor(findings, needed); len(spoiled) > 0 {
		return incomplete(quiet{fmt.Errorf("not fit: %v", spoiled)}) // the findings have said so
	}
	return nil
}

// judged are the metrics that a suite judges. One that does not say so judges
// time and the energies of the meters that the machine file names: who names a
// meter wants its energy.
func judged(judge stopwatt.Judge, file stopwatt.MachineFile) []string {
	var names []string
	for _, threshold := range judge.Metrics {
		names = append(names, threshold.Metric)
	}
	if names != nil {
		return names
	}
	names = append(names, "time")
	for _, setting := range file.Meters {
		names = append(names, stopwatt.EnergyMetrics(setting.Name)[0].Name)
	}
	return names
}

// findings looks at Docker, the database, the machine and its energy meters.
func (d *desk) findings(ctx context.Context) (stopwatt.Machine, []stopwatt.Finding, error) {
	docker, findings := d.dockerFindings(ctx)
	if docker != nil {
		defer docker.Close()
	}
	findings = append(findings, d.databaseFinding(ctx))
	instruments, err := d.openInstruments(ctx, docker, stopwatt.MeterSettings{Every: lookEvery, Counters: true})
	if err != nil {
		return stopwatt.Machine{}, nil, err
	}
	defer instruments.close()
	found, err := instruments.station.Findings(ctx, lookFor)
	if err != nil {
		return stopwatt.Machine{}, nil, err
	}
	beside, err := instruments.beside.look(ctx, lookFor)
	if err != nil {
		return stopwatt.Machine{}, nil, err
	}
	return instruments.machine(stopwatt.Engine{}), slices.Concat(findings, []stopwatt.Finding{instruments.way}, found, beside), nil
}

// dockerFindings says what the engine is like, or why it cannot be reached; it
// is nil then.
func (d *desk) dockerFindings(ctx context.Context) (*containers.Docker, []stopwatt.Finding) {
	unfit := func(err error) []stopwatt.Finding {
		return []stopwatt.Finding{{Subject: "docker", Verdict: stopwatt.Unfit, Says: err.Error(), Remedies: containers.Remedies(err)}}
	}
	docker, err := containers.Connect(ctx, d.dockerConfig())
	if err != nil {
		return nil, unfit(err)
	}
	findings, err := docker.Findings(ctx)
	if err != nil {
		docker.Close()
		return nil, unfit(err)
	}
	return docker, findings
}

// databaseFinding says where results are stored, or why they cannot be.
func (d *desk) databaseFinding(ctx context.Context) stopwatt.Finding {
	store, release, err := d.openStore(ctx)
	if err != nil {
		return noDatabase(err)
	}
	defer release()
	version, err := store.SchemaVersion(ctx)
	if err != nil {
		return stopwatt.Finding{Subject: "database", Verdict: stopwatt.Unfit, Says: err.Error()}
	}
	whose := "the one that is named"
	if d.database == "" && d.getenv("STOPWATT_DATABASE") == "" {
		whose = "private Postgres"
	}
	return stopwatt.Finding{Subject: "database", Verdict: stopwatt.Fit, Says: fmt.Sprintf("%s, schema %d", whose, version)}
}

// noDatabase says why results cannot be stored, and how that is mended.
func noDatabase(err error) stopwatt.Finding {
	f := stopwatt.Finding{Subject: "database", Verdict: stopwatt.Unfit, Says: err.Error()}
	if errors.Is(err, embedded.ErrNoBinaries) {
		f.Remedies = []stopwatt.Remedy{{When: "on Debian and its kin", Line: "sudo apt-get install --yes postgresql"}}
	}
	return f
}

// unfitFor lists the metrics that are needed and cannot be had.
func unfitFor(findings []stopwatt.Finding, needed []string) []string {
	return slices.DeleteFunc(slices.Clone(needed), func(metric string) bool { return stopwatt.FitFor(findings, metric) })
}
