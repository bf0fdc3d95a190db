package git

import "testing"

func TestAShallowCloneIsMadeLongerByAsManyCommitsAsAreAskedFor(t *testing.T) {
	t.Parallel()
	rd := newRoad(t)
	r := rd.clone(t, rd.head, "5").open(nil)
	for _, test := range []struct{ by, want int }{{0, 5}, {7, 12}, {1000, 60}, {1, 60}} {
		if test.by > 0 {
			if err := r.Lengthen(t.Context(), test.by); err != nil {
				t.Fatal(err)
			}
		}
		commits, err := r.FirstParents(t.Context(), rd.head)
		if err != nil || len(commits) != test.want {
			t.Errorf("%d commits after %d more, want %d: %v", len(commits), test.by, test.want, err)
		}
	}
	if whole, err := r.Whole(t.Context()); !whole || err != nil {
		t.Errorf("whole %t, %v; all of it was fetched", whole, err)
	}
}
