package meter

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestDeadKnowsTheLivingFromTheDead(t *testing.T) {
	host := Host{Root: "/"}
	if self := host.Self(); self == "" || host.Dead(self) {
		t.Errorf("this process, %q, is called dead", self)
	}
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	name := host.process(child.Process.Pid)
	if host.Dead(name) {
		t.Errorf("a living child, %q, is called dead", name)
	}
	stdin.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if !host.Dead(name) {
		t.Errorf("a child that has ended, %q, is not called dead", name)
	}
}

func TestDeadIsCarefulWithWhatItCannotSee(t *testing.T) {
	host := Host{Root: "/"}
	self := strings.Split(host.Self(), "/")
	with := func(place int, part string) string {
		changed := slices.Clone(self)
		changed[place] = part
		return strings.Join(changed, "/")
	}
	for _, row := range []struct {
		what, name string
		dead       bool
	}{
		{"nothing", "", false},
		{"another program's label", "somebody", false},
		{"a process of another machine", with(0, "0"), false},
		{"a process of this machine's earlier boot", with(1, "0"), true},
		{"a process of another PID namespace", with(2, "0"), false},
		{"this PID with another start time", with(4, "1"), true},
		{"a PID that is no number", with(3, "one"), false},
	} {
		if got := host.Dead(row.name); got != row.dead {
			t.Errorf("%s, %q: dead is %v, want %v", row.what, row.name, got, row.dead)
		}
	}
}

func TestStartTimeOfACommandWithBracketsInItsName(t *testing.T) {
	stat := "42 (a ) b) S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1"
	if got, ok := startTime([]byte(stat)); !ok || got != "777" {
		t.Errorf("start time is %q, %v; want 777", got, ok)
	}
	if _, ok := startTime([]byte("42 (short")); ok {
		t.Error("a line cut short has a start time")
	}
}
