package meter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMemberships(t *testing.T) {
	t.Parallel()
	all := cmp.AllowUnexported(membership{})
	tests := []struct {
		name, text string
		want       []membership
	}{
		{"nothing", "", nil},
		{"v2", "0::/system.slice/docker.service\n", []membership{{nil, "/system.slice/docker.service"}}},
		{"v1 with two controllers in one hierarchy", "2:cpu,cpuacct:/a\n", []membership{{[]string{"cpu", "cpuacct"}, "/a"}}},
		{"a named hierarchy", "1:name=systemd:/\n", []membership{{[]string{"name=systemd"}, "/"}}},
		{"a path with colons", "0::/a:b::c\n", []membership{{nil, "/a:b::c"}}},
		{"a last line without its end", "0::/a", []membership{{nil, "/a"}}},
	}
	for _, test := range tests {
		got, err := parseMemberships([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got, all); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	for _, text := range []string{"\n", "0:/a\n", "0::\n", "0::a\n", "text\n"} {
		if got, err := parseMemberships([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func TestParseMounts(t *testing.T) {
	t.Parallel()
	text := mountsV1 + mountUnified +
		`50 23 0:50 /docker/x /odd\040\134place rw shared:1 master:2 propagate_from:3 - cgroup none rw,xattr,name=systemd` + "\n" +
		"broken line\n51 23 0:51 / /a rw - \n52 23 0:52 / /a - cgroup x y\n\n"
	want := []mount{
		{"/", "/sys/fs/cgroup/cpu,cpuacct", false, []string{"rw", "cpu", "cpuacct"}},
		{"/", "/sys/fs/cgroup/memory", false, []string{"rw", "memory"}},
		{"/", "/sys/fs/cgroup/blkio", false, []string{"rw", "blkio"}},
		{"/", "/sys/fs/cgroup/pids", false, []string{"rw", "pids"}},
		{"/", "/sys/fs/cgroup/unified", true, []string{"rw"}},
		{"/docker/x", `/odd \place`, false, []string{"rw", "xattr", "name=systemd"}},
	}
	if diff := cmp.Diff(want, parseMounts([]byte(text)), cmp.AllowUnexported(mount{})); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAMountShows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		root, path, want string
		shown            bool
	}{
		{"/", "/docker/x", "/docker/x", true},
		{"/docker", "/docker/x", "/x", true},
		{"/docker/x", "/docker/x", "", true},
		{"/docker/x", "/docker/xy", "", false},
		{"/docker/x", "/docker", "", false},
		{"/..", "/docker", "", false},
	}
	for _, test := range tests {
		got, shown := mount{root: test.root}.shows(test.path)
		if shown != test.shown || (shown && got != test.want) {
			t.Errorf("%s in %s: %q, %v; want %q, %v", test.path, test.root, got, shown, test.want, test.shown)
		}
	}
}

func FuzzCgroupFiles(f *testing.F) {
	f.Add([]byte("0::/a\n2:cpu,cpuacct:/b\n"))
	f.Add([]byte(mountsV1 + mountV2))
	f.Add([]byte("1 2 3 4 5 6 - cgroup a b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		memberships, err := parseMemberships(text)
		if path, _, found := find(memberships, "cpu"); found && (err != nil || !strings.HasPrefix(path, "/")) {
			t.Errorf("%q gave the path %q (%v)", text, path, err)
		}
		for _, m := range parseMounts(text) {
			m.shows("/docker/x")
		}
	})
}
