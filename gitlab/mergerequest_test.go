package gitlab_test

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
)

func TestMergeRequestOf(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sha := func(c string) string { return strings.Repeat(c, 40) }
	merged := func(target, merge string, day int, commits ...string) func(*gitlabtest.MergeRequest) {
		return func(m *gitlabtest.MergeRequest) {
			m.State, m.Target, m.Merge, m.Commits, m.Merged = "merged", target, merge, commits, began.AddDate(0, 0, day)
		}
	}
	d.server.MergeRequest(1, merged("main", sha("1"), 3, sha("a"), sha("b")))
	d.server.MergeRequest(2, merged("main", sha("2"), 2, sha("a")))
	d.server.MergeRequest(3, merged("release", sha("3"), 1, sha("a"), sha("1")))
	d.server.MergeRequest(4, func(m *gitlabtest.MergeRequest) { m.Commits = []string{sha("c"), sha("a")} })
	tests := []struct {
		name, sha string
		iid       int
	}{
		{"the commit of a merge", sha("1"), 1},
		{"a commit that came with a merge", sha("b"), 1},
		{"a commit that came twice, first by the second", sha("a"), 2},
		{"a commit of one that is open yet", sha("c"), 0},
		{"a commit that was pushed", sha("d"), 0},
	}
	p := stopwatt.Pipeline{ProjectID: 12, ProjectURL: d.server.ProjectURL, DefaultBranch: "main"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := d.client.MergeRequestOf(t.Context(), p, test.sha)
			if m.IID != test.iid || (err == nil) != (test.iid > 0) {
				t.Errorf("!%d, %v; want !%d", m.IID, err, test.iid)
			}
			if err == nil && (m.ProjectID != 12 || m.ProjectURL != d.server.ProjectURL || m.TargetBranch != "main") {
				t.Errorf("%+v", m)
			}
		})
	}
}
