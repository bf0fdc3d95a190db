package regression

import (
	"strings"
	"testing"
)

func TestRepetitionDoubts(t *testing.T) {
	t.Parallel()
	even := []float64{0.101, 0.100, 0.102, 0.099, 0.100, 0.101, 0.098, 0.100, 0.102, 0.099}
	change := func(i int, to float64) []float64 {
		changed := append([]float64{}, even...)
		changed[i] = to
		return changed
	}
	for _, test := range []struct {
		name  string
		walls []float64
		want  string // a part of each doubt, joined
	}{
		{"even repetitions", even, ""},
		{"a first one that is much slower", change(0, 0.2), "the first repetition took 2 times the median"},
		{"a first one that is much faster is only far out", change(0, 0.01), ""},
		{"one in the middle that is much slower", change(4, 0.2), "1 of 10 repetitions lie far from the median"},
		{"too few to tell", []float64{0.3, 0.1, 0.1, 0.1}, ""},
		{"a single one", []float64{0.1}, ""},
		{"hardly any time", []float64{0.001, 0.002}, "less than 5 ms"},
		{"values that are all alike have no outliers", []float64{1, 1, 1, 1, 1, 1, 2}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(RepetitionDoubts(test.walls), "; ")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("doubts %q, want %q in them", got, test.want)
			}
		})
	}
}

func TestDescribeIsThatOfASummary(t *testing.T) {
	t.Parallel()
	s := Describe([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if s.N != 8 || s.Mean != 5 || s.Median != 4.5 || s.Min != 2 || s.Max != 9 {
		t.Errorf("%+v", s)
	}
}
