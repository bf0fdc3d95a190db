package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// A shell gives commands with an environment, a umask and a working directory of its own,
// to one database.
type shell struct {
	t           *testing.T
	folder, dsn string
	env         []string // beside PATH and what names the database
	umask, dir  string
	status      int
	out, said   string // on standard output, on standard error
}

func newShell(t *testing.T) shell {
	t.Helper()
	folder := openFolder(t)
	rows := "implementation,workload,metric,unit,value\nä,fib,time,ms,1.5\nb,fib,time,ms,3.0\n"
	if err := os.WriteFile(filepath.Join(folder, "types.csv"), []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	return shell{t: t, folder: folder, dsn: embeddedtest.ForTest(t), umask: "022", dir: folder}
}

// do carries a command out.
func (s *shell) do(arguments ...string) {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), "sh", append([]string{"-c", "umask " + s.umask + `; exec stopwatt "$@"`, "sh"}, arguments...)...)
	command.Dir = s.dir
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "STOPWATT_DATABASE=" + s.dsn, "TZ=UTC", rootData + "=" + filepath.Join(s.folder, "root")}, s.env...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	s.status, s.out, s.said = command.ProcessState.ExitCode(), out.String(), said.String()
}

// all imports and shows a run.
func (s *shell) all() (shown string) {
	s.t.Helper()
	for _, arguments := range [][]string{
		{"import", "--suite", "types", "--date", "2023-01-05", "--machine", "board", filepath.Join(s.folder, "types.csv")}, {"sync"},
		{"compare", "--implementations", "--suite", "types", "--metric", "time"},
		{"report", "1", "--out", filepath.Join(s.folder, "report")},
	} {
		s.do(arguments...)
		if s.status != 0 {
			s.t.Errorf("stopwatt %s, with %v, umask %s, in %s: status %d, %s", arguments[0], s.env, s.umask, s.dir, s.status, s.said)
		}
		shown += s.out
	}
	return shown
}

func TestNeitherLocaleNorHomeNorWorkingDirectoryChangesWhatIsSaid(t *testing.T) {
	t.Parallel()
	plain := newShell(t)
	plain.env = []string{"HOME=" + plain.folder, "LC_ALL=en_US.UTF-8"}
	want := strings.ReplaceAll(plain.all(), plain.folder, "FOLDER")
	if !strings.Contains(want, "fib  1.00  2.00") || !strings.Contains(want, "ä") {
		t.Fatalf("it says\n%s", want)
	}
	for name, test := range map[string]struct {
		env []string
		dir string
	}{
		"LC_ALL=C":                            {[]string{"HOME=FOLDER", "LC_ALL=C"}, ""},
		"Turkish":                             {[]string{"HOME=FOLDER", "LC_ALL=tr_TR.UTF-8", "LANG=tr_TR.UTF-8"}, ""},
		"German":                              {[]string{"HOME=FOLDER", "LC_ALL=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8"}, ""},
		"no HOME, but a data folder":          {[]string{"XDG_DATA_HOME=FOLDER/data"}, ""},
		"a HOME that is not there":            {[]string{"HOME=/nonexistent", "XDG_DATA_HOME=FOLDER/data"}, ""},
		"nothing said of the data folder":     {nil, ""},
		"a working directory not to write to": {[]string{"HOME=FOLDER"}, "/sys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			for _, variable := range test.env {
				s.env = append(s.env, strings.ReplaceAll(variable, "FOLDER", s.folder))
			}
			if test.dir != "" {
				s.dir = test.dir
			}
			if got := strings.ReplaceAll(s.all(), s.folder, "FOLDER"); got != want {
				t.Errorf("it says\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestWhatCannotBeWrittenIsNamedWithAStatus(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.env = []string{"HOME=" + s.folder}
	s.all()
	for name, test := range map[string]struct {
		arguments []string
		status    int
		want      string
	}{
		"a report where nothing may be written":   {[]string{"report", "1", "--out", "/proc/report"}, exitSurroundings, "/proc/report"},
		"a report into a file":                    {[]string{"report", "1", "--out", filepath.Join(s.folder, "types.csv")}, exitSurroundings, "types.csv"},
		"a first suite where nothing can be made": {[]string{"init"}, exitSurroundings, "stopwatt.yml"},
	} {
		in := s
		if test.arguments[0] == "init" {
			in.dir = "/sys"
		}
		in.do(test.arguments...)
		if in.status != test.status || !strings.Contains(in.said, test.want) {
			t.Errorf("%s: status %d, want %d; it says %q", name, in.status, test.status, in.said)
		}
	}
}

func TestNoUmaskOpensOrLocksWhatIsWritten(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "077"} {
		s := newShell(t)
		s.umask, s.env = umask, []string{"XDG_DATA_HOME=" + filepath.Join(s.folder, "data"), "STOPWATT_LOCK=" + filepath.Join(s.folder, "lock"), "HOME=" + s.folder, "DOCKER_HOST=unix:///nonexistent"}
		s.all()
		suite := "suite: x\nimplementations: {one: {image: x}}\nworkloads: {w: {http: {port: 80, request: {path: /}}, load: {users: 1, for: 1s}}}\n"
		if err := os.WriteFile(filepath.Join(s.folder, "stopwatt.yml"), []byte(suite), 0o644); err != nil {
			t.Fatal(err)
		}
		s.do("run") // which takes the lock, and finds no engine
		if s.status != exitSurroundings || !strings.Contains(s.said, "unreachable") {
			t.Errorf("umask %s: status %d, %s", umask, s.status, s.said)
		}
		info, err := os.Stat(filepath.Join(s.folder, "lock"))
		if err != nil || info.Mode().Perm() != 0o666 {
			t.Errorf("umask %s: the lock is %v, %v; want one that others can take, too", umask, info, err)
		}
		for _, folder := range []string{"data", "report"} {
			err := filepath.WalkDir(filepath.Join(s.folder, folder), func(path string, entry fs.DirEntry, err error) error {
				if err != nil && errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				if err != nil {
					return err
				}
				info, err := entry.Info()
				if err == nil && info.Mode().Perm()&0o022 != 0 {
					err = fmt.Errorf("%s is %v: others may write it", path, info.Mode())
				}
				return err
			})
			if err != nil {
				t.Errorf("umask %s: %v", umask, err)
			}
		}
	}
}
