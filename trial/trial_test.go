package trial_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// hello answers every request alike.
func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// order is a small trial of the harbour's server.
func order(h *harbour) trial.Order {
	return trial.Order{
		Planned:        stopwatt.PlannedTrial{Round: 2, Case: stopwatt.Case{Implementation: "go", Workload: "hello"}, Revision: stopwatt.Head},
		Position:       7,
		Implementation: stopwatt.Implementation{Name: "go"},
		Workload: stopwatt.Workload{
			Name: "hello",
			HTTP: &stopwatt.HTTP{
				Port:        h.port(),
				Request:     stopwatt.Request{Method: "GET", Path: "/"},
				Expect:      stopwatt.Expect{Status: 200},
				ReadyWithin: 5 * time.Second,
			},
			Load: stopwatt.Load{Users: 3, Requests: 40, Timeout: 5 * time.Second},
		},
		Image: stopwatt.Image{ID: "sha256:1", Bytes: 4096},
	}
}

func TestATrialCountsEveryRequestOnce(t *testing.T) {
	var answered atomic.Int64
	h := newHarbour(t, func(w http.ResponseWriter, r *http.Request) { answered.Add(1); hello(w, r) })
	got, err := h.bench().Run(t.Context(), order(h))
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != stopwatt.Valid {
		t.Fatalf("invalid: %s", got.Reason)
	}
	if requests, _ := got.Value("requests"); requests != 3*40 {
		t.Errorf("%v requests, want 120", requests)
	}
	if n := answered.Load(); n != 3*40+2 {
		t.Errorf("the server counted %d, want 120 and one each for ready and verify", n)
	}
	if got.Window.Duration() <= 0 || got.Latency.Count() != 120 {
		t.Errorf("window %v, %d latencies", got.Window, got.Latency.Count())
	}
}

func TestATrialHasANumberOrAReasonForEveryMetric(t *testing.T) {
	h := newHarbour(t, hello)
	remote := h.bench()
	remote.Account, remote.Monotonic = nil, nil
	for name, bench := range map[string]trial.Bench{"here": h.bench(), "on another machine": remote} {
		got, err := bench.Run(t.Context(), order(h))
		if err != nil || got.Status != stopwatt.Valid {
			t.Fatalf("%s: %v %s", name, err, got.Reason)
		}
		said := map[string]int{}
		for _, m := range got.Measurements {
			said[m.Metric]++
		}
		for _, a := range got.Absent {
			said[a.Metric]++
			if a.Reason == "" {
				t.Errorf("%s: %s is absent without a reason", name, a.Metric)
			}
		}
		for _, metric := range stopwatt.Metrics {
			if ofPrograms(metric) {
				continue
			}
			if said[metric.Name] != 1 {
				t.Errorf("%s: %s is told %d times", name, metric.Name, said[metric.Name])
			}
			delete(said, metric.Name)
		}
		if len(said) > 0 {
			t.Errorf("%s: metrics that are not in the table: %v", name, said)
		}
	}
}

// ofPrograms says whether a metric is told of other trials than those of a server.
func ofPrograms(metric stopwatt.Metric) bool {
	return slices.Contains(openOnly, metric.Name) || metric.Window == "repeated" || metric.Name == "time_empty" || isOf(stopwatt.RoleProgram, metric) || isOf(stopwatt.RoleService, metric)
}

// isOf says whether a metric is told of containers of this role.
func isOf(role string, metric stopwatt.Metric) bool {
	return strings.Contains(metric.Name+"_", "_"+role+"_")
}

// openOnly are the metrics that only an open load has.
var openOnly = []string{"service_mean", "service_p50", "service_p90", "service_p99", "service_p99.9", "service_max",
	"rate_ordered", "requests_due", "requests_unsent", "rate_max", "rate_max_above", "rate_probes"}

func TestATrialKeepsServerAndDriverApart(t *testing.T) {
	h := newHarbour(t, hello)
	if _, err := h.bench().Run(t.Context(), order(h)); err != nil {
		t.Fatal(err)
	}
	server, driver := h.orders["server-0"], h.orders["driver-1"]
	if server.JoinNetwork != "" {
		t.Errorf("the server joins the network of %q, it is to have none", server.JoinNetwork)
	}
	if driver.JoinNetwork != "server-0" || !driver.Stdin || driver.Image != "agent" {
		t.Errorf("the driver's order is %+v", driver)
	}
	for _, order := range []stopwatt.ContainerOrder{server, driver} {
		if order.Labels[stopwatt.LabelRun] != "run" {
			t.Errorf("labels %v do not name the run", order.Labels)
		}
	}
}

func TestTheNullServerIsAskedTheSameAndNeedNotAnswerTheSame(t *testing.T) {
	h := newHarbour(t, hello)
	null := order(h)
	null.Implementation.Null = true
	null.Workload.HTTP.Expect = stopwatt.Expect{Status: 201, BodySHA256: strings.Repeat("0", 64)}
	null.Workload.HTTP.Others = []stopwatt.Ask{{Request: null.Workload.HTTP.Request, Expect: stopwatt.Expect{Status: 404}}}
	got := valid(t, h.bench(), null)
	if requests, _ := got.Value("requests"); requests != 3*40 {
		t.Errorf("%v requests, want 120", requests)
	}
	if _, told := got.Value("image_size"); told {
		t.Error("the size of an image is told that is not the server's")
	}
	server := h.orders["server-0"]
	if server.Image != "agent" || !slices.Equal(server.Command, []string{"serve", fmt.Sprintf("127.0.0.1:%d", h.port())}) {
		t.Errorf("the null server's container is %+v", server)
	}
	if null.Workload.HTTP.Others[0].Expect.Status != 404 {
		t.Error("the suite's own workload was changed")
	}
}

func TestTheDriverSharesTheFolderOfASocket(t *testing.T) {
	h := newHarbour(t, hello)
	behind := order(h)
	behind.Workload.HTTP.Socket, behind.Workload.HTTP.ReadyWithin = filepath.Join(t.TempDir(), "none"), time.Millisecond
	got, err := h.bench().Run(t.Context(), behind)
	if err != nil || !strings.Contains(got.Reason, "socket "+behind.Workload.HTTP.Socket) {
		t.Errorf("%v, %s: want a socket that nobody listens on", err, got.Reason)
	}
	server, driver := h.orders["server-0"], h.orders["driver-1"]
	if server.Volume != filepath.Dir(behind.Workload.HTTP.Socket) || driver.VolumesFrom != "server-0" || driver.User != "0:0" {
		t.Errorf("the server has the volume %q, the driver those of %q as user %q", server.Volume, driver.VolumesFrom, driver.User)
	}
}

func TestATrialTellsWhatTheMachineUsedMeanwhile(t *testing.T) {
	h := newHarbour(t, hello)
	edges, closed := 0, 0
	bench := h.bench()
	bench.Watch = func(map[string]trial.Account) trial.Watch { return watch{&edges, &closed} }
	order := order(h)
	order.Idle = []stopwatt.IdlePower{{Meter: "board", Watts: 4, Error: 0.1}}
	got, err := bench.Run(t.Context(), order)
	if err != nil || got.Status != stopwatt.Valid {
		t.Fatal(err, got.Reason)
	}
	if edges != 2 || closed == 0 {
		t.Errorf("%d edges were read, and the watch was closed %d times", edges, closed)
	}
	seconds := got.Window.Duration().Seconds()
	for metric, want := range map[string]float64{"energy_board_gross": 10 * seconds, "energy_board": 6 * seconds, "power_board": 10} {
		if value, ok := got.Value(metric); !ok || math.Abs(value-want) > 0.01*want {
			t.Errorf("%s is %v, want about %v", metric, value, want)
		}
	}
	if len(got.Samples) != 1 || !slices.Contains(got.Warnings, "others used the CPU") || !slices.Contains(got.Warnings, "board: it said so") {
		t.Errorf("samples %v, warnings %v", got.Samples, got.Warnings)
	}
}

func TestWrongAnswersMakeATrialInvalid(t *testing.T) {
	var asked atomic.Int64
	h := newHarbour(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		hello(w, r)
	})
	got, err := h.bench().Run(t.Context(), order(h))
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != stopwatt.Invalid || !strings.Contains(got.Reason, "12 of 120 requests failed: 12 status") {
		t.Errorf("status %s, reason %q", got.Status, got.Reason)
	}
	if failed, _ := got.Value("errors_status"); failed != 12 {
		t.Errorf("%v errors of status are recorded, want 12", failed)
	}
}

func TestAServerThatDiesUnderLoadIsExplained(t *testing.T) {
	h := newHarbour(t, hello)
	h.dies = true
	got, err := h.bench().Run(t.Context(), order(h))
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"exited with 137", "out of memory", "cannot go on"} {
		if !strings.Contains(got.Reason, words) {
			t.Errorf("the reason %q does not say %q", got.Reason, words)
		}
	}
}

func TestAnEngineThatIsGoneIsNoFaultOfTheTrial(t *testing.T) {
	h := newHarbour(t, hello)
	bench := h.bench()
	bench.Containers = gone{h}
	if _, err := bench.Run(t.Context(), order(h)); !errors.Is(err, stopwatt.ErrUnreachable) {
		t.Errorf("error %v, want one of an unreachable engine", err)
	}
}

// gone is an engine that has died.
type gone struct{ *harbour }

func (gone) Create(context.Context, stopwatt.ContainerOrder) (string, error) {
	return "", fmt.Errorf("create container: %w", stopwatt.ErrUnreachable)
}

func TestEveryCallMayFailAndNoContainerStays(t *testing.T) {
	whole := newHarbour(t, hello)
	if _, err := whole.bench().Run(t.Context(), order(whole)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(whole.calls); n++ {
		t.Run(fmt.Sprintf("call %d, %s", n, whole.calls[n-1]), func(t *testing.T) {
			h := newHarbour(t, hello)
			h.failAt = n
			got, err := h.bench().Run(t.Context(), order(h))
			if err != nil || got.Status != stopwatt.Invalid || !strings.Contains(got.Reason, errHarbour.Error()) {
				t.Errorf("error %v, status %s, reason %q", err, got.Status, got.Reason)
			}
			if len(h.ended) > 0 || h.removed != len(h.orders) {
				t.Errorf("%d containers stay", len(h.ended))
			}
		})
	}
}

func TestATrialThatIsInterruptedLeavesNothing(t *testing.T) {
	asked := make(chan struct{}, 10)
	h := newHarbour(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default: // the driver of this fake goes on until its input ends
		}
		hello(w, r)
	})
	ctx, interrupt := context.WithCancel(t.Context())
	endless := order(h)
	endless.Workload.Load = stopwatt.Load{Users: 1, For: time.Hour, Timeout: time.Second}
	go func() {
		for range 10 {
			<-asked
		}
		interrupt()
	}()
	_, err := h.bench().Run(ctx, endless)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancelled", err)
	}
	if len(h.ended) > 0 || h.removed != 2 {
		t.Errorf("%d containers stay, %d were removed", len(h.ended), h.removed)
	}
}
