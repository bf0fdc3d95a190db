package containers

import (
	"context"
	"sync"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	d := docker(t)
	tests := []struct {
		name   string
		make   func(t *testing.T) string
		signal string
	}{
		{"one that was never started", func(t *testing.T) string { return create(t, d, stopwatt.ContainerOrder{}, "wait") }, ""},
		{"one that runs", func(t *testing.T) string { return start(t, d, stopwatt.ContainerOrder{}, "wait").ID }, ""},
		{"one that has ended, politely", ended(d), "SIGTERM"},
		{"one that runs, by a signal that does not exist", func(t *testing.T) string { return start(t, d, stopwatt.ContainerOrder{}, "wait").ID }, "SIGNONE"},
		{"one that does not exist", func(*testing.T) string { return "no-such-container" }, "SIGTERM"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			id := test.make(t)
			if err := d.Remove(t.Context(), id, test.signal); err != nil {
				t.Fatal(err)
			}
			if exists(t, d, id) {
				t.Error("it is still there")
			}
		})
	}
}

// ended makes a container that has exited.
func ended(d *Docker) func(t *testing.T) string {
	return func(t *testing.T) string {
		id := start(t, d, stopwatt.ContainerOrder{}, "exit", "0").ID
		finish(t, d, id)
		return id
	}
}

func TestStopSignalIsHeardBeforeTheEnd(t *testing.T) {
	t.Parallel()
	d := docker(t)
	server := start(t, d, stopwatt.ContainerOrder{Stdin: true}, "polite")
	firstLine(t, d, server.ID)
	d.tellToStop(t.Context(), server.ID, "SIGUSR1")
	if fate := finish(t, d, server.ID); fate.ExitCode != 17 {
		t.Errorf("exit code %d, log %q; want 17, its own", fate.ExitCode, fate.Log)
	}
}

func TestRemoveAfterTheInterrupt(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := start(t, d, stopwatt.ContainerOrder{}, "wait").ID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Remove(ctx, id, ""); err != nil {
		t.Fatal(err)
	}
	if exists(t, d, id) {
		t.Error("it is still there")
	}
}

func TestTwoRemoveOne(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := start(t, d, stopwatt.ContainerOrder{}, "wait").ID
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := d.Remove(context.Background(), id, ""); err != nil {
				t.Error(err)
			}
			if exists(t, d, id) {
				t.Error("it is still there")
			}
		})
	}
	both.Wait()
}

func TestWaitIsLetGo(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := start(t, d, stopwatt.ContainerOrder{}, "wait").ID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Wait(ctx, id); err == nil {
		t.Error("a container that runs was waited for")
	}
}
