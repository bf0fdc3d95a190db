package containers

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gitlab.com/stopwatt/stopwatt"
)

// FuzzMessages lets the engine tell anything of a build.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"stream":"Step 1/2 : FROM a\n"}{"stream":"hello\n"}{"errorDetail":{},"error":"no"}`))
	f.Add([]byte(`{"id":"moby.buildkit.trace","aux":"CgIKAA=="}{"aux":{"ID":"sha256:a"}}`))
	f.Add([]byte(`{"status":"Downloading","id":"a","progressDetail":{"current":-1,"total":0}} {`))
	f.Fuzz(func(t *testing.T, stream []byte) {
		log := newBuildLog(nil)
		err := readMessages(bytes.NewReader(stream), log.take)
		if err == nil {
			err = errors.New("x")
		}
		if log.explain(err).Error() == "" {
			t.Error("no explanation")
		}
	})
}

// FuzzIgnored sends a context with any .dockerignore and any name in it.
func FuzzIgnored(f *testing.F) {
	f.Add("*.log\n!a.log\n", "a.log")
	f.Add("**/[a-z]\\\n# no\n", "b/../c")
	f.Add("[", "a")
	f.Fuzz(func(t *testing.T, ignore, name string) {
		if name == "" || strings.HasSuffix(name, "/") || len(name) > 100 || len(ignore) > 1000 || strings.ContainsRune(name, 0) || name == "Dockerfile" || name == ".dockerignore" {
			return
		}
		context := stopwatt.BuildContext{Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(tarOf(map[string]string{"Dockerfile": "FROM scratch\n", ".dockerignore": ignore, name: "x"}))), nil
		}}
		s, err := newSending(stopwatt.BuildOrder{Context: context})
		if err != nil {
			return
		}
		var packed bytes.Buffer
		if err := s.writeTo(&packed); err == nil && !bytes.Contains(packed.Bytes(), []byte("FROM scratch\n")) {
			t.Errorf("%q keeps the Dockerfile from being sent", ignore)
		}
	})
}

// FuzzLedger reads what package managers write down.
func FuzzLedger(f *testing.F) {
	f.Add([]byte("Package: a\nVersion: 1\nArchitecture: all\n\nPackage: b\n"), false)
	f.Add([]byte("P:a\nV:1\nA:x\n\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, alpine bool) {
		l := ledgers[0]
		if alpine {
			l = ledgers[1]
		}
		found := map[string]string{}
		if err := l.read(bytes.NewReader(text), found); err == nil {
			for name, version := range found {
				if version == "" || name == "" {
					t.Errorf("%q is %q in version %q", text, name, version)
				}
			}
		}
		_ = l.readArchive(bytes.NewReader(text), found)
	})
}

// FuzzLog tells the end of a container's log.
func FuzzLog(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x03hi\n\x02\x00\x00\x00\x00\x00\x00\x01\x1b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		said, _ := written(bytes.NewReader(text))
		if len(said) > len(text) {
			t.Errorf("%d bytes came out of %d", len(said), len(text))
		}
		for _, line := range tail(said, lastLines) {
			if !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\n\x00") {
				t.Errorf("%q could harm a terminal", line)
			}
		}
	})
}

// endless gives a text again and again, and counts what is read.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.read+i)%len(e.text)]
	}
	e.read += len(p)
	return len(p), nil
}

func TestAMessageOfTheEngineThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	said := &endless{text: "x"}
	err := readMessages(io.MultiReader(strings.NewReader(`{"stream":"`), said), func(message) {})
	if err == nil || !strings.Contains(err.Error(), "more than 16 MiB") || said.read > mostMessage+1<<20 {
		t.Errorf("%v after %d bytes", err, said.read)
	}
	// Many small ones are no long one.
	count := 0
	all := strings.Repeat(`{"stream":"`+strings.Repeat("x", 1<<20)+`"}`, 20)
	if err := readMessages(strings.NewReader(all), func(message) { count++ }); err != nil || count != 20 {
		t.Errorf("%d messages, %v", count, err)
	}
}

func TestALedgerThatNeverEndsIsAFault(t *testing.T) {
	t.Parallel()
	said := &endless{text: "Package: a\nVersion: 1\n\n"}
	err := ledgers[0].read(said, map[string]string{})
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") || said.read > mostLedger+2<<20 {
		t.Errorf("%v after %d bytes", err, said.read)
	}
}

func TestAConfigurationThatIsTooLargeIsNotReadOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.json")
	writeFile(t, path, "")
	if err := os.Truncate(path, 1<<40); err != nil { // of holes
		t.Fatal(err)
	}
	if text, err := readConfiguration(path); !errors.Is(err, errConfiguration) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
