package trial_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// immortal is an engine that cannot remove what has this role.
type immortal struct {
	*harbour
	role string
}

func (i immortal) Remove(ctx context.Context, id, signal string) error {
	_ = i.harbour.Remove(ctx, id, signal)
	if strings.HasPrefix(id, i.role) {
		return fmt.Errorf("remove container: did not receive an exit event: %w", stopwatt.ErrStuck)
	}
	return nil
}

func TestAContainerThatCannotBeEndedFailsItsTrialThoughItWasMeasured(t *testing.T) {
	for _, role := range []string{"server", "driver"} {
		h := newHarbour(t, hello)
		bench := h.bench()
		bench.Containers = immortal{h, role}
		_, err := bench.Run(t.Context(), order(h))
		if !stopwatt.EngineFailed(err) || !strings.Contains(err.Error(), "remove the "+role+": remove container: did not receive an exit event") {
			t.Errorf("%s: error %v", role, err)
		}
		if len(h.ended) > 0 || h.removed != 2 {
			t.Errorf("%s: %d containers were not tried to be removed", role, len(h.ended))
		}
	}
}

// departing is an engine that goes away in the middle of the load: what waits for it hears
// that, and what asks it afterwards does not reach it.
type departing struct {
	*harbour
	goes chan struct{}
	gone *atomic.Bool
	why  error
}

func (d departing) Wait(ctx context.Context, _ string) error {
	select {
	case <-d.goes:
		d.gone.Store(true)
		return fmt.Errorf("wait for container: %w", d.why)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d departing) Fate(ctx context.Context, id string) (stopwatt.Fate, error) {
	if d.gone.Load() {
		return stopwatt.Fate{}, fmt.Errorf("inspect container: %w", d.why)
	}
	return d.harbour.Fate(ctx, id)
}

func (d departing) Remove(ctx context.Context, id, signal string) error {
	_ = d.harbour.Remove(ctx, id, signal)
	return fmt.Errorf("remove container: %w", d.why)
}

func TestAnEngineThatGoesAwayUnderLoadIsNotWaitedFor(t *testing.T) {
	for _, why := range []error{stopwatt.ErrUnreachable, stopwatt.ErrStuck} {
		asked, goes := make(chan struct{}, 1), make(chan struct{})
		h := newHarbour(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case asked <- struct{}{}:
				hello(w, r)
			case <-r.Context().Done(): // the driver of this fake goes on, and is not answered
			}
		})
		d := departing{h, goes, &atomic.Bool{}, why}
		bench := h.bench()
		bench.Containers = d
		endless := order(h)
		endless.Workload.Load = stopwatt.Load{Users: 1, For: time.Hour, Timeout: time.Second}
		go func() {
			<-asked // to see that it is ready
			<-asked
			close(goes)
		}()
		_, err := bench.Run(t.Context(), endless)
		if !errors.Is(err, why) || !strings.Contains(err.Error(), "watch the server: ") {
			t.Errorf("%v: error %v", why, err)
		}
		if h.removed != 2 {
			t.Errorf("%v: %d containers were tried to be removed, want both", why, h.removed)
		}
	}
}

func TestAnEngineThatIsStuckIsNoFaultOfTheTrial(t *testing.T) {
	h := newHarbour(t, hello)
	bench := h.bench()
	bench.Containers = stuck{h}
	if _, err := bench.Run(t.Context(), order(h)); !errors.Is(err, stopwatt.ErrStuck) {
		t.Errorf("error %v, want one of a stuck engine", err)
	}
}

// stuck is an engine that starts nothing and says nothing.
type stuck struct{ *harbour }

func (stuck) Start(context.Context, string) (stopwatt.Container, error) {
	return stopwatt.Container{}, fmt.Errorf("start container: %w", stopwatt.ErrStuck)
}

// What goes wrong with the code under test, and with the engine's answer to it, is told each
// by its own words, and the trial is invalid for them.
func TestEachMisfortuneHasItsOwnReason(t *testing.T) {
	for name, test := range map[string]struct {
		fate   stopwatt.Fate
		memory int64
		want   string
	}{
		"dies at once":          {stopwatt.Fate{ExitCode: 7, Log: []string{"no such file"}}, 0, "the server exited with 7; its last lines:\nno such file"},
		"is out of memory":      {stopwatt.Fate{ExitCode: 137, OOMKilled: true}, 64 << 20, "the server exited with 137 (out of memory)"},
		"is most likely so":     {stopwatt.Fate{ExitCode: 137}, 64 << 20, "the server exited with 137 (killed, most likely out of memory: its limit is 64 MiB)"},
		"was killed by others":  {stopwatt.Fate{ExitCode: 137}, 0, "the server exited with 137"},
		"was told by an engine": {stopwatt.Fate{ExitCode: 143}, 0, "the server exited with 143 (told so by SIGTERM"},
		"can start no thread":   {stopwatt.Fate{ExitCode: 2, Log: []string{"failed to create new OS thread"}}, 0, "failed to create new OS thread"},
		"has no room to write":  {stopwatt.Fate{ExitCode: 1, Log: []string{"write /tmp/x: no space left on device"}}, 0, "no space left on device"},
	} {
		h := newHarbour(t, hello)
		h.dies = true
		h.diesOf = test.fate
		failing := order(h)
		failing.Implementation.Memory = test.memory
		got, err := h.bench().Run(t.Context(), failing)
		if err != nil || got.Status != stopwatt.Invalid || !strings.HasPrefix(got.Reason, "the server exited with") || !strings.Contains(got.Reason, test.want) {
			t.Errorf("%s: error %v, reason %q; want %q", name, err, got.Reason, test.want)
		}
	}
}
