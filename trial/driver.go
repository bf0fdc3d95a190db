package trial

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
)

// A driver is the container that loads the server, and the conversation with
// it: a line in, a line out.
type driver struct {
	container
	streams io.ReadWriteCloser
	answers *bufio.Reader
}

// createDriver makes the driver's container in the server's network namespace
// and opens its streams.
func (b Bench) createDriver(ctx context.Context, server *container) (*driver, error) {
	d := &driver{container: container{bench: b, role: "driver"}}
	err := d.create(ctx, stopwatt.ContainerOrder{
		Image:       b.Agent,
		Command:     []string{"drive"},
		CPUs:        b.DriverCPUs,
		JoinNetwork: server.ID,
		Stdin:       true,
	})
	if err != nil {
		return nil, err
	}
	d.streams, err = b.Containers.Attach(ctx, d.ID)
	if err != nil {
		d.remove(ctx)
		return nil, fmt.Errorf("attach to the driver: %w", err)
	}
	d.answers = bufio.NewReader(d.streams)
	return d, nil
}

// begin starts the driver and hands it its order.
func (d *driver) begin(ctx context.Context, order stopwatt.DriveOrder) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	return d.tell(ctx, order)
}

// driveOrder is the trial's order in the driver's words.
func driveOrder(order Order) stopwatt.DriveOrder {
	http := order.Workload.HTTP
	return stopwatt.DriveOrder{
		Address:     net.JoinHostPort("127.0.0.1", strconv.Itoa(http.Port)),
		TLS:         http.TLS,
		Request:     http.Request,
		Expect:      http.Expect,
		Others:      http.Others,
		InOrder:     http.InOrder,
		Data:        http.Data,
		Seed:        order.Seed,
		Load:        order.Workload.Load,
		Warmup:      order.Warmup,
		ReadyWithin: http.ReadyWithin,
	}
}

// remove ends the conversation and takes the container away.
func (d *driver) remove(ctx context.Context) {
	if d.streams != nil {
		_ = d.streams.Close() // the container is removed next, whatever this says
	}
	d.container.remove(ctx)
}

// tell sends the driver one line.
func (d *driver) tell(ctx context.Context, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write to the driver: %w", err)
	}
	if _, err := d.streams.Write(append(text, '\n')); err != nil {
		return d.broken(ctx, err)
	}
	return nil
}

// ask gives one command and waits for its report. It is let go when ctx ends.
func (d *driver) ask(ctx context.Context, command string) (stopwatt.DriveReport, error) {
	line, err := d.line(ctx, command)
	if err != nil {
		return stopwatt.DriveReport{}, err
	}
	return understood(command, line)
}

// line gives one command and waits for the line that answers it.
func (d *driver) line(ctx context.Context, command string) ([]byte, error) {
	letGo := context.AfterFunc(ctx, func() { _ = d.streams.Close() })
	defer letGo()
	if err := d.tell(ctx, command); err != nil {
		return nil, err
	}
	return d.next(ctx)
}

// next waits for the next line.
func (d *driver) next(ctx context.Context) ([]byte, error) {
	letGo := context.AfterFunc(ctx, func() { _ = d.streams.Close() })
	defer letGo()
	line, err := d.answers.ReadBytes('\n')
	if err != nil {
		return nil, d.broken(ctx, err)
	}
	return line, nil
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

// broken says why the conversation ended: because of ctx, if that is so.
func (d *driver) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fate, fateErr := d.bench.Containers.Fate(ctx, d.ID)
	if fateErr != nil || fate.Running {
		return fmt.Errorf("talk to the driver: %w", errors.Join(err, fateErr))
	}
	return fmt.Errorf("the driver exited with %d: %v", fate.ExitCode, fate.Log)
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
