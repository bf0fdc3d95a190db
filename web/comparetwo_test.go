package web

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestTimeAndEnergyOfACaseStandSideBySide(t *testing.T) {
	t.Parallel()
	row := func(of, metric string) comparedShown {
		return comparedShown{Case: of, Metric: metric, comparison: stopwatt.Comparison{Metric: stopwatt.Metric{Name: metric}}}
	}
	two := twoOf([]comparedShown{row("go/csv", "throughput"), row("go/csv", "energy_board"), row("rust/csv", "time"), row("go/csv", "time")})
	if two == nil || two.Names != [2]string{"time", "energy_board"} || len(two.Rows) != 2 {
		t.Fatalf("%+v", two)
	}
	if first := two.Rows[0]; first.Case != "go/csv" || first.Cells[0].Metric != "time" || first.Cells[1].Metric != "energy_board" {
		t.Errorf("%+v", first)
	}
	if second := two.Rows[1]; second.Case != "rust/csv" || second.Cells[0].Metric != "time" || second.Cells[1] != nil {
		t.Errorf("%+v", second)
	}
	for name, rows := range map[string][]comparedShown{
		"none": nil, "one metric": {row("go/csv", "time"), row("rust/csv", "time")}, "no case has both": {row("go/csv", "time"), row("rust/csv", "energy_board")},
	} {
		if two := twoOf(rows); two != nil {
			t.Errorf("%s: %+v", name, two)
		}
	}
}
