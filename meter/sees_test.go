package meter

import (
	"os"
	"strings"
	"testing"
)

func TestWhetherTheEnginesContainersAreToBeSeen(t *testing.T) {
	const v1 = "31 23 0:28 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	for name, test := range map[string]struct {
		engine                int
		cgroup, mounts, wrong string
	}{
		"on the engine's host":                   {7, "4:cpu,cpuacct:/system.slice/docker.service\n", v1, ""},
		"on one with the unified hierarchy":      {7, "0::/system.slice/docker.service\n", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", ""},
		"in a container":                         {0, "", "", "stopwatt runs in a container"},
		"where the engine's process is not":      {8, "", v1, "no process 8 here"},
		"in a cgroup namespace":                  {7, "0::/../../system.slice/docker.service\n", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "cgroup namespace"},
		"with a container's part of the cgroups": {7, "4:cpu,cpuacct:/system.slice/docker.service\n", strings.Replace(v1, " / ", " /docker/ID ", 1), "is not mounted here"},
		"without the cgroups' file system":       {7, "4:cpu,cpuacct:/system.slice/docker.service\n", "", "is not mounted here"},
	} {
		t.Run(name, func(t *testing.T) {
			host := tree(t, map[string]string{"proc/7/cgroup": test.cgroup, "proc/self/mountinfo": test.mounts, "proc/self/cgroup": ""})
			for _, dir := range []string{"cpuacct/system.slice/docker.service", "system.slice/docker.service"} {
				if err := os.MkdirAll(host.path("sys/fs/cgroup", dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			err := host.Sees(test.engine)
			if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%v; want %q", err, test.wrong)
			}
		})
	}
}
