package trial_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/agent"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A harbour is a fake Docker: its "server" is an HTTP server of this process,
// its "driver" the real agent, talked to over pipes. It fails its n-th call
// when it is told to.
type harbour struct {
	server *httptest.Server

	mu      sync.Mutex
	calls   []string
	failAt  int // the call that fails, from 1; 0: none
	orders  map[string]stopwatt.ContainerOrder
	ended   map[string]chan struct{} // of the containers that were created and not removed
	fates   map[string]stopwatt.Fate
	removed int
	dies    bool // the server ends as soon as the driver has got ready
	diesOf  stopwatt.Fate
}

var errHarbour = errors.New("the engine says no")

// newHarbour makes a fake whose server answers by handler.
func newHarbour(t *testing.T, handler http.HandlerFunc) *harbour {
	h := &harbour{
		server: httptest.NewServer(handler),
		orders: map[string]stopwatt.ContainerOrder{},
		ended:  map[string]chan struct{}{},
		fates:  map[string]stopwatt.Fate{},
		diesOf: stopwatt.Fate{ExitCode: 137, OOMKilled: true, Log: []string{"cannot go on"}},
	}
	t.Cleanup(h.server.Close)
	return h
}

// port is where the server listens.
func (h *harbour) port() int { return h.server.Listener.Addr().(*net.TCPAddr).Port }

// call counts a call and fails it when it is its turn.
func (h *harbour) call(ctx context.Context, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, name)
	if len(h.calls) == h.failAt {
		return errHarbour
	}
	return ctx.Err()
}

func (h *harbour) Create(ctx context.Context, order stopwatt.ContainerOrder) (string, error) {
	if err := h.call(ctx, "create "+order.Labels[stopwatt.LabelRole]); err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := fmt.Sprintf("%s-%d", order.Labels[stopwatt.LabelRole], len(h.orders))
	h.orders[id] = order
	h.ended[id] = make(chan struct{})
	return id, nil
}

func (h *harbour) Start(ctx context.Context, id string) (stopwatt.Container, error) {
	h.mu.Lock()
	published := 0
	if h.orders[id].Publish != nil {
		published = h.port()
	}
	h.mu.Unlock()
	return stopwatt.Container{ID: id, PID: 42, Port: published}, h.call(ctx, "start")
}

func (h *harbour) Attach(ctx context.Context, id string) (io.ReadWriteCloser, error) {
	if err := h.call(ctx, "attach"); err != nil {
		return nil, err
	}
	h.mu.Lock()
	talk := agent.Converse
	if h.orders[id].Command[0] == "time" {
		talk = agent.Time
	}
	h.mu.Unlock()
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		_ = talk(context.Background(), there, there)
	}()
	if h.dies {
		return deadly{here, h}, nil
	}
	return here, nil
}

func (h *harbour) Wait(ctx context.Context, id string) error {
	h.mu.Lock()
	ended := h.ended[id]
	h.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *harbour) Fate(ctx context.Context, id string) (stopwatt.Fate, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if fate, told := h.fates[id]; told {
		return fate, nil
	}
	return stopwatt.Fate{Running: true}, nil
}

func (h *harbour) Remove(_ context.Context, id, _ string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ended, id)
	h.removed++
	return nil
}

// kill ends the server's container.
func (h *harbour) kill(fate stopwatt.Fate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, ended := range h.ended {
		if strings.HasPrefix(id, "server") || strings.HasPrefix(id, "program") {
			h.fates[id] = fate
			close(ended)
		}
	}
}

// deadly is a conversation during which the server dies: when the driver is
// told to drive.
type deadly struct {
	net.Conn
	harbour *harbour
}

func (d deadly) Write(p []byte) (int, error) {
	if strings.Contains(string(p), stopwatt.CommandDrive) || string(p) == `"`+stopwatt.CommandTime+"\"\n" {
		d.harbour.kill(d.harbour.diesOf)
		return len(p), nil
	}
	return d.Conn.Write(p)
}

// account is fake accounting: a counter that grows with each reading.
type account struct{ reads int64 }

func (a *account) Read() stopwatt.Usage {
	a.reads++
	return stopwatt.Usage{CPU: a.reads * 1e9, CPUUser: a.reads * 6e8, CPUSystem: a.reads * 4e8, MemoryCurrent: 1 << 20, MemoryPeak: 2 << 20,
		Absent: map[string]string{}}
}
func (a *account) Number(string) (int64, error) { return a.reads * 1e9, nil }
func (a *account) Close() error                 { return nil }

// watch is a fake watch over a machine with one meter, which draws 10 W.
type watch struct{ edges, closed *int }

func (w watch) Edge() stopwatt.MachineReading { *w.edges++; return stopwatt.MachineReading{} }
func (w watch) Close()                        { *w.closed++ }
func (w watch) Tell(window stopwatt.Window, before, after stopwatt.Reading) stopwatt.Testimony {
	return stopwatt.Testimony{
		Energies: []stopwatt.Energy{{Meter: "board", Gross: window.Duration().Microseconds() * 10, Warnings: []string{"it said so"}}},
		Samples:  []stopwatt.Samples{{Meter: "board", Quantity: stopwatt.PowerDrawn}},
		Doubts:   []string{"others used the CPU"},
	}
}

// bench is a place for trials in the harbour.
func (h *harbour) bench() trial.Bench {
	return trial.Bench{
		Containers: h,
		Account:    func(int) (trial.Account, error) { return &account{}, nil },
		Monotonic:  monotonic,
		Agent:      "agent",
		AgentVolume: func(ctx context.Context) (string, error) {
			return "volume", h.call(ctx, "volume")
		},
		Labels: map[string]string{stopwatt.LabelRun: "run"},
	}
}

// cgroups are fake parents: they remember what they were asked.
type cgroups struct{ asked []string }

func (c *cgroups) Name(position int, container string) string {
	return fmt.Sprintf("/%d_%s", position, container)
}

func (c *cgroups) Account(position int, container string) (trial.Account, error) {
	c.asked = append(c.asked, fmt.Sprintf("account %d %s", position, container))
	return &account{}, nil
}

func (c *cgroups) Remove(_ context.Context, position int) {
	c.asked = append(c.asked, fmt.Sprintf("remove %d", position))
}

// monotonic reads CLOCK_MONOTONIC, as the agent does.
func monotonic() int64 {
	const clock = 1
	var now syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return now.Nano()
}
