package gitlab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"a command on the first line", "/merge", "&#47;merge"},
		{"a command on a later line", "x\n/close\ny", "x\n&#47;close\ny"},
		{"a command in capitals with arguments", "/ASSIGN @me", "&#47;ASSIGN @me"},
		{"a command behind white space", " \t/close", " \t&#47;close"},
		{"a command behind white space of Unicode", "\u00a0\u2003\ufeff\u200b/close", "\u00a0\u2003\ufeff\u200b&#47;close"},
		{"a command behind a carriage return, which GitLab deletes", "x\n\r/close", "x\n\r&#47;close"},
		{"a command behind a carriage return alone", "x\r/close", "x\r&#47;close"},
		{"a command behind a line separator", "x\u2028/close", "x\u2028&#47;close"},
		{"a command in a quote", "> > /close", "> > &#47;close"},
		{"a command in lists", "- /a\n1. /b\n* [x] /c\n12) /d", "- &#47;a\n1. &#47;b\n* [x] &#47;c\n12) &#47;d"},
		{"a command in a table", "| /close | x |", "| &#47;close | x |"},
		{"a command in bold", "**/close**", "**&#47;close**"},
		{"a command behind a line break of HTML", "x<BR />/close", "x<BR />&#47;close"},
		{"two slashes", "//close", "&#47;/close"},
		{"a command in a code block, which an unclosed one may not be", "```\n/close\n```", "```\n&#47;close\n```"},
		{"a slash within a line", "a/b and 1/2\nhttps://h/x", "a/b and 1/2\nhttps://h/x"},
		{"a slash in a code span", "`/close`", "`/close`"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := gitlab.Guard(test.body); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// FuzzGuard looks for a body in which GitLab would find a command.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"/merge", "x\r\n/close", "> /label", "\x00/close", "```\n/close\n```", "1. /x", "<br>/x", "//", "\u2028/", "a\r/b\n"} {
		f.Add(seed)
	}
	line := regexp.MustCompile(`(?m)^\s*/`)
	f.Fuzz(func(t *testing.T, body string) {
		guarded := gitlab.Guard(body)
		if again := gitlab.Guard(guarded); again != guarded {
			t.Errorf("%q becomes %q and then %q", body, guarded, again)
		}
		// What GitLab, or a database on its way, deletes must not bring a slash to the front.
		for _, deleted := range []string{"", "\r", "\x00", "\r\x00\ufeff\u200b"} {
			stored := strings.Map(func(r rune) rune {
				if strings.ContainsRune(deleted, r) {
					return -1
				}
				return r
			}, guarded)
			if line.MatchString(stored) {
				t.Errorf("%q is stored as %q", body, stored)
			}
		}
		if strings.ReplaceAll(guarded, "&#47;", "/") != strings.ReplaceAll(body, "&#47;", "/") {
			t.Errorf("%q became %q: more than slashes changed", body, guarded)
		}
	})
}

// FuzzPost sends hostile bodies and suite names to a GitLab that carries commands out.
func FuzzPost(f *testing.F) {
	f.Add("web-servers", "/merge\n/close")
	f.Add("--> \n/close", "```\n/label ~x\n```\n> /approve")
	f.Add("a--b->c", "x\r\n\r/close\u2028/close")
	f.Add("\x00\xff%2", "\x00/approve")
	f.Fuzz(func(t *testing.T, suite, body string) {
		s := gitlabtest.Start(t)
		s.MergeRequest(7)
		client, err := gitlab.Open(gitlab.Settings{API: s.URL, Token: s.Token, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
		if err != nil {
			t.Fatal(err)
		}
		p := stopwatt.Pipeline{ID: 1, API: s.URL, MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: s.Project}}
		n := stopwatt.Note{Suite: suite, Body: body, Created: began}
		posted, err := client.Post(t.Context(), p, n)
		if err != nil {
			return // an empty one
		}
		if commands := s.Commands(); len(commands) > 0 {
			t.Errorf("%q carried out %q", body, commands)
		}
		again, err := client.Post(t.Context(), p, n)
		if err != nil || again.Did != gitlab.Unchanged || again.NoteID != posted.NoteID || len(s.Notes(7)) != 1 {
			t.Errorf("suite %q, body %q: %+v, then %+v, %v", suite, body, posted, again, err)
		}
	})
}

func TestAParcelComesOutAsItWentIn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	want := gitlab.Parcel{Pipeline: d.pipeline(3), Note: note("<b>&\u2028 text")}
	want.Note.Worse, want.Note.Thread = true, true
	var file bytes.Buffer
	if err := want.Encode(&file); err != nil {
		t.Fatal(err)
	}
	got, err := gitlab.DecodeParcel(&file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if posted, err := d.client.Post(t.Context(), got.Pipeline, got.Note); err != nil || posted.Did != gitlab.Created {
		t.Errorf("%+v, %v", posted, err)
	}
}

func TestAFileThatIsNoParcel(t *testing.T) {
	t.Parallel()
	whole := func(change func(map[string]any)) string {
		var file bytes.Buffer
		p := stopwatt.Pipeline{ID: 1, API: "https://h.example/api/v4", MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: 12}}
		if err := (gitlab.Parcel{Pipeline: p, Note: note("x")}).Encode(&file); err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(file.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		change(all)
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	within := func(key, name string, value any) func(map[string]any) {
		return func(all map[string]any) { all[key].(map[string]any)[name] = value }
	}
	tests := []struct{ name, file, says string }{
		{"nothing", "", "no note to send"},
		{"another JSON", `{"suite": "x"}`, `the form is ""`},
		{"a later form", whole(func(all map[string]any) { all["Form"] = "stopwatt note 2" }), "stopwatt note 2"},
		{"an API that is a file", whole(within("Pipeline", "API", "file:///etc/passwd")), "Pipeline.API"},
		{"an API with a password", whole(within("Pipeline", "API", "https://a:b@h/api/v4")), "Pipeline.API"},
		{"no pipeline", whole(within("Pipeline", "ID", 0)), "Pipeline.ID"},
		{"a pipeline beyond numbers", whole(within("Pipeline", "ID", 1e30)), "cannot unmarshal"},
		{"no merge request", whole(within("Pipeline", "MergeRequest", nil)), "Pipeline.MergeRequest"},
		{"no time", whole(within("Note", "Created", "0001-01-01T00:00:00Z")), "Note.Created"},
		{"no text", whole(within("Note", "Body", " \r\n")), "Note.Body"},
		{"a long file", strings.Repeat(" ", 30_000_000), "longer than any note"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := gitlab.DecodeParcel(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v does not say %q", err, test.says)
			}
		})
	}
	if _, err := gitlab.DecodeParcel(strings.NewReader(whole(func(map[string]any) {}))); err != nil {
		t.Errorf("the whole one: %v", err)
	}
}

func FuzzDecodeParcel(f *testing.F) {
	f.Add(`{"Form":"stopwatt note 1","Pipeline":{"API":"https://h/api/v4","ID":1,"MergeRequest":{"IID":7,"ProjectID":12}},"Note":{"Body":"x","Created":"2026-01-02T03:04:05Z"}}`)
	f.Add(`{"Form":"stopwatt note 1"}`)
	f.Fuzz(func(t *testing.T, file string) {
		p, err := gitlab.DecodeParcel(strings.NewReader(file))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := p.Encode(&again); err != nil {
			t.Fatalf("%q was taken and cannot be written: %v", file, err)
		}
		if _, err := gitlab.DecodeParcel(&again); err != nil {
			t.Errorf("%q was taken, and not taken again: %v", file, err)
		}
	})
}

func TestSection(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 0)
	tests := []struct{ name, got, want string }{
		{"a section", gitlab.Section("rounds", "12 rounds", at), "\x1b[0Ksection_start:1700000000:rounds[collapsed=true]\r\x1b[0K12 rounds\n"},
		{"its end", gitlab.EndSection("rounds", at), "\x1b[0Ksection_end:1700000000:rounds\r\x1b[0K\n"},
		{"a foreign name", gitlab.Section("a b[collapsed=false]\r\n", "x", at), "\x1b[0Ksection_start:1700000000:a_b_collapsed_false___[collapsed=true]\r\x1b[0Kx\n"},
		{"no name", gitlab.EndSection("", at), "\x1b[0Ksection_end:1700000000:_\r\x1b[0K\n"},
		{"a foreign header", gitlab.Section("x", "a\r\nb\x1b[2J\u202e\xff日", at), "\x1b[0Ksection_start:1700000000:x[collapsed=true]\r\x1b[0Ka  b[2J\uFFFD日\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("%q, want %q", test.got, test.want)
			}
		})
	}
}
