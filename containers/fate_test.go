package containers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestFateOfWhatRuns(t *testing.T) {
	t.Parallel()
	d := docker(t)
	server := start(t, d, stopwatt.ContainerOrder{}, "stay", "I do not listen")
	firstLine(t, d, server.ID)
	fate, err := d.Fate(t.Context(), server.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := stopwatt.Fate{Running: true, Log: []string{"I do not listen"}}
	if diff := cmp.Diff(want, fate); diff != "" {
		t.Error(diff)
	}
}

func TestFateOfWhatExited(t *testing.T) {
	t.Parallel()
	d := docker(t)
	fate := finish(t, d, start(t, d, stopwatt.ContainerOrder{}, "exit", "41").ID)
	if fate.Running || fate.ExitCode != 41 || fate.OOMKilled {
		t.Errorf("running %v, exit code %d, out of memory %v; want 41", fate.Running, fate.ExitCode, fate.OOMKilled)
	}
	said := strings.Join(fate.Log, "|")
	if !strings.Contains(said, "last words") || !strings.Contains(said, "and a complaint") {
		t.Errorf("log %q lacks a line", said)
	}
}

// An engine misses one now and then: its shim looks for what ran out of memory when the
// cgroup may be gone already. It is package trial that says then what is most likely.
func TestFateOfWhatRanOutOfMemory(t *testing.T) {
	t.Parallel()
	d := docker(t)
	for range 5 {
		fate := finish(t, d, start(t, d, stopwatt.ContainerOrder{Memory: 32 << 20}, "eat").ID)
		if fate.Running || fate.ExitCode != 137 {
			t.Fatalf("running %v, exit code %d; want 137", fate.Running, fate.ExitCode)
		}
		if fate.OOMKilled {
			return
		}
	}
	t.Error("five containers ran out of memory, and of none the engine's word was heard")
}

func TestLogOfAFlood(t *testing.T) {
	t.Parallel()
	d := docker(t)
	fate := finish(t, d, start(t, d, stopwatt.ContainerOrder{}, "flood", "5000").ID)
	if len(fate.Log) != lastLines {
		t.Fatalf("%d lines; want %d", len(fate.Log), lastLines)
	}
	for i, line := range fate.Log {
		if want := fmt.Sprint(5000-lastLines+i, " xxx"); !strings.HasPrefix(line, want) || len(line) > maxLineBytes {
			t.Fatalf("line %d has %d bytes and begins %.20q; want %q", i, len(line), line, want)
		}
	}
}

func TestLogCannotCommandTheTerminal(t *testing.T) {
	t.Parallel()
	d := docker(t)
	fate := finish(t, d, start(t, d, stopwatt.ContainerOrder{}, "print", `"\x1b[2J\x1b[31mred\x1b[0m\nback\rspace\x07\n"`).ID)
	if diff := cmp.Diff([]string{"red", "space�"}, fate.Log); diff != "" {
		t.Error(diff)
	}
}

func TestFateOfAStranger(t *testing.T) {
	t.Parallel()
	if _, err := docker(t).Fate(t.Context(), "no-such-container"); err == nil {
		t.Error("there is a fate")
	}
}
