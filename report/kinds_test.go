package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		said []tally
		want []tally
	}{
		{"nothing has no kind", nil, nil},
		{"one text stays as it is", []tally{{"used 6.1 % of the CPU", 1}}, []tally{{"used 6.1 % of the CPU", 1}}},
		{"texts that differ in a number are one kind", []tally{{"used 6.1 % of 4 CPUs", 1}, {"used 12 % of 4 CPUs", 2}}, []tally{{"used 6.1…12 % of 4 CPUs", 3}}},
		{"numbers are compared as numbers", []tally{{"9 times", 1}, {"10 times", 1}, {"10.5 times", 1}}, []tally{{"9…10.5 times", 3}}},
		{"each number has its own span", []tally{{"from 3 to 2", 1}, {"from 4 to 1", 1}}, []tally{{"from 3…4 to 1…2", 2}}},
		{"the most frequent comes first", []tally{{"hot", 1}, {"throttled", 2}}, []tally{{"throttled", 2}, {"hot", 1}}},
		{"words may begin and end with numbers", []tally{{"1 of 2", 1}, {"2 of 3", 1}}, []tally{{"1…2 of 2…3", 2}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, kinds(test.said), cmp.AllowUnexported(tally{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
