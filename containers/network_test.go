package containers

import (
	"context"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/network"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAPrivateNetworkLeadsNowhereAndKnowsItsMembers(t *testing.T) {
	t.Parallel()
	d := docker(t)
	owner := thisTest + " network"
	id, err := d.MakeNetwork(t.Context(), map[string]string{stopwatt.LabelRun: thisTest, stopwatt.LabelOwner: owner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.RemoveNetwork(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	made, err := d.client.NetworkInspect(t.Context(), id, network.InspectOptions{})
	if err != nil || !made.Internal {
		t.Fatalf("%+v, %v; want an internal network", made, err)
	}
	one := start(t, d, stopwatt.ContainerOrder{Network: id, Alias: "one"}, "wait")
	inspected, err := d.client.ContainerInspect(t.Context(), one.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range inspected.NetworkSettings.Networks {
		if endpoint.NetworkID != id || !slices.Contains(endpoint.Aliases, "one") || len(inspected.NetworkSettings.Networks) != 1 {
			t.Errorf("it is in %+v", inspected.NetworkSettings.Networks)
		}
	}
	if status, _, err := d.Execute(t.Context(), one.ID, []string{"/program", "exit", "4"}); err != nil || status != 4 {
		t.Errorf("a program in it exits with %d, %v; want 4", status, err)
	}

	left, err := d.Leftovers(t.Context(), func(of string) bool { return of == owner })
	if err != nil || len(left) != 1 || !left[0].Network || left[0].ID != id {
		t.Fatalf("leftovers %+v, %v; want the network", left, err)
	}
	if err := d.Remove(t.Context(), one.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Clean(t.Context(), left); err != nil {
		t.Error(err)
	}
	if _, err := d.client.NetworkInspect(t.Context(), id, network.InspectOptions{}); err == nil {
		t.Error("the network stays")
	}
}
