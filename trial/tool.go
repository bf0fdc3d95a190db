package trial

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// measureByTool reads top to bottom as a trial is defined whose load another
// program drives. The agent's driver asks until the server is ready, and once
// more after the load; the tool runs in a third container, under the timer.
func (b Bench) measureByTool(ctx context.Context, order Order, trial *stopwatt.Trial) error {
	companions, err := b.companions(ctx, order)
	defer companions.remove(ctx)
	if err != nil {
		return err
	}
	server, err := b.createServer(ctx, order, companions.network)
	if err != nil {
		return err
	}
	defer server.remove(ctx)
	driver, err := b.createDriver(ctx, order, server)
	if err != nil {
		return err
	}
	defer driver.remove(ctx)
	tool, err := b.createTool(ctx, order, server)
	if err != nil {
		return err
	}
	defer tool.remove(ctx)

	if err := server.start(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go server.watch(ctx, cancel)
	if err := b.haveDriven(ctx, order, server, driver, tool, companions, trial); err != nil {
		return companions.explain(ctx, server.explain(ctx, err))
	}
	return companions.lasted(ctx)
}

// createTool makes the container of a tool in the server's network namespace.
func (b Bench) createTool(ctx context.Context, order Order, server *container) (*program, error) {
	timer, err := b.AgentVolume(ctx)
	if err != nil {
		return nil, fmt.Errorf("bring in the timer: %w", err)
	}
	p := &program{conversation{container: container{bench: b, role: stopwatt.RoleDriver}}}
	err = p.open(ctx, stopwatt.ContainerOrder{
		Image:       order.Tool.ID,
		Entrypoint:  []string{stopwatt.AgentPath},
		Command:     []string{"time"},
		VolumesFrom: timer,
		CPUs:        b.DriverCPUs,
		JoinNetwork: server.ID,
	})
	return p, err
}

// toolOrder is what the timer is told: to run the tool once, and to keep what it
// tells.
func toolOrder(order Order) stopwatt.TimeOrder {
	tool := *order.Workload.Load.Tool
	places := placesOf(*order.Workload.HTTP)
	for _, list := range []*[]string{&tool.Run, &tool.Prepare, &tool.Cleanup} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = places.Replace((*list)[i])
		}
	}
	return stopwatt.TimeOrder{
		Program:     tool.Program,
		Repeat:      stopwatt.Repeat{Least: 1, Most: 1},
		Keep:        true,
		ResultsFile: tool.Results,
	}
}

// placesOf puts the server's address where a tool's arguments have a place for it.
func placesOf(http stopwatt.HTTP) *strings.Replacer {
	address, scheme := net.JoinHostPort("127.0.0.1", strconv.Itoa(http.Port)), "http://"
	if http.TLS != nil {
		scheme = "https://"
	}
	return strings.NewReplacer("{address}", address, "{url}", scheme+address+http.Request.Path)
}

// haveDriven has the tool do its work and reads the meters at the edges.
func (b Bench) haveDriven(ctx context.Context, order Order, server *container, driver *driver, tool *program, companions *companions, trial *stopwatt.Trial) error {
	if err := driver.begin(ctx, b.driveOrder(order, server)); err != nil {
		return err
	}
	ready, err := driver.askReady(ctx, stopwatt.CommandReady)
	if err != nil {
		return err
	}
	if err := tool.begin(ctx, toolOrder(order)); err != nil {
		return err
	}
	if _, err := tool.ask(ctx, stopwatt.CommandReady); err != nil {
		return fmt.Errorf("the tool: %w", err)
	}
	accounts := b.open(append([]*container{server, &tool.container}, companions.all()...)...)
	defer accounts.close()
	atRest := accounts.of(stopwatt.RoleServer)
	watch := b.watch(accounts)
	defer watch.Close()
	before := accounts.read()
	before.Machine = watch.Edge()
	var after stopwatt.Reading
	asked := b.now()
	result, err := tool.askResult(ctx, func() {
		machine := watch.Edge()
		after = accounts.read()
		after.Machine = machine
	})
	if err == nil {
		err = b.happened(asked, result.Window)
	}
	if err != nil {
		return fmt.Errorf("the tool: %w", err)
	}

	record := record{trial}
	record.Window = result.Window
	err = b.toolTold(order, record, result)
	record.usage(atRest, before, after)
	record.companions(companions, before, after)
	b.readyTime(record, server, ready)
	work := stopwatt.Work{Per: stopwatt.RightAnswer}
	if requests, told := trial.Value("requests"); told {
		work.Count = int64(requests)
	}
	record.witnessed(watch.Tell(result.Window, before, after), order.Idle, result.Window, work)
	record.measured("image_size", float64(order.Image.Bytes))
	if err != nil {
		return err
	}
	if _, err := driver.askReady(ctx, stopwatt.CommandVerify); err != nil {
		return fmt.Errorf("after the load: %w", err)
	}
	return nil
}

// toolTold records what the tool has told, and why it told nothing of the rest.
// Its errors make the trial invalid, as the driver's own do.
func (b Bench) toolTold(order Order, r record, result *stopwatt.TimeResult) error {
	harness := order.Workload.Load.Tool.Harness
	benchmarks, err := b.Harness(stopwatt.Workload{Name: order.Workload.Name, Harness: &harness}, result.Results)
	if err != nil {
		return fmt.Errorf("results of the tool: %w", err)
	}
	r.beyond(benchmarks, known{wall: result.Window.Duration()})
	if err := r.told(benchmarks); err != nil {
		return err
	}
	if _, told := r.Value("time"); !told {
		r.measured("time", seconds(result.Window.End-result.Window.Start))
	}
	for _, metric := range stopwatt.Driven {
		if _, told := r.Value(metric.Name); !told && !r.isAbsent(metric.Name) {
			r.absent(metric.Name, "the tool does not tell it")
		}
	}
	if failed, _ := r.Value("errors"); failed > 0 {
		return fmt.Errorf("the tool tells of %g requests without a right answer", failed)
	}
	return nil
}

// isAbsent tells whether it has been said why there is no number.
func (r record) isAbsent(metric string) bool {
	return slices.ContainsFunc(r.Absent, func(a stopwatt.Absence) bool { return a.Metric == metric })
}
