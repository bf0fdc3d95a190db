package trial_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// networks are a fake harbour's.
type networks struct {
	*harbour
	there   map[string]bool
	members []string // who joined and left, in order
}

func (n *networks) MakeNetwork(ctx context.Context, labels map[string]string) (string, error) {
	if err := n.call(ctx, "network"); err != nil {
		return "", err
	}
	id := fmt.Sprintf("network-%d", len(n.there))
	n.there[id] = true
	return id, nil
}

func (n *networks) MakeBridge(ctx context.Context, labels map[string]string) (string, error) {
	return n.MakeNetwork(ctx, labels)
}

func (n *networks) RemoveNetwork(_ context.Context, id string) error {
	n.there[id] = false
	return nil
}

func (n *networks) JoinNetwork(ctx context.Context, network, container, alias string) error {
	n.members = append(n.members, "+"+alias)
	return n.call(ctx, "join")
}

func (n *networks) LeaveNetwork(_ context.Context, network, container string) error {
	n.members = append(n.members, "-")
	return nil
}

func (n *networks) Execute(ctx context.Context, _ string, argv []string) (int, string, error) {
	return 0, "", n.call(ctx, "execute "+argv[0])
}

// harboured is a place for trials with companions.
func harboured(t *testing.T) (*networks, trial.Bench) {
	n := &networks{harbour: newHarbour(t, hello), there: map[string]bool{}}
	bench := n.bench()
	bench.Networks, bench.Kept = n, &trial.Kept{}
	return n, bench
}

// accompanied is a trial of a program with a companion of its own and one that is
// kept.
func accompanied() trial.Order {
	order := shell("true")
	order.Implementation.Services = []stopwatt.Service{
		{Name: "db", ImageID: "sha256:2", User: "postgres", Ready: stopwatt.Readiness{Command: []string{"ready"}, Within: 1e9}},
		{Name: "cache", ImageID: "sha256:3", Keep: true},
	}
	return order
}

func TestCompanionsAreOnThePrivateNetworkOfTheirTrial(t *testing.T) {
	n, bench := harboured(t)
	got := valid(t, bench, accompanied())
	db, program := n.orders["service-0"], n.orders["program-2"]
	if db.Network == "" || db.Alias != "db" || db.User != "postgres" || program.Network != db.Network {
		t.Errorf("the companion's order is %+v, the program's %+v", db, program)
	}
	if cpu, ok := got.Value("cpu_service"); !ok || cpu != 2 { // one for each container: see account
		t.Errorf("the companions used %v s of CPU, want 2", cpu)
	}
	valid(t, bench, accompanied())
	fresh, kept := 0, 0
	for _, order := range n.orders {
		switch order.Image {
		case "sha256:2":
			fresh++
		case "sha256:3":
			kept++
		}
	}
	if fresh != 2 || kept != 1 {
		t.Errorf("two trials had %d fresh companions and %d kept ones, want 2 and 1", fresh, kept)
	}
	if want := []string{"+cache", "-", "+cache", "-"}; !slices.Equal(n.members, want) {
		t.Errorf("joined and left: %v, want %v", n.members, want)
	}
}

func TestAServerHasTheNetworkOfItsCompanionsAlone(t *testing.T) {
	n, bench := harboured(t)
	served := order(n.harbour)
	served.Implementation.Services = accompanied().Implementation.Services[:1]
	valid(t, bench, served)
	server := n.orders["server-1"]
	if server.Network != n.orders["service-0"].Network || server.Network == "" {
		t.Errorf("the server's order is %+v", server)
	}
}

func TestEveryCallWithCompanionsMayFailAndNothingOfTheTrialStays(t *testing.T) {
	whole, bench := harboured(t)
	valid(t, bench, accompanied())
	for call := 1; call <= len(whole.calls); call++ {
		t.Run(fmt.Sprintf("call %d, %s", call, whole.calls[call-1]), func(t *testing.T) {
			n, bench := harboured(t)
			n.failAt = call
			got, err := bench.Run(t.Context(), accompanied())
			if err != nil || got.Status != stopwatt.Invalid || !strings.Contains(got.Reason, errHarbour.Error()) {
				t.Errorf("error %v, status %s, reason %q", err, got.Status, got.Reason)
			}
			for id := range n.ended {
				if n.orders[id].Image != "sha256:3" {
					t.Errorf("%s stays", id)
				}
			}
			if n.there["network-0"] {
				t.Error("the trial's network stays")
			}
		})
	}
}

func TestATrialCountsOnlyIfItsCompanionsLasted(t *testing.T) {
	for _, test := range []struct {
		name   string
		fate   stopwatt.Fate
		reason string // a part of it; empty: the trial is valid
	}{
		{"one that lives", stopwatt.Fate{Running: true}, ""},
		{"one that had done what it was there for", stopwatt.Fate{}, ""},
		{"one that died while the program, which did not need it any more, went on", stopwatt.Fate{ExitCode: 5, Log: []string{"lost my disk"}}, "service db: the service exited with 5; its last lines:\nlost my disk"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, bench := harboured(t)
			n.fates["service-0"] = test.fate
			got, err := bench.Run(t.Context(), accompanied())
			if err != nil || (got.Reason == "") != (test.reason == "") || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("error %v, reason %q, want %q in it", err, got.Reason, test.reason)
			}
		})
	}
}

func TestACompanionThatDiedIsNamed(t *testing.T) {
	n, bench := harboured(t)
	failing := accompanied()
	failing.Workload.Command.Run = []string{"exit 3"}
	failing.Implementation.Services = failing.Implementation.Services[:1]
	n.fates["service-0"] = stopwatt.Fate{ExitCode: 9, Log: []string{"no space left"}}
	got, err := bench.Run(t.Context(), failing)
	if err != nil || !strings.Contains(got.Reason, "service db: the service exited with 9") || !strings.Contains(got.Reason, "no space left") {
		t.Errorf("error %v, reason %q", err, got.Reason)
	}
}
