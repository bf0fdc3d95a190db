package trial_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestEachContainerOfATrialHasAParentCgroup(t *testing.T) {
	h, above := newHarbour(t, hello), &cgroups{}
	bench := h.bench()
	bench.Parents = above
	ordered := order(h)
	ordered.Position = 7
	got, err := bench.Run(t.Context(), ordered)
	if err != nil || got.Status != stopwatt.Valid {
		t.Fatalf("%s %s, %v", got.Status, got.Reason, err)
	}
	var named []string
	for _, each := range h.orders {
		named = append(named, each.CgroupParent)
	}
	slices.Sort(named)
	if want := []string{"/7_driver2", "/7_server1"}; !slices.Equal(named, want) {
		t.Errorf("parents %q, want %q", named, want)
	}
	if want := []string{"remove 7"}; !slices.Equal(above.asked, want) {
		t.Errorf("asked %q, want %q", above.asked, want)
	}
}

func TestAServerThatNeverAnsweredLeavesWhatItUsed(t *testing.T) {
	h, above := newHarbour(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), &cgroups{}
	bench := h.bench()
	bench.Parents = above
	ordered := order(h)
	ordered.Workload.HTTP.ReadyWithin = time.Millisecond
	got, err := bench.Run(t.Context(), ordered)
	if err != nil || got.Status != stopwatt.Invalid {
		t.Fatalf("%s, %v", got.Status, err)
	}
	for metric, want := range map[string]float64{"memory_peak": 2 << 20, "cpu_server": 1, "cpu_server_user": 0.6, "cpu_server_system": 0.4} {
		if value, ok := got.Value(metric); !ok || value != want {
			t.Errorf("%s is %v, want %v; absent: %v", metric, value, want, got.Absent)
		}
	}
	if want := []string{"cpu_server is that of the server's whole life: it failed before it was driven"}; !slices.Equal(got.Warnings, want) {
		t.Errorf("warnings %q", got.Warnings)
	}
	if want := []string{"account 7 server1", "remove 7"}; !slices.Equal(above.asked, want) {
		t.Errorf("asked %q", above.asked)
	}
}

func TestAServerThatDiesUnderLoadLeavesWhatItUsed(t *testing.T) {
	h := newHarbour(t, hello)
	h.dies = true
	got, err := h.bench().Run(t.Context(), order(h))
	if err != nil || got.Status != stopwatt.Invalid {
		t.Fatalf("%s, %v", got.Status, err)
	}
	for _, metric := range []string{"memory_peak", "cpu_server"} {
		if _, ok := got.Value(metric); !ok {
			t.Errorf("no %s: %v", metric, got.Absent)
		}
	}
}
