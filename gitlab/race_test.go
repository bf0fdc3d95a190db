package gitlab_test

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt/gitlab"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
)

func TestTheSecondNoteMayBeDeletedByTheOtherJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(1, note("one"))
	second := d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 1001}, Body: d.server.Notes(7)[0].Body})
	d.server.Trouble("DELETE .*", 1, gitlabtest.First(func() { d.server.Delete(7, second) }))
	if posted := d.post(2, note("two")); posted.Did != gitlab.Edited || len(d.bodies()) != 1 {
		t.Errorf("posted %+v, notes are %q", posted, d.bodies())
	}
}

func TestANoteThatAPersonEditedIsSetRight(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(1, note("one"))
	edited := d.server.Notes(7)[0].Body + "\nand more"
	d.server.Delete(7, d.server.Notes(7)[0].ID)
	d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 1001}, Body: edited})
	if posted := d.post(1, note("one")); posted.Did != gitlab.Edited || d.bodies()[0] != "one" {
		t.Errorf("posted %+v, notes are %q", posted, d.bodies())
	}
}

func TestANoteThatGitLabStoresOtherwiseIsNotEditedAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.server.Trouble("GET "+allNotes, 1, gitlabtest.Answer(200, "[]", "Content-Type", "application/json"))
	d.server.Trouble("GET "+allNotes, 1, gitlabtest.First(func() {
		n := d.server.Notes(7)[0]
		d.server.Delete(7, n.ID)
		n.Body += "\nwhat GitLab adds"
		d.server.Write(7, n)
	}))
	d.server.Trouble("POST "+allNotes, 1, gitlabtest.After(gitlabtest.BadGateway))
	if posted := d.post(1, note("one")); posted.Did != gitlab.Created || d.count("PUT") != 0 {
		t.Errorf("posted %+v with %d edits", posted, d.count("PUT"))
	}
}
