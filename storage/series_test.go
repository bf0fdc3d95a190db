package storage_test

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

func TestSeriesAreReadAsFarAsTheyAreNeeded(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	ids := storedCommits(t, s, 5)
	onlyGo := func(c stopwatt.Case) bool { return c.Implementation == "go" }
	for _, row := range []struct {
		name   string
		newest int
		wanted func(stopwatt.Case) bool
		series int
		runs   []int64
	}{
		{"all", 0, nil, 2, ids},
		{"the newest two commits", 2, nil, 2, ids[3:]},
		{"more than there are", 9, nil, 2, ids},
		{"one case", 0, onlyGo, 1, ids},
		{"the newest of one case", 1, onlyGo, 1, ids[4:]},
		{"no case", 0, func(stopwatt.Case) bool { return false }, 0, nil},
	} {
		all, err := s.Series(t.Context(), storage.SeriesQuery{Project: servers.Project, Suite: servers.Suite, Metric: "time", Profile: "short", Newest: row.newest, Wanted: row.wanted})
		if err != nil || len(all) != row.series {
			t.Errorf("%s: %d series, want %d, error %v", row.name, len(all), row.series, err)
			continue
		}
		for _, series := range all {
			if n := len(series.Points); n != len(row.runs) || series.Points[0].Run != row.runs[0] || series.Points[n-1].Run != row.runs[n-1] || series.Profile != "short" {
				t.Errorf("%s: %+v, want the runs %v", row.name, series, row.runs)
			}
		}
	}
}
