package meter

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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
	account, err := tree(t, below("stopwatt_ab12_7_server.slice")).Account(42)
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
		want  bool
	}{
		{"a parent of ours", below("stopwatt_ab12_7_server.slice"), true},
		{"the parent of all containers", v2, false},
		{"a container in the root", with(v2, map[string]string{"proc/42/cgroup": "0::/docker-ID.scope\n"}), false},
		{"v1 whose cgroups do not count what is below them", with(v1, map[string]string{
			"proc/42/cgroup": strings.ReplaceAll(v1["proc/42/cgroup"], "/docker/", "/stopwatt_ab12_7_server/"),
			"sys/fs/cgroup/memory/stopwatt_ab12_7_server/memory.use_hierarchy": "0\n",
		}), false},
		{"v1 whose cgroups do", with(v1, map[string]string{
			"proc/42/cgroup": strings.ReplaceAll(v1["proc/42/cgroup"], "/docker/", "/stopwatt_ab12_7_server/"),
			"sys/fs/cgroup/memory/stopwatt_ab12_7_server/memory.use_hierarchy": "1\n",
		}), true},
	}
	for _, test := range tests {
		s, err := tree(t, test.files).look(42)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.belowOurs(); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestTheParentsOfOneTrialAreRemovedAndNoOthers(t *testing.T) {
	t.Parallel()
	host := tree(t, map[string]string{"proc/self/mountinfo": mountUnified + mountsV1})
	dirs := map[string]bool{ // and whether it stays
		"sys/fs/cgroup/memory/stopwatt_ab12_7_server":        false,
		"sys/fs/cgroup/unified/stopwatt_ab12_7_server":       false,
		"sys/fs/cgroup/unified/stopwatt_ab12_7_driver.slice": false,
		"sys/fs/cgroup/unified/stopwatt_ab12_70_server":      true,
		"sys/fs/cgroup/unified/stopwatt_ab13_7_server":       true,
		"sys/fs/cgroup/unified/docker":                       true,
		"sys/fs/cgroup/unified/stopwatt_ab12_7_other/child":  true,
	}
	for dir := range dirs {
		if err := os.MkdirAll(host.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := host.RemoveParents(t.Context(), "ab12", 7)
	if err == nil || !strings.Contains(err.Error(), "stopwatt_ab12_7_other") {
		t.Errorf("a container is left in one, and the error is %v", err)
	}
	for dir, stays := range dirs {
		if exists(host.path(dir)) != stays {
			t.Errorf("%s: stays is %v, want %v", dir, !stays, stays)
		}
	}
}

func TestForgottenParentsAreRemovedAndThoseInUseStay(t *testing.T) {
	t.Parallel()
	host := tree(t, map[string]string{"proc/self/mountinfo": mountUnified + mountsV1})
	old := time.Now().Add(-time.Hour)
	dirs := map[string]bool{ // and whether it stays
		"sys/fs/cgroup/memory/stopwatt_ab12_7_server":        false,
		"sys/fs/cgroup/unified/stopwatt_ab12_7_server":       false,
		"sys/fs/cgroup/unified/stopwatt_ab13_1_server":       false,
		"sys/fs/cgroup/unified/docker":                       true,
		"sys/fs/cgroup/unified/stopwatt_ab12_9_server/child": true,
	}
	for dir := range dirs {
		if err := os.MkdirAll(host.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(host.path(dir), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(host.path("sys/fs/cgroup/unified/stopwatt_ab12_9_server"), old, old); err != nil {
		t.Fatal(err)
	}
	fresh := host.path("sys/fs/cgroup/unified/stopwatt_ab14_1_server")
	if err := os.MkdirAll(fresh, 0o755); err != nil {
		t.Fatal(err)
	}
	if n, err := host.RemoveForgottenParents(t.Context()); n != 2 || err != nil {
		t.Errorf("%d removed, %v; want 2", n, err)
	}
	for dir, stays := range dirs {
		if exists(host.path(dir)) != stays {
			t.Errorf("%s: stays is %v, want %v", dir, !stays, stays)
		}
	}
	if !exists(fresh) {
		t.Error("that of a trial that is just beginning was removed")
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
		if err := (Host{}).RemoveParents(context.WithoutCancel(t.Context()), run, 1); err != nil {
			t.Error(err)
		}
	})
	b := startBurn(t, "--cgroup-parent="+CgroupParent(run, 1, "server", "cgroupfs"))
	parent, err := Host{}.Account(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	before := parent.Read()
	willing, unwilling := b.do(t, "sleep")
	docker(t, nil, "rm", "--force", b.container)
	after := parent.Read()
	lacked := lackedHere(after)
	checkFields(t, after, with(map[string]string{"Throttled": "its container has ended"}, lacked))
	if after.CPU < b.cpu || after.MemoryPeak < b.memory && lacked["MemoryPeak"] == "" || after.MemoryCurrent > b.memory/2 || after.PidsCurrent != 0 {
		t.Errorf("after its end: %+v; it used %d ns and %d bytes", after, b.cpu, b.memory)
	}
	if got, reason := after.Since(before, "ContextSwitches"); lacked["ContextSwitches"] == "" && (reason != "" || got < willing+unwilling) {
		t.Errorf("its context switches rose by %d (%s); the program counted %d", got, reason, willing+unwilling)
	}
	if after.ThreadsEnded == 0 {
		t.Error("its threads are said to live")
	}
	named, err := Host{NoCounters: true}.ParentAccount(CgroupParent(run, 1, "server", "cgroupfs"))
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	if later := named.Read(); later.CPU != after.CPU || later.MemoryPeak != after.MemoryPeak {
		t.Errorf("by its name: %+v; by its process: %+v", later, after)
	}
	if err := (Host{}).RemoveParents(t.Context(), run, 1); err != nil {
		t.Error(err)
	}
	if unread := parent.Read(); unread.Absent["CPU"] != errEnded.Error() {
		t.Errorf("it was removed, and its CPU time is %d, %q", unread.CPU, unread.Absent["CPU"])
	}
}

func TestAParentIsReadByItsNameWhenNobodyIsLeftInIt(t *testing.T) {
	t.Parallel()
	for driver, dir := range map[string]string{"systemd": "stopwatt_ab12_7_server1.slice", "cgroupfs": "stopwatt_ab12_7_server1"} {
		files := below(dir)
		delete(files, "proc/42/cgroup") // the container has ended
		host := tree(t, with(files, map[string]string{
			"proc/" + strconv.Itoa(os.Getpid()) + "/cgroup": v2["proc/self/cgroup"],
			"sys/fs/cgroup/" + dir + "/cgroup.controllers":  "cpu io memory pids\n",
			"sys/fs/cgroup/" + dir + "/cgroup.threads":      "",
		}))
		account, err := host.ParentAccount(CgroupParent("ab12", 7, "server1", driver))
		if err != nil {
			t.Fatalf("%s: %v", driver, err)
		}
		defer account.Close()
		if usage := account.Read(); usage.CPU != 500000 || usage.CPUUser != 300000 || usage.MemoryPeak != 77 {
			t.Errorf("%s: %+v", driver, usage)
		}
		if _, err := host.ParentAccount(CgroupParent("ab12", 8, "server1", driver)); err == nil {
			t.Errorf("%s: a parent that is not there is read", driver)
		}
	}
}
