package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
)

// A driver is the container that loads the server, and the conversation with it.
type driver struct {
	conversation
}

// createDriver makes the driver's container, in the server's network namespace
// unless it is elsewhere, and opens its streams.
func (b Bench) createDriver(ctx context.Context, order Order, server *container) (*driver, error) {
	bench := b.ofDriver()
	d := &driver{conversation{container: container{bench: bench, role: stopwatt.RoleDriver}}}
	wanted := stopwatt.ContainerOrder{
		Image:   bench.Agent,
		Command: []string{"drive"},
		CPUs:    b.DriverCPUs,
	}
	if b.Elsewhere != nil {
		wanted.Network = stopwatt.NetworkHost
	} else {
		wanted.JoinNetwork = server.ID
	}
	if socketFolder(order.Workload) != "" {
		// A socket may be written by its owner alone; most servers are root.
		wanted.VolumesFrom, wanted.User = server.ID, "0:0"
	}
	return d, d.open(ctx, wanted)
}

// address is where a driver finds the server from its own network namespace.
func address(http stopwatt.HTTP) string {
	if http.Socket != "" {
		return "unix:" + http.Socket
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(http.Port))
}

// driveOrder is the trial's order in the driver's words. The server runs.
func (b Bench) driveOrder(order Order, server *container) stopwatt.DriveOrder {
	http := order.Workload.HTTP
	if order.Implementation.Null {
		http = nullExpected(*http)
	}
	return stopwatt.DriveOrder{
		Address:     b.address(*http, server),
		TLS:         http.TLS,
		Connects:    http.Connects,
		Request:     http.Request,
		Expect:      http.Expect,
		Others:      http.Others,
		InOrder:     http.InOrder,
		Data:        http.Data,
		Follow:      http.Follow,
		Seed:        order.Seed,
		Load:        driverLoad(order.Workload.Load),
		Warmup:      order.Warmup,
		ReadyWithin: http.ReadyWithin,
	}
}

// nullExpected asks the same, but takes the null server's answers for right.
func nullExpected(http stopwatt.HTTP) *stopwatt.HTTP {
	const ok = 200
	http.Expect = stopwatt.Expect{Status: ok}
	http.Others = slices.Clone(http.Others)
	for i := range http.Others {
		http.Others[i].Expect = http.Expect
	}
	return &http
}

// ask gives one command and waits for its report. It is let go when ctx ends.
func (d *driver) ask(ctx context.Context, command string) (stopwatt.DriveReport, error) {
	line, err := d.line(ctx, command)
	if err != nil {
		return stopwatt.DriveReport{}, err
	}
	return understood(command, line)
}

// understood is the report that a line holds.
func understood(command string, line []byte) (stopwatt.DriveReport, error) {
	var report stopwatt.DriveReport
	if err := json.Unmarshal(line, &report); err != nil {
		return report, fmt.Errorf("%s: the driver's report: %w", command, err)
	}
	if report.Failure != "" {
		return report, errors.New(report.Failure)
	}
	return report, nil
}

// askReady asks for a right answer, by CommandReady or CommandVerify.
func (d *driver) askReady(ctx context.Context, command string) (*stopwatt.Ready, error) {
	report, err := d.ask(ctx, command)
	if err == nil && report.Ready == nil {
		err = fmt.Errorf("%s: the driver reported nothing", command)
	}
	return report.Ready, err
}

// askFound has the driver search the highest rate.
func (d *driver) askFound(ctx context.Context) (*stopwatt.Found, error) {
	report, err := d.ask(ctx, stopwatt.CommandFind)
	if err == nil && report.Found == nil {
		err = errors.New("find: the driver reported nothing")
	}
	return report.Found, err
}

// askResult has the driver drive. Ended is called as soon as it has, before the
// result is encoded and sent; or when there will be none.
func (d *driver) askResult(ctx context.Context, ended func()) (*stopwatt.DriveResult, error) {
	report, err := d.ask(ctx, stopwatt.CommandDrive)
	ended()
	if err == nil && !report.Ended {
		err = errors.New("drive: the driver did not say that it has ended")
	}
	if err != nil {
		return nil, err
	}
	line, err := d.next(ctx)
	if err != nil {
		return nil, err
	}
	report, err = understood(stopwatt.CommandDrive, line)
	if err == nil && report.Result == nil {
		err = errors.New("drive: the driver reported nothing")
	}
	return report.Result, err
}

// driverLoad is what the driver drives: where a tool does that in its place,
// nothing, but it asks once at a time.
func driverLoad(load stopwatt.Load) stopwatt.Load {
	if load.Tool == nil {
		return load
	}
	return stopwatt.Load{Users: 1, Requests: 1, Timeout: load.Timeout}
}
