package main

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// hostility is what a run of hostile code came to.
type hostility struct {
	trials map[string]stopwatt.Trial // by case
	said   string                    // to the terminal
	folder string                    // of the report
}

// endure has stopwatt measure a suite of hostile code. {database} in it stands for the
// database's address, which the environment of stopwatt names, beside secrets.
func endure(t *testing.T, suite string) hostility {
	t.Helper()
	requireDocker(t)
	folder, dsn := openFolder(t), embeddedtest.ForTest(t)
	_, reachable := toPostgres(t, dsn)
	at, err := url.Parse(reachable)
	if err != nil {
		t.Fatal(err)
	}
	layHostile(t, folder)
	suite = strings.ReplaceAll(suite, "{database}", at.Host)
	if err := os.WriteFile(filepath.Join(folder, "stopwatt.yml"), []byte(suite), 0o644); err != nil {
		t.Fatal(err)
	}
	command := installed(t, folder, buildPrograms(t), dsn, "run", "--out", "report")
	command.Env = append(command.Env, "STOPWATT_DATABASE="+reachable, "CI_JOB_TOKEN=secret", "STOPWATT_GITLAB_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=secret")
	out, err := command.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	h := hostility{trials: map[string]stopwatt.Trial{}, said: string(out), folder: filepath.Join(folder, "report")}
	store, err := storage.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	trials, err := store.Trials(t.Context(), 1)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, trial := range trials {
		h.trials[trial.Case.String()] = trial
	}
	return h
}

// layHostile makes folders that hostile code is built from, of root and of another user.
func layHostile(t *testing.T, folder string) {
	t.Helper()
	for name, user := range map[string]string{"root": "0", "user": "1000:1000"} {
		at := filepath.Join(folder, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(at, "hostile"), "./testdata/hostile")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		dockerfile := "FROM scratch\nCOPY hostile /hostile\nUSER " + user + "\nHEALTHCHECK --interval=1s CMD [\"/hostile\", \"works\"]\nENTRYPOINT [\"/hostile\"]\n"
		if err := os.WriteFile(filepath.Join(at, "Dockerfile"), []byte(dockerfile), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// expect checks what became of each case: a part of the reason why it is invalid, or empty.
func (h hostility) expect(t *testing.T, want map[string]string) {
	t.Helper()
	for name, reason := range want {
		trial, measured := h.trials[name]
		valid := trial.Status == stopwatt.Valid
		if !measured || valid != (reason == "") || !regexp.MustCompile(reason).MatchString(trial.Reason) {
			t.Errorf("%s: measured %v, %s, reason %q; want %q", name, measured, trial.Status, trial.Reason, reason)
		}
	}
	if len(h.trials) != len(want) {
		t.Errorf("%d trials, want %d:\n%s", len(h.trials), len(want), h.said)
	}
}

// harmless checks that nothing that was said, or stands in the report, acts.
func (h hostility) harmless(t *testing.T) {
	t.Helper()
	acts := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
	if i := strings.IndexFunc(h.said, acts); i >= 0 {
		t.Errorf("the terminal is told %q", h.said[max(0, i-40):min(len(h.said), i+40)])
	}
	files, err := filepath.Glob(filepath.Join(h.folder, "*"))
	if err != nil || len(files) < 4 {
		t.Errorf("the report has %v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".csv") {
			continue // data: every program that reads them knows their quoting
		}
		if i := bytes.IndexFunc(text, func(r rune) bool { return r != '\t' && acts(r) }); i >= 0 {
			t.Errorf("%s holds %q", filepath.Base(name), text[max(0, i-40):min(len(text), i+40)])
		}
		if bytes.Contains(text, []byte("<script")) && strings.HasSuffix(name, ".html") {
			t.Errorf("%s holds a script", filepath.Base(name))
		}
	}
}

func TestHostileServersReachNothingAndGainNothing(t *testing.T) {
	t.Parallel()
	h := endure(t, `suite: hostile
implementations:
  probe:     {build: root, command: [probe, "{database}"]}
  again:     {build: user, command: [probe, "{database}"]}
  forges:    {build: root, command: [forges]}
  starves:   {build: root, command: [starves]}
  early:     {build: root, command: [early]}
  headers:   {build: root, command: [headers]}
  body:      {build: root, command: [body]}
  chunks:    {build: root, command: [chunks]}
  slow:      {build: root, command: [slow]}
  short:     {build: root, command: [short]}
  redirects: {build: root, command: [redirects]}
  bomb:      {build: root, command: [bomb]}
  shouts:    {build: root, command: [shouts]}
workloads:
  ask:
    http:
      port: 8080
      request: {path: /}
      expect: {status: 200, body-sha256: 72bc30bd85d75d05c5eeca0df5481028d4b05593848133a144b580af382e3a60}
      redirects: follow
      ready-within: 3s
    load: {users: 2, requests: 10, timeout: 1s}
plan: {rounds: 1, warmup: 0s, settle: 0s, null-server: false}
meters: {idle: 0s}
`)
	h.expect(t, map[string]string{
		"probe/ask": "", "again/ask": "", "forges/ask": "",
		"starves/ask":   regexp.QuoteMeta(h.trials["starves/ask"].Reason), // slow it may be, and too slow
		"early/ask":     "more was sent than one answer|before it was asked",
		"headers/ask":   "longer than 64 KiB",
		"body/ask":      "longer than 64 MiB|(within|timeout of) 1s",
		"chunks/ask":    "(within|timeout of) 1s",
		"slow/ask":      "(within|timeout of) 1s",
		"short/ask":     "Content-Length is no number",
		"redirects/ask": "to another server",
		"bomb/ask":      "expected a body of SHA-256",
		"shouts/ask":    "exited with 9",
	})
	if p50, _ := h.trials["forges/ask"].Value("latency_p50"); p50 < 0.005 {
		t.Errorf("a server that takes 5 ms is measured at %v s", p50)
	}
	results, err := os.ReadFile(filepath.Join(h.folder, "results.json"))
	if err != nil || !regexp.MustCompile(`driver: cpus |driver and servers share their cores`).Match(results) {
		t.Errorf("the result does not say which cores the driver had, %v", err)
	}
	h.harmless(t)
}

func TestHostileProgramsCannotAnswerInTheTimersPlace(t *testing.T) {
	t.Parallel()
	h := endure(t, `suite: hostile
implementations: {root: {build: root, exec: [/hostile]}, user: {build: user, exec: [/hostile]}}
workloads:
  usurps:     {command: {run: [usurps], repeat: 3, timeout: 20s}}
  delegates:  {command: {run: [delegates], repeat: 5}}
  interrupts: {command: {run: [interrupts], repeat: 3}}
  boasts:     {harness: {run: [boasts], format: go}}
  blares:     {harness: {run: [blares], format: go}}
  stalls:     {harness: {run: [stalls, /tmp/results], results: /tmp/results, format: go}}
plan: {rounds: 1, warmup: 0s, settle: 0s}
meters: {idle: 0s}
`)
	const died = "the program exited with [0-9]+|cancel|ended"
	h.expect(t, map[string]string{
		"root/usurps": "", "user/usurps": "", "root/delegates": "", "user/delegates": "", "root/boasts": "", "user/boasts": "",
		"root/interrupts": died, "user/interrupts": died, "root/blares": "is no text", "user/blares": "is no text",
		"root/stalls": "is no regular file", "user/stalls": "is no regular file",
	})
	for _, user := range []string{"root/", "user/"} {
		if time, _ := h.trials[user+"usurps"].Value("time"); time < 0.03 {
			t.Errorf("%susurps takes 30 ms and is measured at %v s", user, time)
		}
		for of, words := range map[string]string{"delegates": "something else worked in it", "boasts": "the harness tells of 3600 s of time", "usurps": ""} {
			warnings := strings.Join(h.trials[user+of].Warnings, "; ")
			if words != "" && !strings.Contains(warnings, words) || words == "" && strings.Contains(warnings, "something else worked") {
				t.Errorf("%s%s is marked for %q; want %q", user, of, warnings, words)
			}
		}
	}
	if !strings.Contains(h.said, "Self-reported, by a harness or load tool: boasts") {
		t.Errorf("what a harness tells is not marked:\n%s", h.said)
	}
	h.harmless(t)
}
