package containers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAContainerThatCannotBeEndedIsToldWithinABound(t *testing.T) {
	t.Parallel()
	stuck := "cannot remove container: could not kill: tried to kill container, but did not receive an exit event"
	e := newFakeEngine(t, map[string]http.HandlerFunc{
		"DELETE /containers/id":    refuses(http.StatusInternalServerError, "%s", stuck),
		"POST /containers/id/kill": says(http.StatusNoContent, nil),
	})
	err := e.docker(t, hurried).Remove(t.Context(), "id", "SIGTERM") // for whose end it waits in vain
	if !errors.Is(err, stopwatt.ErrStuck) || !strings.Contains(err.Error(), stuck) {
		t.Errorf("error %v; want one that is ErrStuck, with the engine's words", err)
	}
}

func TestANetworkWhoseNameIsTakenGetsAnother(t *testing.T) {
	t.Parallel()
	var names sync.Map
	taken := 2
	e := newFakeEngine(t, map[string]http.HandlerFunc{"POST /networks/create": func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		if _, twice := names.LoadOrStore(asked.Name, true); twice {
			t.Errorf("the name %s is asked for twice", asked.Name)
		}
		if taken--; taken >= 0 {
			refuses(http.StatusConflict, "network with name %s already exists", asked.Name)(w, r)
			return
		}
		says(http.StatusCreated, map[string]string{"Id": "net"})(w, r)
	}})
	d := e.docker(t, 0)
	if id, err := d.MakeNetwork(t.Context(), map[string]string{stopwatt.LabelRun: "run"}); err != nil || id != "net" {
		t.Errorf("network %q, error %v", id, err)
	}
	taken = namesTried
	if _, err := d.MakeBridge(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "create network: ") || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("error %v; want one that says what was attempted, and why not", err)
	}
}

func TestAnImageThatVanishedIsNamedWithTheRemedy(t *testing.T) {
	t.Parallel()
	d := docker(t)
	_, err := d.Create(t.Context(), stopwatt.ContainerOrder{Image: "sha256:" + strings.Repeat("1", 64), Command: []string{"x"}})
	if err == nil || !strings.Contains(err.Error(), "No such image: sha256:1111") || !strings.Contains(err.Error(), "removed since it was built or pulled") {
		t.Errorf("error %v; want one that says that the image is gone", err)
	}
	if stopwatt.EngineFailed(err) {
		t.Error("it is called a failure of the engine")
	}
}

func TestWhatAContainerWritesIsBoundedWhereTheEngineCan(t *testing.T) {
	t.Parallel()
	var bounded []string
	create := func(can bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var asked struct {
				HostConfig container.HostConfig
			}
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			size := asked.HostConfig.StorageOpt["size"]
			bounded = append(bounded, size)
			if size != "" && !can {
				refuses(http.StatusBadRequest, "--storage-opt is supported only for overlay over xfs with 'pquota' mount option")(w, r)
				return
			}
			says(http.StatusCreated, map[string]string{"Id": "id"})(w, r)
		}
	}
	for name, test := range map[string]struct {
		can      bool
		writable bool
		want     string
	}{
		"an engine that can":                   {true, true, "[10G 10G]"},
		"one that cannot is asked once":        {false, true, "[10G  ]"},
		"a root that cannot be written at all": {true, false, "[ ]"},
	} {
		bounded = nil
		d := newFakeEngine(t, map[string]http.HandlerFunc{"POST /containers/create": create(test.can)}).docker(t, 0)
		for range 2 {
			if _, err := d.Create(t.Context(), stopwatt.ContainerOrder{Writable: test.writable}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := fmt.Sprint(bounded); got != test.want {
			t.Errorf("%s: it was asked for %s; want %s", name, got, test.want)
		}
	}
}

func TestAForkBombEndsAtItsLimitAndIsRemoved(t *testing.T) {
	t.Parallel()
	d := docker(t)
	bomb := start(t, d, stopwatt.ContainerOrder{Memory: 512 << 20}, "fork")
	fate := finish(t, d, bomb.ID)
	const refused = "failed to create new OS thread (have "
	_, said, _ := strings.Cut(strings.Join(fate.Log, "\n"), refused)
	var had int
	if _, err := fmt.Sscanf(said, "%d already; errno=11)", &had); err != nil || had < maxProcesses/2 || had > maxProcesses {
		t.Errorf("exit code %d, log %q; want that the kernel refused a thread beyond %d", fate.ExitCode, fate.Log, maxProcesses)
	}
	if err := d.Remove(t.Context(), bomb.ID, ""); err != nil || exists(t, d, bomb.ID) {
		t.Errorf("it is there, error %v", err)
	}
}

func TestAFloodedLogTakesABoundedPartOfTheEnginesDisk(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := create(t, d, stopwatt.ContainerOrder{}, "wait")
	got, err := d.client.ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	log := got.HostConfig.LogConfig
	if log.Type != "json-file" || log.Config["max-size"] != "512k" || log.Config["max-file"] != "2" {
		t.Errorf("log %+v; want two files of 512 KiB", log)
	}
}

// leftovers is an engine with so many containers of a dead owner, every hundredth of which
// runs, and one of somebody else's that it would tell of if it were asked for all.
func leftovers(t *testing.T, n int) (*fakeEngine, *sync.Map) {
	t.Helper()
	var all []container.Summary
	for i := range n {
		state := container.StateExited
		if i%100 == 99 {
			state = container.StateRunning
		}
		all = append(all, container.Summary{ID: fmt.Sprintf("c%05d", i), ImageID: "sha256:1", Names: []string{fmt.Sprintf("/old_%d", i)}, State: state,
			Labels: map[string]string{stopwatt.LabelOwner: "dead", stopwatt.LabelRun: "run"}})
	}
	var removed sync.Map
	order := 0
	var mu sync.Mutex
	return newFakeEngine(t, map[string]http.HandlerFunc{
		"GET /containers/json": func(w http.ResponseWriter, r *http.Request) {
			if asked := r.URL.Query().Get("filters"); !strings.Contains(asked, stopwatt.LabelOwner) {
				t.Errorf("filters %q do not name the label: all containers are asked for", asked)
			}
			says(http.StatusOK, all)(w, r)
		},
		"GET /networks": says(http.StatusOK, []any{}),
		"GET /images/*": says(http.StatusOK, map[string]any{"Id": "image", "Config": map[string]any{}}),
		"DELETE /containers/*": func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			order++
			removed.Store(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], order)
			mu.Unlock()
			w.WriteHeader(http.StatusNoContent)
		},
	}), &removed
}

func TestTenThousandLeftoversAreFoundByOneQuestionAndRemovedThoseThatRunFirst(t *testing.T) {
	t.Parallel()
	const n = 10_000
	e, removed := leftovers(t, n)
	d := e.docker(t, 0)
	left, err := d.Leftovers(t.Context(), func(string) bool { return true })
	if err != nil || len(left) != n || e.count("GET /containers/json") != 1 || e.count("GET /images/") != 1 {
		t.Fatalf("%d leftovers by %d questions, error %v", len(left), e.count("GET /containers/json"), err)
	}
	count, err := d.Clean(t.Context(), left)
	if err != nil || count != n || e.count("DELETE /containers/") != n {
		t.Errorf("%d removed by %d calls, error %v", count, e.count("DELETE /containers/"), err)
	}
	late := 0 // those that a worker had in its hands when nothing was left that runs
	for _, l := range left {
		if at, _ := removed.Load(l.ID); l.Running && at.(int) > n/100 {
			late++
		}
	}
	if late >= atATime {
		t.Errorf("%d of %d that run were removed behind others", late, n/100)
	}
}

func TestCleaningEndsWithItsTimeAndSaysHowMuchIsDone(t *testing.T) {
	t.Parallel()
	e, _ := leftovers(t, 1000)
	d := e.docker(t, 0)
	left, err := d.Leftovers(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	removes := e.answers["DELETE /containers/*"]
	e.answers["DELETE /containers/*"] = func(w http.ResponseWriter, r *http.Request) {
		if e.count("DELETE /containers/") >= 20 {
			cancel() // the time is over
		}
		removes(w, r)
	}
	count, err := d.Clean(ctx, left)
	if !errors.Is(err, context.Canceled) || count < 10 || count > 20+atATime {
		t.Errorf("%d removed, error %v; want some 20, and that the time was over", count, err)
	}
}

func TestCleaningGivesUpWhereNothingCanBeRemoved(t *testing.T) {
	t.Parallel()
	e, _ := leftovers(t, 1000)
	e.answers["DELETE /containers/*"] = refuses(http.StatusInternalServerError, "driver failed to remove root filesystem: device or resource busy")
	d := e.docker(t, 0)
	left, err := d.Leftovers(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	count, err := d.Clean(t.Context(), left)
	tried := e.count("DELETE /containers/")
	if count != 0 || !errors.Is(err, stopwatt.ErrStuck) || tried > mostErrors+atATime {
		t.Errorf("%d removed, %d tried, error %v", count, tried, err)
	}
}

func TestAnEngineThatIsGoneIsNotAskedTenThousandTimes(t *testing.T) {
	t.Parallel()
	var left []Leftover
	for i := range 10_000 {
		left = append(left, Leftover{ID: fmt.Sprint(i)})
	}
	e := newFakeEngine(t, map[string]http.HandlerFunc{"DELETE /containers/*": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }})
	count, err := e.docker(t, time.Second).Clean(t.Context(), left)
	if count != 0 || !errors.Is(err, stopwatt.ErrUnreachable) || e.count("DELETE") > 4*atATime {
		t.Errorf("%d removed, %d asked, error %v", count, e.count("DELETE"), err)
	}
}
