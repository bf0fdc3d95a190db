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

func TestAServerThatNeverAnsweredLeavesItsPeakOfMemory(t *testing.T) {
	h, above := newHarbour(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), &cgroups{}
	bench := h.bench()
	bench.Parents = above
	ordered := order(h)
	ordered.Workload.HTTP.ReadyWithin = time.Millisecond
	got, err := bench.Run(t.Context(), ordered)
	if err != nil || got.Status != stopwatt.Invalid {
		t.Fatalf("%s, %v", got.Status, err)
	}
	if _, ok := got.Value("memory_peak"); !ok {
		t.Errorf("no peak of memory: %v", got.Absent)
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
