package containers

import (
	"context"
	"testing"

	"github.com/docker/docker/api/types/image"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAgentImageIsMadeOnce(t *testing.T) {
	t.Parallel()
	d := docker(t)
	binary, err := programBinary()
	if err != nil {
		t.Fatal(err)
	}
	binary = append(binary[:len(binary):len(binary)], thisTest...) // an agent that no other test has
	id, err := d.AgentImage(t.Context(), binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := d.client.ImageRemove(context.Background(), id, image.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
	again, err := d.AgentImage(t.Context(), binary)
	if err != nil || again != id {
		t.Errorf("the second time the image is %s, %v; want %s", again, err, id)
	}
	container, err := d.Create(t.Context(), stopwatt.ContainerOrder{
		Image: id, Command: []string{"exit", "5"}, Labels: map[string]string{stopwatt.LabelRun: thisTest},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove(context.Background(), container, "")
	if _, err := d.Start(t.Context(), container); err != nil {
		t.Fatal(err)
	}
	if fate := finish(t, d, container); fate.ExitCode != 5 {
		t.Errorf("exit code %d, log %q; want 5, the agent's", fate.ExitCode, fate.Log)
	}
}

func TestTheAgentIsBroughtIntoAContainerOfAnotherImage(t *testing.T) {
	t.Parallel()
	d := docker(t)
	binary, err := programBinary()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := d.AgentImage(t.Context(), append(binary[:len(binary):len(binary)], thisTest+" brought"...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := d.client.ImageRemove(context.Background(), agent, image.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
	carrier, err := d.AgentVolume(t.Context(), agent, map[string]string{stopwatt.LabelRun: thisTest})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove(context.Background(), carrier, "")
	inspected, err := d.client.ContainerInspect(t.Context(), carrier)
	if err != nil || len(inspected.Mounts) != 1 {
		t.Fatalf("mounts %v, %v; want one volume", inspected.Mounts, err)
	}
	id, err := d.Create(t.Context(), stopwatt.ContainerOrder{
		Image: theProgram(t), Entrypoint: []string{stopwatt.AgentPath}, Command: []string{"exit", "6"}, VolumesFrom: carrier,
		Labels: map[string]string{stopwatt.LabelRun: thisTest},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove(context.Background(), id, "")
	if _, err := d.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if fate := finish(t, d, id); fate.ExitCode != 6 {
		t.Errorf("exit code %d, log %q; want 6, the agent's", fate.ExitCode, fate.Log)
	}
	for _, id := range []string{id, carrier} {
		if err := d.Remove(t.Context(), id, ""); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.client.VolumeInspect(t.Context(), inspected.Mounts[0].Name); err == nil {
		t.Error("the agent's volume stays")
	}
}
