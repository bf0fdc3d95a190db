package jobs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestServicesAreRead(t *testing.T) {
	t.Parallel()
	suite := read(t, `
suite: services
implementations:
  a: {image: x, services: {db: {image: "postgres:15", user: postgres, env: {A: b}, command: [postgres, -N, "10"], cpus: 0-1, memory: 1GiB, writable: true, ready: {command: [pg_isready], within: 1m}, keep: run}}}
workloads:
  w: {command: {run: [/a]}, services: {cache: {build: go, ready: {port: 6379}}}}
`, "")
	want := []stopwatt.Service{
		{
			Name: "db", Image: "postgres:15", User: "postgres", Env: map[string]string{"A": "b"}, Command: []string{"postgres", "-N", "10"},
			CPUs: "0-1", Memory: 1 << 30, Writable: true, Ready: stopwatt.Readiness{Command: []string{"pg_isready"}, Within: time.Minute}, Keep: true,
		},
		{Name: "cache", Build: &stopwatt.Build{Context: "go"}, Ready: stopwatt.Readiness{Port: 6379, Within: 30 * time.Second}},
	}
	if diff := cmp.Diff(want, suite.Implementations[0].ServicesUnder(suite.Workloads[0])); diff != "" {
		t.Errorf("services differ (-want +got):\n%s", diff)
	}
}
