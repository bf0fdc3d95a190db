package containers

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// hurried is the patience of tests with an engine that never answers.
const hurried = 20 * time.Millisecond

// calls are all that this room asks of an engine, each once.
var calls = map[string]func(ctx context.Context, d *Docker) error{
	"AgentImage":  func(ctx context.Context, d *Docker) error { _, err := d.AgentImage(ctx, []byte("agent")); return err },
	"AgentVolume": func(ctx context.Context, d *Docker) error { _, err := d.AgentVolume(ctx, "image", nil); return err },
	"Attach":      func(ctx context.Context, d *Docker) error { _, err := d.Attach(ctx, "id"); return err },
	"Await":       func(ctx context.Context, d *Docker) error { return d.Await(ctx, hurried) },
	"Build": func(ctx context.Context, d *Docker) error {
		_, err := d.Build(ctx, stopwatt.BuildOrder{Name: "x", Context: contextOf(map[string]string{"Dockerfile": "FROM scratch\n"})}, nil)
		return err
	},
	"Clean": func(ctx context.Context, d *Docker) error {
		_, err := d.Clean(ctx, []Leftover{{ID: "id"}, {ID: "net", Network: true}})
		return err
	},
	"Create": func(ctx context.Context, d *Docker) error {
		_, err := d.Create(ctx, stopwatt.ContainerOrder{})
		return err
	},
	"Execute": func(ctx context.Context, d *Docker) error {
		_, _, err := d.Execute(ctx, "id", []string{"x"})
		return err
	},
	"Fate": func(ctx context.Context, d *Docker) error { _, err := d.Fate(ctx, "id"); return err },
	"Findings": func(ctx context.Context, d *Docker) error {
		_, err := d.Findings(ctx)
		return err
	},
	"Images":       func(ctx context.Context, d *Docker) error { _, err := d.Images(ctx); return err },
	"JoinNetwork":  func(ctx context.Context, d *Docker) error { return d.JoinNetwork(ctx, "net", "id", "") },
	"LeaveNetwork": func(ctx context.Context, d *Docker) error { return d.LeaveNetwork(ctx, "net", "id") },
	"Leftovers": func(ctx context.Context, d *Docker) error {
		_, err := d.Leftovers(ctx, func(string) bool { return true })
		return err
	},
	"MakeBridge":     func(ctx context.Context, d *Docker) error { _, err := d.MakeBridge(ctx, nil); return err },
	"MakeNetwork":    func(ctx context.Context, d *Docker) error { _, err := d.MakeNetwork(ctx, nil); return err },
	"Meters":         func(ctx context.Context, d *Docker) error { _, err := d.Meters(ctx, MetersOrder{}); return err },
	"Packages":       func(ctx context.Context, d *Docker) error { _, err := d.Packages(ctx, "image", nil); return err },
	"Pull":           func(ctx context.Context, d *Docker) error { _, err := d.Pull(ctx, "image", nil); return err },
	"Remove":         func(ctx context.Context, d *Docker) error { return d.Remove(ctx, "id", "SIGTERM") },
	"RemoveDatabase": func(ctx context.Context, d *Docker) error { return d.RemoveDatabase(ctx, "x") },
	"RemoveImages": func(ctx context.Context, d *Docker) error {
		return d.RemoveImages(ctx, []MadeImage{{Tag: "stopwatt/x:1"}})
	},
	"RemoveNetwork": func(ctx context.Context, d *Docker) error { return d.RemoveNetwork(ctx, "net") },
	"Start":         func(ctx context.Context, d *Docker) error { _, err := d.Start(ctx, "id"); return err },
	"StartDatabase": func(ctx context.Context, d *Docker) error {
		_, err := d.StartDatabase(ctx, DatabaseOrder{Name: "x", Image: "postgres"}, nil)
		return err
	},
	"StopDatabase": func(ctx context.Context, d *Docker) error { return d.StopDatabase(ctx, "x") },
	"Wait":         func(ctx context.Context, d *Docker) error { return d.Wait(ctx, "id") },
}

func TestNoCallWaitsForeverForAnEngineThatNeverAnswers(t *testing.T) {
	t.Parallel()
	all := reflect.TypeFor[*Docker]()
	for i := range all.NumMethod() {
		method := all.Method(i)
		asks := method.Type.NumIn() > 1 && method.Type.In(1) == reflect.TypeFor[context.Context]()
		if asks && calls[method.Name] == nil && method.Name != "Listener" { // which only connects
			t.Errorf("%s is missing from the table of this test", method.Name)
		}
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFakeEngine(t, nil).docker(t, hurried)
			ended := make(chan error, 1)
			go func() { ended <- call(t.Context(), d) }()
			select {
			case err := <-ended:
				if !errors.Is(err, stopwatt.ErrStuck) || !strings.Contains(err.Error(), "did not answer within") {
					t.Errorf("error %v; want one that is ErrStuck", err)
				}
			case <-time.After(time.Minute):
				t.Error("it waits")
			}
		})
	}
}

// unboundedByNature are what the client does without asking, or under another bound.
var unboundedByNature = map[string]bool{
	"within": true, "usual": true, "HTTPClient": true, "ClientVersion": true, "DaemonHost": true, "Close": true,
	"NegotiateAPIVersion": true, // within connectWithin
}

func TestEveryCallOfTheClientIsABoundedOne(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared, used := map[string]bool{}, map[string]token.Position{}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && receiver(n) == "bounded" {
					declared[n.Name.Name] = true
				}
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.SelectorExpr); ok && of.Sel.Name == "client" {
					used[n.Sel.Name] = set.Position(n.Pos())
				}
			}
			return true
		})
	}
	for name, at := range used {
		if !declared[name] && !unboundedByNature[name] {
			t.Errorf("%v: %s is the client's own and waits for ever; give bounded a method of that name", at, name)
		}
	}
	if len(used) < 20 {
		t.Errorf("only %d calls were found", len(used))
	}
}

// receiver is the type that a method is of.
func receiver(f *ast.FuncDecl) string {
	name, _ := f.Recv.List[0].Type.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

func TestAnAnswerThatStopsInTheMiddleIsWaitedForNoLongerThanItsBound(t *testing.T) {
	t.Parallel()
	part := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write([]byte(text)) // the test has its answer, or ends
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	none := refuses(http.StatusNotFound, "No such image")
	unheard := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() } // or a wait would rightly last
	for name, test := range map[string]struct {
		answers map[string]http.HandlerFunc
		call    func(context.Context, *Docker) error
	}{
		"a pull":     {map[string]http.HandlerFunc{"GET /images/*": none, "POST /images/create": part(`{"status":"Pulling fs layer","id":"1"}`)}, calls["Pull"]},
		"a build":    {map[string]http.HandlerFunc{"GET /images/*": none, "POST /build": part(`{"stream":"Step 1/1"}`)}, calls["Build"]},
		"an import":  {map[string]http.HandlerFunc{"GET /images/*": none, "POST /images/create": part(`{"status":"importing"}`)}, calls["AgentImage"]},
		"a log":      {map[string]http.HandlerFunc{"GET /containers/id/json": says(200, running), "GET /containers/id/logs": part("")}, calls["Fate"]},
		"an inspect": {map[string]http.HandlerFunc{"GET /containers/id/json": part(`{"State":`)}, calls["Fate"]},
		"a wait":     {map[string]http.HandlerFunc{"POST /containers/id/wait": part(""), "HEAD /_ping": unheard}, calls["Wait"]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFakeEngine(t, test.answers).docker(t, hurried)
			if err := test.call(t.Context(), d); !errors.Is(err, stopwatt.ErrStuck) {
				t.Errorf("error %v; want one that is ErrStuck", err)
			}
		})
	}
}

// running is what is told of a container that runs.
var running = map[string]any{"Id": "id", "State": map[string]any{"Running": true, "Pid": 42}, "HostConfig": map[string]any{}, "Config": map[string]any{}}

func TestAWaitEndsWhenTheEngineHangsUp(t *testing.T) {
	t.Parallel()
	d := newFakeEngine(t, map[string]http.HandlerFunc{"POST /containers/id/wait": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}}).docker(t, 0)
	if err := d.Wait(t.Context(), "id"); !errors.Is(err, stopwatt.ErrUnreachable) {
		t.Errorf("error %v; want one that is ErrUnreachable", err)
	}
}

func TestAnEngineThatComesBackIsAwaited(t *testing.T) {
	t.Parallel()
	away := 2
	d := newFakeEngine(t, map[string]http.HandlerFunc{
		"HEAD /_ping": func(w http.ResponseWriter, _ *http.Request) {
			if away--; away >= 0 {
				panic(http.ErrAbortHandler)
			}
		},
	}).docker(t, 0)
	if err := d.Await(t.Context(), time.Minute); err != nil || away > 0 {
		t.Errorf("error %v, %d times more it would have been away", err, away)
	}
}

func TestAContainerThatAStoppingEngineEndedIsNoFaultOfTheContainer(t *testing.T) {
	t.Parallel()
	ended := map[string]any{"Id": "id", "State": map[string]any{"ExitCode": 0}, "HostConfig": map[string]any{}, "Config": map[string]any{}}
	e := newFakeEngine(t, map[string]http.HandlerFunc{"GET /containers/id/json": says(http.StatusOK, ended), "GET /containers/id/logs": says(http.StatusOK, nil)})
	d := e.docker(t, 0)
	if fate, err := d.Fate(t.Context(), "id"); err != nil || fate.Running {
		t.Errorf("while the engine is there: %+v, error %v", fate, err)
	}
	if err := os.Remove(e.socket); err != nil { // it takes no other connection, and answers by the one that it has
		t.Fatal(err)
	}
	if _, err := d.Fate(t.Context(), "id"); !errors.Is(err, stopwatt.ErrUnreachable) || !strings.Contains(err.Error(), "the engine stops") {
		t.Errorf("error %v; want one that is ErrUnreachable", err)
	}
}

func TestACallThatIsGivenUpIsNoFailureOfTheEngine(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := create(t, d, stopwatt.ContainerOrder{}, "wait")
	ended := errors.New("the server ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ended)
	_, err := d.Start(ctx, id)
	if !errors.Is(err, ended) || stopwatt.EngineFailed(err) {
		t.Errorf("error %v, of the engine: %v", err, stopwatt.EngineFailed(err))
	}
}

func TestACallThatIsLetGoIsNoFailureOfTheEngine(t *testing.T) {
	t.Parallel()
	ended := errors.New("the server ended")
	for _, name := range []string{"Attach", "AgentVolume", "Execute", "Fate", "JoinNetwork", "Pull", "Start", "Wait"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		e := newFakeEngine(t, map[string]http.HandlerFunc{})
		letGo := func(_ http.ResponseWriter, r *http.Request) {
			cancel(ended)
			select {
			case <-r.Context().Done():
			case <-e.ended.Done(): // what was attached to waits on
			}
		}
		e.answers["GET /*"], e.answers["POST /*"] = letGo, letGo
		if err := calls[name](ctx, e.docker(t, 0)); !errors.Is(err, ended) || stopwatt.EngineFailed(err) {
			t.Errorf("%s: error %v; want the reason why it was let go, and no failure of the engine", name, err)
		}
		cancel(nil)
	}
}
