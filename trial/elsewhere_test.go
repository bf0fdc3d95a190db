package trial_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// withDriverElsewhere is a place for trials whose driver is in another harbour.
func withDriverElsewhere(t *testing.T) (here *networks, there *harbour, bench trial.Bench) {
	here, bench = harboured(t)
	there = newHarbour(t, http.NotFound)
	bench.Elsewhere = &trial.Elsewhere{Containers: there, Agent: "agent of the other host", Address: "127.0.0.1"}
	return here, there, bench
}

func TestADriverElsewhereAsksAtThePublishedPort(t *testing.T) {
	here, there, bench := withDriverElsewhere(t)
	wanted := order(here.harbour)
	wanted.Workload.HTTP.Port = 8080 // which nobody can reach
	got := valid(t, bench, wanted)
	server, driver := here.orders["server-0"], there.orders["driver-0"]
	if server.Publish == nil || *server.Publish != (stopwatt.Publish{Address: "127.0.0.1", Port: 8080}) || server.Network != "network-0" {
		t.Errorf("the server is published as %+v, in %q", server.Publish, server.Network)
	}
	if driver.Network != stopwatt.NetworkHost || driver.JoinNetwork != "" || driver.Image != "agent of the other host" {
		t.Errorf("the driver is made as %+v", driver)
	}
	if here.there["network-0"] || len(here.ended)+len(there.ended) > 0 {
		t.Errorf("networks %v, containers %v %v stay", here.there, here.ended, there.ended)
	}
	if requests, _ := got.Value("requests"); requests != 120 {
		t.Errorf("%v requests", requests)
	}
	for _, metric := range []string{"ready_time", "cpu_driver"} {
		if !slices.ContainsFunc(got.Absent, func(a stopwatt.Absence) bool {
			return a.Metric == metric && strings.Contains(a.Reason, "another Docker host")
		}) {
			t.Errorf("%s is not said to be absent for the driver is elsewhere", metric)
		}
	}
}

func TestAServerWithCompanionsIsReachedFromElsewhere(t *testing.T) {
	here, _, bench := withDriverElsewhere(t)
	wanted := order(here.harbour)
	wanted.Implementation.Services = []stopwatt.Service{{Name: "db", ImageID: "sha256:2"}}
	valid(t, bench, wanted)
	if !slices.Equal(here.members, []string{"+"}) || here.there["network-0"] || here.there["network-1"] {
		t.Errorf("joined %q, networks %v", here.members, here.there)
	}
}

func TestNothingStaysWhereverATrialWithADriverElsewhereFails(t *testing.T) {
	for _, other := range []bool{false, true} {
		for failAt := 1; failAt <= 4; failAt++ {
			here, there, bench := withDriverElsewhere(t)
			here.failAt = failAt
			if other {
				here.failAt, there.failAt = 0, failAt
			}
			wanted := order(here.harbour)
			if !other {
				wanted.Implementation.Services = []stopwatt.Service{{Name: "db", ImageID: "sha256:2"}}
			}
			got, err := bench.Run(t.Context(), wanted)
			if other && failAt > 3 {
				continue // it makes three calls
			}
			if err != nil || got.Status != stopwatt.Invalid {
				t.Errorf("call %d fails: %s, %v", failAt, got.Status, err)
			}
			if here.there["network-0"] || here.there["network-1"] || len(here.ended)+len(there.ended) > 0 {
				t.Errorf("call %d fails: networks %v, containers %v %v stay", failAt, here.there, here.ended, there.ended)
			}
		}
	}
}
