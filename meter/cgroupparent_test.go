package meter

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCgroupParentIsNamedAsTheDriverWants(t *testing.T) {
	t.Parallel()
	for driver, want := range map[string]string{"cgroupfs": "/stopwatt_ab12_7_server", "systemd": "stopwatt_ab12_7_server.slice"} {
		if got := CgroupParent("ab12", 7, "server", driver); got != want {
			t.Errorf("%s: %q, want %q", driver, got, want)
		}
	}
}

// below is a machine whose container has a parent cgroup of ours.
func below(parent string) map[string]string {
	return with(v2, map[string]string{
		"proc/42/cgroup":                              "0::/" + parent + "/docker-ID.scope\n",
		"sys/fs/cgroup/" + parent + "/cpu.stat":       "usage_usec 500\nuser_usec 300\nsystem_usec 200\n",
		"sys/fs/cgroup/" + parent + "/memory.peak":    "77\n",
		"sys/fs/cgroup/" + parent + "/memory.current": "7\n",
	})
}

func TestAParentKeepsTheTotalsOfItsContainers(t *testing.T) {
	t.Parallel()
	account, err := tree(t, below("stopwatt_ab12_7_server.slice")).ParentAccount(42)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	if usage := account.Read(); usage.CPU != 500000 || usage.MemoryPeak != 77 {
		t.Errorf("%+v", usage)
	}
}

func TestWhatIsNoParentOfOursIsNotReadAsOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		says  string
	}{
		{"the parent of all containers", v2, "was not made for this trial"},
		{"a container in the root", with(v2, map[string]string{"proc/42/cgroup": "0::/docker-ID.scope\n"}), "was not made for this trial"},
		{"a process that has ended", with(v2, map[string]string{"proc/42/cgroup": ""}), "no process 42"},
		{"v1 whose cgroups do not count what is below them", with(v1, map[string]string{
			"proc/42/cgroup": strings.ReplaceAll(v1["proc/42/cgroup"], "/docker/", "/stopwatt_ab12_7_server/"),
			"sys/fs/cgroup/memory/stopwatt_ab12_7_server/memory.use_hierarchy": "0\n",
		}), "memory.use_hierarchy is 0"},
	}
	for _, test := range tests {
		account, err := tree(t, test.files).ParentAccount(42)
		if err == nil {
			account.Close()
			t.Errorf("%s: it was opened", test.name)
		} else if !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q does not say %q", test.name, err, test.says)
		}
	}
}

func TestTheParentsOfOneRunAreRemovedAndNoOthers(t *testing.T) {
	t.Parallel()
	host := tree(t, map[string]string{"proc/self/mountinfo": mountUnified + mountsV1})
	dirs := map[string]bool{ // and whether it stays
		"sys/fs/cgroup/memory/stopwatt_ab12_7_server":        false,
		"sys/fs/cgroup/unified/stopwatt_ab12_7_server":       false,
		"sys/fs/cgroup/unified/stopwatt_ab12_8_driver.slice": false,
		"sys/fs/cgroup/unified/stopwatt_ab13_7_server":       true,
		"sys/fs/cgroup/unified/docker":                       true,
		"sys/fs/cgroup/unified/stopwatt_ab12_9_server/child": true,
	}
	for dir := range dirs {
		if err := os.MkdirAll(host.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := host.RemoveParents(t.Context(), "ab12")
	if err == nil || !strings.Contains(err.Error(), "stopwatt_ab12_9_server") {
		t.Errorf("a container is left in one, and the error is %v", err)
	}
	for dir, stays := range dirs {
		if exists(host.path(dir)) != stays {
			t.Errorf("%s: stays is %v, want %v", dir, !stays, stays)
		}
	}
}

func TestSystemdIsToldToForgetItsSlices(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >> " + dir + "/told\necho no bus; exit $(cat " + dir + "/status)\n"
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	slices := []string{"/a/stopwatt_ab12_1_server.slice", "/b/stopwatt_ab12_1_server.slice", "/a/stopwatt_ab12_2_server.slice", "/a/stopwatt_ab12_3_server"}
	for status, fails := range map[string]bool{"0": false, "1": true} {
		put(t, Host{Root: dir}, "status", status)
		os.Remove(filepath.Join(dir, "told"))
		errs := Host{}.stopSlices(t.Context(), slices)
		told, err := os.ReadFile(filepath.Join(dir, "told"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "stop -- stopwatt_ab12_1_server.slice stopwatt_ab12_2_server.slice\n"; string(told) != want {
			t.Errorf("systemd was told %q, want %q", told, want)
		}
		if (len(errs) > 0) != fails || fails && !strings.Contains(errs[0].Error(), "no bus") {
			t.Errorf("it ended with %s, and the errors are %v", status, errs)
		}
	}
}

func TestAParentOutlivesItsContainer(t *testing.T) {
	needDocker(t)
	if driver := docker(t, nil, "info", "--format", "{{.CgroupDriver}}"); driver != "cgroupfs" {
		t.Skipf("the engine's driver is %s: its slices are systemd's to remove", driver)
	}
	run := strings.ToLower(strings.ReplaceAll(t.Name(), "_", "")) + filepath.Base(t.TempDir())
	t.Cleanup(func() {
		if err := (Host{}).RemoveParents(context.WithoutCancel(t.Context()), run); err != nil {
			t.Error(err)
		}
	})
	b := startBurn(t, "--cgroup-parent="+CgroupParent(run, 1, "server", "cgroupfs"))
	parent, err := Host{}.ParentAccount(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	before := parent.Read()
	willing, unwilling := b.do(t, "sleep")
	docker(t, nil, "rm", "--force", b.container)
	after := parent.Read()
	lacked := lackedHere(after)
	checkFields(t, after, lacked)
	if after.CPU < b.cpu || after.MemoryPeak < b.memory && lacked["MemoryPeak"] == "" || after.MemoryCurrent > b.memory/2 || after.PidsCurrent != 0 {
		t.Errorf("after its end: %+v; it used %d ns and %d bytes", after, b.cpu, b.memory)
	}
	if got, reason := after.Since(before, "ContextSwitches"); lacked["ContextSwitches"] == "" && (reason != "" || got < willing+unwilling) {
		t.Errorf("its context switches rose by %d (%s); the program counted %d", got, reason, willing+unwilling)
	}
	if after.ThreadsEnded == 0 {
		t.Error("its threads are said to live")
	}
	if err := (Host{}).RemoveParents(t.Context(), run); err != nil {
		t.Error(err)
	}
	if unread := parent.Read(); unread.Absent["CPU"] != errEnded.Error() {
		t.Errorf("it was removed, and its CPU time is %d, %q", unread.CPU, unread.Absent["CPU"])
	}
}
