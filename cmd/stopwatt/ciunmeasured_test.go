package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The note of the pipeline before says that nothing is worse, and must not stay.
func TestAHeadThatCannotBeMeasuredIsToldInTheNote(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.git("update-ref", "refs/heads/faster", "main~1")
	job := f.job(1001, "faster", f.ofMergeRequest("detached"), "--budget", "40m")
	f.expects(job, exitOK, f.note(), "nothing worse", "![0-9] rounds", "!budget") // which is the job's, and no change of the suite file

	f.git("checkout", "-q", "faster")
	f.write("stopwatt.yml", strings.Replace(twoServers, "rounds: 7", "rounds: twelve", 1))
	f.commit("count in words")
	job = f.job(1002, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitAskedWrongly, f.note(), "pipeline=1002", "`servers`: could not be measured", "stopwatt.yml:9:16: ", `"twelve" is no number of rounds`, "!aseline", "!Report")

	f.write("stopwatt.yml", twoServers)
	f.write("spinning/Dockerfile", "FROM scratch\nCOPPY server /server\n")
	f.commit("misspell")
	job = f.job(1003, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitIncomplete, f.note(), "pipeline=1003", "could not be measured", "unknown instruction: COPPY", "^Base .*merge base", "!aseline", "!Report")

	// What is not measured is not known to be gone.
	f.gitlab.MergeRequest(8)
	variables := f.ofMergeRequest("detached")
	variables["CI_MERGE_REQUEST_IID"] = "8"
	job = f.job(1003, "faster", variables, "--note", "thread")
	if notes := f.gitlab.Notes(8); len(notes) != 1 || notes[0].Resolved {
		t.Errorf("%+v\n%s", notes, job.log)
	}

	// Nor is what nobody could begin.
	f.env["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
	job = f.job(1005, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitSurroundings, f.note(), "pipeline=1005", "could not be measured", "/nowhere/docker.sock")
	f.write("stopwatt.yml", twoServers+"}")
	f.commit("end too early")
	job = f.job(1006, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitAskedWrongly, f.note(), "pipeline=1006", "`servers`: could not be measured")
	f.git("rm", "-q", "stopwatt.yml")
	f.commit("measure no more")
	job = f.job(1007, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitAskedWrongly, f.note(), "pipeline=1007", "`servers`: could not be measured", "stopwatt.yml")

	// Nor is one that is named by a folder which is gone.
	f.git("checkout", "-q", "main")
	if err := os.Mkdir(filepath.Join(f.origin, "suites"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("suites/stopwatt.yml", strings.ReplaceAll(strings.Replace(twoServers, "suite: servers", "suite: moved", 1), "build: ", "build: ../"))
	f.commit("a suite in a folder")
	f.git("checkout", "-q", "-B", "faster")
	f.git("rm", "-q", "-r", "suites")
	f.commit("its folder is gone")
	f.gitlab.MergeRequest(9)
	gone := f.ofMergeRequest("detached")
	gone["CI_MERGE_REQUEST_IID"] = "9"
	job = f.job(1008, "faster", gone, "suites")
	if notes := f.gitlab.Notes(9); job.status != exitAskedWrongly || len(notes) != 1 || !strings.Contains(notes[0].Body, "`moved`: could not be measured") {
		t.Errorf("status %d, notes %+v\n%s", job.status, notes, job.log)
	}

	// A closing job that finds nothing does not say that all is well.
	job = f.job(1004, "main", f.ofMergeRequest("detached"), "--conclude")
	f.expects(job, exitIncomplete, job.log, "the jobs of pipeline 1004 have stored no run of suite \"?servers")
}
