package stopwatt_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "gitlab.com/stopwatt/stopwatt"

// mayImport is the house: which rooms each room may import. The words, ".",
// may be imported by all.
var mayImport = map[string][]string{
	".": {},

	"harness":    {},
	"jobs":       {},
	"regression": {},
	"report":     {},
	"runfile":    {},

	"agent":                         {},
	"containers":                    {},
	"git":                           {},
	"gitlab":                        {},
	"gitlab/gitlabtest":             {},
	"meter":                         {},
	"meter/simulated":               {},
	"migrations":                    {},
	"spool":                         {},
	"storage":                       {"migrations"},
	"storage/embedded":              {},
	"storage/embedded/embeddedtest": {"storage/embedded"},
	"storage/storagetest":           {"storage"},

	"trial":        {"regression"},
	"orchestrator": {"jobs", "regression", "trial"},
	"campaign":     {},
	"web":          {"regression", "report"},

	"templates": {}, // only tests

	"cmd/stopwatt-agent": {"agent", "meter"},
	"cmd/stopwatt": {"campaign", "containers", "git", "gitlab", "harness", "jobs", "meter", "migrations", "orchestrator", "regression", "report", "runfile",
		"spool", "storage", "storage/embedded", "trial", "web"},
}

// doors are the modules that one room alone may use.
var doors = map[string]string{
	"golang.org/x/perf/benchfmt": "harness",
	"github.com/docker/docker":   "containers",
	"github.com/jackc/pgx/v5":    "storage",
	"github.com/goccy/go-yaml":   "jobs",
	"github.com/xanzy/go-gitlab": "gitlab",
	"github.com/spf13/cobra":     "cmd/stopwatt",
	"github.com/vbauerster/mpb":  "cmd/stopwatt",
}

// imports lists what each package imports, its tests left out.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		all[room(fields[0])] = fields[1:]
	}
	return all
}

// room is a package's folder.
func room(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

func TestEveryRoomImportsOnlyWhatTheHouseAllows(t *testing.T) {
	for name, imported := range imports(t) {
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("room %s is missing from the table: say who may import whom", name)
		}
		for _, path := range imported {
			ours := path == module || strings.HasPrefix(path, module+"/")
			if ours && room(path) != "." && !slices.Contains(allowed, room(path)) {
				t.Errorf("%s imports %s: the house does not allow that", name, room(path))
			}
			if name == "." && strings.Contains(strings.Split(path, "/")[0], ".") {
				t.Errorf("the words import %s: they may import the standard library only", path)
			}
		}
	}
}

func TestEachAskedForModuleHasOneDoor(t *testing.T) {
	for name, imported := range imports(t) {
		for _, path := range imported {
			for dependency, door := range doors {
				if strings.HasPrefix(path, dependency) && name != door && !strings.HasPrefix(name, door+"/") {
					t.Errorf("%s imports %s, whose one door is %s", name, path, door)
				}
			}
		}
	}
}

func TestEveryRoomOfTheTableStands(t *testing.T) {
	for name := range mayImport {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("the table names the room %s: %v", name, err)
		}
	}
}
