package containers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bare is a base whose name is what the Dockerfile says.
func bare(line int, name string) base { return base{written: name, used: name, line: line} }

func TestBases(t *testing.T) {
	t.Parallel()
	given := map[string]string{"GIVEN": "given:1"}
	standIns := map[string]string{"debian:bookworm-slim": "stopwatt/debian:bookworm-slim", "given:1": "never"}
	tests := []struct {
		name, dockerfile, target string
		want                     []base
	}{
		{"one stage", "FROM debian", "", []base{bare(1, "debian")}},
		{"small letters and more space", "from   debian  ", "", []base{bare(1, "debian")}},
		{"lines end as on Windows", "FROM debian\r\nRUN x\r\n", "", []base{bare(1, "debian")}},
		{"a byte order mark", "\ufeffFROM debian", "", []base{bare(1, "debian")}},
		{"scratch is no image", "FROM scratch", "", nil},
		{"comments and empty lines before", "\n# FROM x\n  # FROM y\nFROM debian", "", []base{bare(4, "debian")}},
		{"a stage on another", "FROM debian AS a\nFROM a", "", []base{bare(1, "debian")}},
		{"stages in other letters", "FROM debian As Build\nFROM BUILD", "", []base{bare(1, "debian")}},
		{"a stage that nothing needs", "FROM debian AS a\nFROM golang", "", []base{bare(2, "golang")}},
		{"a target", "FROM debian AS a\nFROM golang", "a", []base{bare(1, "debian")}},
		{"a target by its number", "FROM debian\nFROM golang", "0", []base{bare(1, "debian")}},
		{"files of another stage", "FROM debian AS a\nFROM scratch\nCOPY --from=a /x /", "", []base{bare(1, "debian")}},
		{"files of a stage by its number", "FROM debian\nFROM scratch\nCOPY --chown=1 --from=0 /x /", "", []base{bare(1, "debian")}},
		{"files of an image", "FROM scratch\nCOPY --from=busybox:1 /x /", "", []base{bare(1, "busybox:1")}},
		{"a mounted image", "FROM scratch\nRUN --mount=type=bind,from=busybox:1,target=/x --network=none y", "", []base{bare(1, "busybox:1")}},
		{"the same image twice", "FROM debian AS a\nFROM debian\nCOPY --from=a / /", "", []base{bare(1, "debian")}},
		{"a continued line", "FROM \\\n  debian \\\n# comment\n\n AS x\nFROM x", "", []base{bare(1, "debian")}},
		{"another escape character", "# escape=`\nFROM `\n debian", "", []base{bare(2, "debian")}},
		{"the escape directive comes too late", "# hello\n# escape=`\nFROM \\\n debian", "", []base{bare(3, "debian")}},
		{"a RUN that goes on and speaks of FROM", "FROM debian\nRUN a \\\nFROM b", "", []base{bare(1, "debian")}},
		{"a here-document that speaks of FROM", "FROM debian\nRUN <<EOF\nFROM b\nEOF\nCOPY --from=busybox x y", "", []base{bare(1, "debian"), bare(1, "busybox")}},
		{"two here-documents", "FROM debian\nCOPY <<A <<-\"B\" /\nFROM a\nA\nFROM b\n\tB\n", "", []base{bare(1, "debian")}},
		{"a shift is no here-document", "FROM debian\nRUN echo $((1<<EOF))\nFROM golang", "", []base{bare(3, "golang")}},
		{"a platform", "FROM --platform=$BUILDPLATFORM debian", "", []base{{written: "debian", used: "debian", platform: "linux/arm64", line: 1}}},
		{"an argument", "ARG B=golang\nFROM $B", "", []base{bare(2, "golang")}},
		{"an argument in quotes", "ARG B=\"golang:1\"\nFROM '$B'x", "", []base{bare(2, "$Bx")}},
		{"arguments in arguments", "ARG V=1\nARG B=golang:${V}-x C=y\nFROM ${B}-$C", "", []base{bare(3, "golang:1-x-y")}},
		{"a default within FROM", "ARG V\nFROM golang:${V:-1}", "", []base{bare(2, "golang:1")}},
		{"an argument that was given", "ARG GIVEN=debian:bookworm-slim\nFROM $GIVEN", "", []base{bare(2, "given:1")}},
		{"a default that has a stand-in", "ARG BASE=debian:bookworm-slim\nFROM $BASE", "",
			[]base{{written: "debian:bookworm-slim", used: "stopwatt/debian:bookworm-slim", line: 2}}},
		{"a default that is put together and has a stand-in", "ARG V=bookworm\nARG BASE=debian:${V}-slim\nFROM $BASE", "",
			[]base{{written: "debian:bookworm-slim", used: "stopwatt/debian:bookworm-slim", line: 3}}},
		{"a name that has a stand-in and is no default", "FROM debian:bookworm-slim", "", []base{bare(1, "debian:bookworm-slim")}},
		{"an argument after FROM does not count", "ARG B=golang\nFROM $B\nARG B=debian\nRUN x", "", []base{bare(2, "golang")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := basesOf(test.dockerfile, test.target, given, standIns)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(base{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// basesOf finds the bases of a Dockerfile on linux/arm64.
func basesOf(dockerfile, target string, given, standIns map[string]string) ([]base, error) {
	r, err := parseDockerfile([]byte(dockerfile))
	if err != nil {
		return nil, err
	}
	known := platformVariables("linux", "arm64")
	written, _, err := r.evaluate(known, given, nil)
	if err != nil {
		return nil, err
	}
	used, _, err := r.evaluate(known, given, standIns)
	if err != nil {
		return nil, err
	}
	return r.bases(target, written, used)
}

func TestDockerfilesThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, dockerfile, target, want string
	}{
		{"nothing", "", "", "Dockerfile:1: no FROM"},
		{"FROM what", "RUN x\nFROM", "", "Dockerfile:2: FROM ; write FROM IMAGE"},
		{"FROM too much", "FROM a b c d", "", "Dockerfile:1: FROM a b c d; write"},
		{"a variable without a value", "FROM $BASE", "", "Dockerfile:1: FROM $BASE: names no image"},
		{"a form that is not known", "ARG X=a\nFROM ${X#b}", "", "this form of ${X…} is not understood; use ${X}"},
		{"an ARG of such a form", "ARG X=${Y%b}\nFROM scratch", "", "Dockerfile:1: ARG X: this form"},
		{"a target that is misspelt", "FROM a AS one\nFROM b AS two", "tow", `no stage of the Dockerfile is called "tow"; it has one, two`},
		{"a target where no stage has a name", "FROM a", "x", "its stages have no names"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := basesOf(test.dockerfile, test.target, nil, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one that says %q", err, test.want)
			}
		})
	}
}

func TestExpansion(t *testing.T) {
	t.Parallel()
	set := map[string]string{"A": "a", "EMPTY": "", "A_1": "x"}
	tests := []struct {
		name, word, want string
	}{
		{"no variable", "a:b@c/d", "a:b@c/d"},
		{"a name", "x$A.y", "xa.y"},
		{"the longest name", "$A_1", "x"},
		{"a name in braces", "${A}_1", "a_1"},
		{"a name that is not set", "<$NONE>", "<>"},
		{"a dollar alone", "a$ $", "a$ $"},
		{"a default for what is not set", "${NONE:-d}", "d"},
		{"a default for what is empty", "${EMPTY:-d}", "d"},
		{"a default only for what is not set", "${EMPTY-d}", ""},
		{"a default that is not needed", "${A:-d}", "a"},
		{"a default that is a variable", "${NONE:-${NONE-$A}}!", "a!"},
		{"a default in quotes", "${NONE:-'}'}", "}"},
		{"another value", "${A:+other}", "other"},
		{"another value for what is empty", "${EMPTY:+other}", ""},
		{"another value for what is set, though empty", "${EMPTY+other}", "other"},
		{"single quotes", "'$A'", "$A"},
		{"double quotes", `"$A b"`, "a b"},
		{"an escaped dollar", `\$A`, "$A"},
		{"escapes within quotes", `"\$A\"\x"`, `$A"\x`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := expansion{escape: '\\', lookup: func(name string) (string, bool) { v, ok := set[name]; return v, ok }}.word(test.word)
			if err != nil || got != test.want {
				t.Errorf("%s is %q, %v; want %q", test.word, got, err, test.want)
			}
		})
	}
}

func TestWordsThatCannotBeExpanded(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"${", "${}", "${A", "${A:", "${A:-", "${A:-b", "${A?x}", "'a", `"a`, strings.Repeat("${A:-", 30)} {
		got, err := expansion{escape: '\\', lookup: func(string) (string, bool) { return "", false }}.word(word)
		if err == nil {
			t.Errorf("%s is %q; want an error", word, got)
		}
	}
}

func FuzzDockerfile(f *testing.F) {
	f.Add("# escape=`\nARG A=b\nFROM ${A:-`\n\"c'd\"} AS x\nRUN <<-EOF\n\tEOF\nCOPY --from=0 . .\nFROM $A", "x")
	f.Add("ARG BASE=debian\nFROM $BASE\nRUN --mount=type=bind,from=x,target=/y z \\\n# c\n\n a", "")
	f.Fuzz(func(t *testing.T, dockerfile, target string) {
		found, err := basesOf(dockerfile, target, map[string]string{"A": "a"}, map[string]string{"b": "c"})
		if err != nil {
			return
		}
		lines := strings.Count(dockerfile, "\n") + 1
		for _, b := range found {
			if b.used == "" || b.used == "scratch" || b.line < 1 || b.line > lines {
				t.Errorf("base %+v of %d lines", b, lines)
			}
		}
	})
}
