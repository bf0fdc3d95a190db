package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// A forge is a GitLab with a project of two servers, its origin, and what a runner
// has for its jobs.
type forge struct {
	*testing.T
	gitlab *gitlabtest.Server
	origin string
	env    map[string]string // of every job
	jobs   int
}

// A finished job: its exit status, its log, and where its checkout is.
type finishedJob struct {
	status int
	log    string
	folder string
}

const twoServers = `suite: servers
implementations:
  steady: {build: steady}
  spinning: {build: spinning}
workloads:
  hello:
    http: {port: 8080, request: {path: /}}
    load: {users: 1, requests: 20}
plan: {rounds: 7, warmup: 0s, settle: 0s, null-server: false}
meters: {idle: 0s}
judge: {metrics: {time: 10%}}
`

// newForge makes the project: main with two servers, and the branch faster, that has
// one of them spin, while main goes on.
func newForge(t *testing.T) *forge {
	requireDocker(t)
	programs := buildPrograms(t)
	removeAgentLater(t, programs)
	stopwatt, err := exec.LookPath("stopwatt")
	if err != nil {
		t.Fatal(err)
	}
	agent := "stopwatt-agent-linux-" + runtime.GOARCH
	if err := copyFile(filepath.Join(programs, agent), filepath.Join(filepath.Dir(stopwatt), agent)); err != nil {
		t.Fatal(err)
	}
	work := openFolder(t)
	database := embeddedtest.ForTest(t)
	t.Cleanup(func() { removeImages(t, database) })
	f := &forge{T: t, gitlab: gitlabtest.Start(t), origin: filepath.Join(work, "origin")}
	f.gitlab.MergeRequest(7)
	project := strconv.FormatInt(f.gitlab.Project, 10)
	f.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": work, "XDG_DATA_HOME": filepath.Join(work, "data"), "DOCKER_HOST": os.Getenv("DOCKER_HOST"),
		"STOPWATT_LOCK": filepath.Join(work, ".lock"), "STOPWATT_DATABASE": database,
		"CI": "true", "GITLAB_CI": "true", "CI_API_V4_URL": f.gitlab.URL, "STOPWATT_GITLAB_TOKEN": f.gitlab.Token,
		"CI_PROJECT_ID": project, "CI_PROJECT_PATH": "team/servers", "CI_PROJECT_URL": f.gitlab.ProjectURL, "CI_DEFAULT_BRANCH": "main",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
		"GIT_CONFIG_GLOBAL": os.DevNull,
	}
	for _, name := range []string{"steady", "spinning"} {
		folder := filepath.Join(f.origin, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := installServer(folder, programs); err != nil {
			t.Fatal(err)
		}
	}
	f.write("stopwatt.yml", twoServers)
	f.git("init", "-q", "-b", "main")
	f.git("config", "uploadpack.allowAnySHA1InWant", "true")
	f.commit("two servers")
	f.git("checkout", "-q", "-b", "faster")
	f.spin(true)
	f.commit("make it faster, or so we think")
	f.git("checkout", "-q", "main")
	f.write("other.txt", "nothing that is measured")
	f.commit("main goes on")
	return f
}

// spin has a server waste time, or not.
func (f *forge) spin(on bool) {
	mode := ""
	if on {
		mode = "ENV MODE=spins\n"
	}
	f.write("spinning/Dockerfile", "FROM scratch\nCOPY server /server\n"+mode+"EXPOSE 8080\nENTRYPOINT [\"/server\"]\n")
}

func (f *forge) write(name, text string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.origin, name), []byte(text), 0o644); err != nil {
		f.Fatal(err)
	}
}

// git runs git in the origin and returns what it prints.
func (f *forge) git(arguments ...string) string {
	f.Helper()
	return f.gitIn(f.origin, arguments...)
}

func (f *forge) gitIn(folder string, arguments ...string) string {
	f.Helper()
	command := exec.Command("git", arguments...)
	command.Dir, command.Env = folder, f.environment(nil)
	out, err := command.CombinedOutput()
	if err != nil {
		f.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *forge) commit(message string) {
	f.Helper()
	f.git("add", ".")
	f.git("commit", "-q", "-m", message)
}

func (f *forge) environment(more map[string]string) []string {
	all := maps.Clone(f.env)
	maps.Copy(all, more)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}

// job runs `stopwatt ci` as a runner does: in a shallow clone, on no branch.
func (f *forge) job(pipeline int, ref string, variables map[string]string, arguments ...string) finishedJob {
	f.Helper()
	return f.finish(f.begin(pipeline, ref, variables, arguments...), func(*exec.Cmd) {})
}

// begin makes the clone and the command of a job.
func (f *forge) begin(pipeline int, ref string, variables map[string]string, arguments ...string) *exec.Cmd {
	f.Helper()
	f.jobs++
	folder := filepath.Join(filepath.Dir(f.origin), fmt.Sprintf("job%d", f.jobs))
	sha := f.git("rev-parse", ref)
	f.gitIn(filepath.Dir(f.origin), "init", "-q", folder)
	f.gitIn(folder, "remote", "add", "origin", "file://"+f.origin)
	f.gitIn(folder, "fetch", "-q", "--depth=1", "origin", sha)
	f.gitIn(folder, "checkout", "-q", "--detach", sha)
	if ref == "main" {
		f.gitIn(folder, "update-ref", "refs/remotes/origin/main", sha)
	}
	job := map[string]string{
		"CI_COMMIT_SHA": sha, "CI_PIPELINE_ID": strconv.Itoa(pipeline), "CI_JOB_ID": strconv.Itoa(100 + f.jobs),
		"CI_JOB_URL": f.gitlab.ProjectURL + "/-/jobs/" + strconv.Itoa(100+f.jobs), "CI_PROJECT_DIR": folder,
	}
	maps.Copy(job, variables)
	command := exec.Command("stopwatt", append([]string{"ci"}, arguments...)...)
	command.Dir, command.Env = folder, f.environment(job)
	return command
}

// finish starts a job, does something to it, and waits for its end.
func (f *forge) finish(command *exec.Cmd, meanwhile func(*exec.Cmd)) finishedJob {
	f.Helper()
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		f.Fatal(err)
	}
	meanwhile(command)
	_ = command.Wait() // its status is looked at
	if strings.Contains(log.String(), f.gitlab.Token) {
		f.Error("the token stands in the job's log")
	}
	return finishedJob{command.ProcessState.ExitCode(), log.String(), command.Dir}
}

// ofMergeRequest are the variables of a pipeline of !7.
func (f *forge) ofMergeRequest(event string) map[string]string {
	project := f.env["CI_PROJECT_ID"]
	variables := map[string]string{
		"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": event,
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "faster", "CI_COMMIT_REF_NAME": "faster",
		"CI_MERGE_REQUEST_PROJECT_ID": project, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": project, "CI_MERGE_REQUEST_PROJECT_URL": f.gitlab.ProjectURL,
		"CI_MERGE_REQUEST_DIFF_BASE_SHA": f.git("merge-base", "main", "faster"), "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "",
	}
	if event == "merged_result" {
		variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = f.git("rev-parse", "main")
		variables["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"] = f.git("rev-parse", "faster")
	}
	return variables
}

// merged makes the commit of a merged result, which is on no branch.
func (f *forge) merged() string {
	f.git("checkout", "-q", "--detach", "main")
	f.git("merge", "-q", "--no-ff", "-m", "merged for the pipeline", "faster")
	f.git("update-ref", "refs/merge-requests/7/merge", "HEAD")
	return f.git("rev-parse", "HEAD")
}

// note is the one note of !7.
func (f *forge) note() string {
	f.Helper()
	notes := f.gitlab.Notes(7)
	if len(notes) != 1 {
		f.Fatalf("%d notes, want 1", len(notes))
	}
	return notes[0].Body
}

// expects checks a job, and that texts stand, or with a "!" before them do not stand,
// in its log or in the note.
func (f *forge) expects(job finishedJob, status int, where string, texts ...string) {
	f.Helper()
	if job.status != status {
		f.Fatalf("exit status %d, want %d:\n%s", job.status, status, job.log)
	}
	for _, text := range texts {
		pattern, unwanted := strings.CutPrefix(text, "!")
		if found := regexp.MustCompile("(?m)" + pattern).MatchString(where); found == unwanted {
			f.Errorf("%q: found %t in\n%s\nlog:\n%s", pattern, found, where, job.log)
		}
	}
}

func TestAMergeRequestIsToldWhatItMadeSlower(t *testing.T) {
	t.Parallel()
	f := newForge(t)

	job := f.job(1001, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitRegressed, job.log, "^ci      merge request, merge request !7 into main", "^base    [0-9a-f]{8}: merge base, main is 1 commit ahead",
		"^note    created ", "section_start:[0-9]+:measure")
	f.expects(job, exitRegressed, f.note(), "stopwatt `servers`: 1 regressed", `\*\*Regressed\*\*.*spinning`, "!Regressed.*steady",
		"1 more case identical", "Stopwatt-Accept: spinning/hello", "merge base")
	for _, name := range []string{noteFile, junitFile, metricsFile, codeQualityFile, annotationsFile, dotenvFile, "index.html"} {
		if _, err := os.Stat(filepath.Join(job.folder, ciFolder, name)); err != nil {
			t.Error(err)
		}
	}

	// The merged result is measured against what it was merged into, and its note is the same one.
	job = f.job(1002, f.merged(), f.ofMergeRequest("merged_result"))
	f.expects(job, exitRegressed, job.log, "^base    [0-9a-f]{8}: target branch when the pipeline began", "^note    edited ")
	f.expects(job, exitRegressed, f.note(), "pipeline=1002", "1 regressed", "target branch when the pipeline began")

	// Somebody means it.
	f.git("checkout", "-q", "faster")
	f.git("commit", "-q", "--allow-empty", "-m", "it validates now\n\nStopwatt-Accept: spinning/hello \"validates every request\"")
	job = f.job(1003, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitOK, f.note(), "pipeline=1003", "accepted", "validates every request")

	// The change is gone.
	f.spin(false)
	f.commit("no longer")
	job = f.job(1004, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitOK, f.note(), "pipeline=1004", "stopwatt `servers`: nothing worse", "2 cases identical")

	// An older pipeline that ends late leaves it as it is.
	job = f.job(1000, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitOK, job.log, "^note    newer there")
	f.expects(job, exitOK, f.note(), "pipeline=1004")
}

func TestJobsOfOnePipelineAtOnceWriteOneNoteForEachSuite(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.write("others.yml", strings.Replace(twoServers, "suite: servers", "suite: others", 1))
	f.commit("another suite")
	f.git("update-ref", "refs/heads/faster", "main") // nothing changed, nothing to measure
	var all sync.WaitGroup
	jobs := make([]finishedJob, 3) // two of the same suite, as of a job that was retried too early
	for i, suite := range []string{"stopwatt.yml", "others.yml", "stopwatt.yml"} {
		command := f.begin(1001, "faster", f.ofMergeRequest("detached"), suite)
		all.Go(func() { jobs[i] = f.finish(command, func(*exec.Cmd) {}) })
	}
	all.Wait()
	bodies := ""
	for _, note := range f.gitlab.Notes(7) {
		bodies += note.Body + "\n"
	}
	for _, job := range jobs {
		f.expects(job, exitOK, bodies, "stopwatt `servers`: nothing worse", "stopwatt `others`: nothing worse")
	}
	if n := len(f.gitlab.Notes(7)); n != 2 {
		t.Errorf("%d notes, want one for each suite:\n%s", n, bodies)
	}
}

func TestANoteThatCannotBeWrittenIsKeptAndSentLater(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.git("update-ref", "refs/heads/faster", "main~1") // nothing changed, nothing to measure
	f.gitlab.Trouble("POST .*", 1, gitlabtest.Answer(403, `{"message":"403 Forbidden"}`))
	job := f.job(1001, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitOK, job.log, "^note    not written: .*403", "^note    it is kept: stopwatt ci --send stopwatt-report/note.json")
	if n := len(f.gitlab.Notes(7)); n != 0 {
		t.Fatalf("%d notes, want none", n)
	}
	command := exec.Command("stopwatt", "ci", "--send", "stopwatt-report/note.json")
	command.Dir, command.Env = job.folder, f.environment(nil)
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "note    created") {
		t.Fatalf("%v\n%s", err, out)
	}
	f.expects(job, exitOK, f.note(), "nothing worse")
	// Whoever gives us the file does not decide whom the token is shown to.
	command = exec.Command("stopwatt", "ci", "--send", "stopwatt-report/note.json")
	command.Dir, command.Env = f.job(1002, "faster", map[string]string{"CI_COMMIT_REF_NAME": "faster"}).folder, f.environment(nil)
	if out, err := command.CombinedOutput(); err == nil {
		t.Errorf("a branch has no note to send:\n%s", out)
	}
}

func TestWithoutATokenEverythingIsMeasuredAndSaid(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.git("update-ref", "refs/heads/faster", "main~1")
	f.env["STOPWATT_GITLAB_TOKEN"] = ""
	job := f.job(1001, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitOK, job.log, "^note    not written: STOPWATT_GITLAB_TOKEN is empty", "^note    it is kept")
	fork := f.ofMergeRequest("detached")
	fork["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"], fork["CI_PROJECT_ID"] = "99", "99"
	job = f.job(1002, "faster", fork)
	f.expects(job, exitOK, job.log, "of a fork", "^note    not written: this is the pipeline of a fork", "!it is kept")
}

func TestWithoutABaselineNothingIsJudged(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.write("stopwatt.yml", strings.Replace(twoServers, "rounds: 7", "rounds: 2", 1))
	f.git("checkout", "-q", "--orphan", "elsewhere") // it has no commit in common with main
	f.commit("begin anew")
	variables := f.ofMergeRequest("detached")
	variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = ""
	job := f.job(1001, "elsewhere", variables)
	f.expects(job, exitOK, job.log, "^base    no baseline")
	f.expects(job, exitOK, f.note(), "no baseline", "!egressed")
}

func TestTheDefaultBranchEntersHistoryAndWritesNoNote(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.write("stopwatt.yml", strings.Replace(twoServers, "rounds: 7", "rounds: 2", 1))
	f.commit("two rounds")
	job := f.job(1001, "main", map[string]string{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main", "CI_COMMIT_REF_NAME": "main"},
		"--backfill", "5")
	f.expects(job, exitOK, job.log, "^ci      default branch main", "^base    none: measured alone", "2 commits measured", "!^note ")
	command := exec.Command("stopwatt", "history", "--format", "csv")
	command.Dir, command.Env = job.folder, f.environment(nil)
	out, err := command.CombinedOutput()
	for _, sha := range strings.Fields(f.git("rev-list", "--first-parent", "main")) {
		if err != nil || !strings.Contains(string(out), sha) {
			t.Errorf("%s is not in history: %v\n%s", sha, err, out)
		}
	}
	if n := len(f.gitlab.Notes(7)); n != 0 {
		t.Errorf("%d notes, want none", n)
	}
}

func TestTheFirstCommitOfAHistoryIsAmongThoseBefore(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]string{1: "a..c", 2: "..c", 3: "..c", 1000: "..c"} {
		if got := stretchBefore([]string{"a", "b", "c"}, most); got != want {
			t.Errorf("%d before c of a, b, c are %q, want %q", most, got, want)
		}
	}
}

func TestWhatADatabaseThatDoesNotLastHoldsLiesInTheArtifacts(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.git("update-ref", "refs/heads/faster", "main~1")
	f.env["CI_DISPOSABLE_ENVIRONMENT"], f.env["XDG_DATA_HOME"] = "true", ""
	root := filepath.Join(filepath.Dir(f.origin), "root")
	f.env[rootData], f.env["STOPWATT_DATABASE_IDLE"] = root, "1s"
	t.Cleanup(func() { waitForNobody(t, root) })
	lasting := f.env["STOPWATT_DATABASE"]
	f.env["STOPWATT_DATABASE"] = ""
	if err := os.Chmod(filepath.Dir(f.origin), 0o755); err != nil {
		t.Fatal(err)
	}
	job := f.job(1001, "faster", f.ofMergeRequest("detached"))
	f.expects(job, exitOK, job.log, "^kept    history is not kept: no database is named")
	f.expects(job, exitOK, f.note(), "istory is not kept")
	f.env["STOPWATT_DATABASE"] = lasting
	command := exec.Command("stopwatt", "import", filepath.Join(ciFolder, runFile))
	command.Dir, command.Env = job.folder, f.environment(nil)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("import: %v\n%s", err, out)
	}
	store, err := storage.Open(t.Context(), lasting)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	runs, err := store.RunsOf(t.Context(), storage.RunQuery{Pipeline: 1001})
	if err != nil || len(runs) != 1 || runs[0].Judgement == nil {
		t.Errorf("%d runs of the pipeline after the import, want 1 with its judgement: %v", len(runs), err)
	}
}

// waitForNobody waits until the private database of a data folder has stopped.
func waitForNobody(t *testing.T, folder string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(folder, "postgres", "data", "postmaster.pid")); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	t.Errorf("a database still runs in %s", folder)
}

func TestACheckoutOfAnotherCommitIsNotMeasured(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	variables := f.ofMergeRequest("detached")
	variables["CI_COMMIT_SHA"] = f.git("rev-parse", "main")
	job := f.job(1001, "faster", variables)
	f.expects(job, exitAskedWrongly, job.log, "the checkout is at [0-9a-f]{8}, and the pipeline is for [0-9a-f]{8}")
}

func TestOutsideGitLabWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	command := exec.Command("stopwatt", "ci")
	command.Dir, command.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH")}
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "GITLAB_CI=true, CI_API_V4_URL") || command.ProcessState.ExitCode() != exitAskedWrongly {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestACancelledJobLeavesWhatItHasMeasuredAndNothingElse(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	store, err := storage.Open(t.Context(), f.env["STOPWATT_DATABASE"])
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	number := func(query string) int64 {
		answer, err := store.Query(context.Background(), query, 1)
		if err != nil || len(answer.Rows) != 1 {
			t.Fatalf("%s: %v", query, err)
		}
		n, _ := answer.Rows[0][0].(int64)
		return n
	}
	var began time.Time
	command := f.begin(1001, "faster", f.ofMergeRequest("detached"))
	job := f.finish(command, func(c *exec.Cmd) {
		for number("select count(*) from trials") < 2 {
			if c.Process.Signal(syscall.Signal(0)) != nil {
				t.Error("the job ended by itself")
				return
			}
		}
		began = time.Now()
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	t.Logf("from SIGTERM to the end: %v", time.Since(began).Round(time.Millisecond))
	f.expects(job, exitIncomplete, job.log, "^stopped: containers removed, finished trials kept", "!^note ")
	if n := len(f.gitlab.Notes(7)); n != 0 {
		t.Errorf("%d notes, want none: somebody cancelled the job", n)
	}
	if n := number("select count(*) from runs where status = 'aborted'"); n != 1 {
		t.Errorf("%d aborted runs, want 1", n)
	}
	if n := number("select count(*) from verdicts v join runs r on r.run = v.run where v.verdict in ('regressed', 'improved')"); n != 0 {
		t.Errorf("%d verdicts of a run that was cancelled", n)
	}
	docker, err := containers.Connect(t.Context(), containers.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer docker.Close()
	left, err := docker.Leftovers(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	answer, err := store.Query(t.Context(), "select key from runs", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, container := range left {
		if container.Run == answer.Rows[0][0] {
			t.Errorf("a container was left: %+v", container)
		}
	}
}
