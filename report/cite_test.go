package report

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func citeOf(t *testing.T, results stopwatt.Results) string {
	t.Helper()
	var out bytes.Buffer
	if err := Cite(&out, results); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCite(t *testing.T) {
	t.Parallel()
	results := first(metered(10))
	results.Run.Machine = board()
	results.Run.PlanKey = "sha256:9f3c51d2"
	for i := range results.Run.Settings.Workloads {
		results.Run.Settings.Workloads[i].HTTP = &stopwatt.HTTP{Expect: stopwatt.Expect{Status: 200, BodySHA256: "abca"}}
	}
	golden(t, "cite.txt", []byte(citeOf(t, results)))
}

func TestCiteSaysOnlyWhatIsKnown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*stopwatt.Results)
		want   string // empty: nothing of "without" is in it
		not    string
	}{
		{"no meter", func(r *stopwatt.Results) { r.Run.Meters, r.Run.Idle = nil, nil }, "", "nergy"},
		{"a meter but no idle window", func(r *stopwatt.Results) { r.Run.Idle = nil }, "Idle power was not measured, so energy is gross.", "net energy"},
		{"an idle window before the trials alone", func(r *stopwatt.Results) { r.Run.Idle = r.Run.Idle[:1] }, "over 30.0 s before the first round, and not after the last)", "drift"},
		{"no verification by body", func(*stopwatt.Results) {}, "the status of its answer is verified", "SHA-256"},
		{"some verified by body", func(r *stopwatt.Results) {
			r.Run.Settings.Workloads[1].HTTP = &stopwatt.HTTP{Expect: stopwatt.Expect{BodySHA256: "ab"}}
		}, "and in 1 of 3 workloads the SHA-256 of the body", ""},
		{"cases with fewer valid trials", func(r *stopwatt.Results) { r.Cases[3].Valid, r.Cases[3].Invalid = 1, 1 }, "23 of 24 trials were valid (n = 1 to 2 for each case)", ""},
		{"an aborted run", func(r *stopwatt.Results) { r.Run.Status, r.Run.Planned = stopwatt.Aborted, 100 }, "the run is aborted, 76 of 100 planned trials were not carried out", ""},
		{"loads by time", func(r *stopwatt.Results) {
			r.Run.Settings.Workloads[0].Load = stopwatt.Load{Users: 1, For: 10 * time.Second, Close: true}
		}, "csv-svg-path, 1 user, for 10.0 s, connections closed after each request;", ""},
		{"nothing at all", func(r *stopwatt.Results) { *r = stopwatt.Results{} }, "Cite as: .", "0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			results := first(metered(2))
			test.change(&results)
			got := strings.ReplaceAll(citeOf(t, results), "\n", " ")
			if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
				t.Errorf("%q is not in, or %q is in:\n%s", test.want, test.not, got)
			}
		})
	}
}

func TestCiteIsNarrowAndPlain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		results, _ := randomResults(random, hostileNames(random))
		name := hostileNames(random)
		results.Run.Meters = []stopwatt.Meter{{Name: name(), Source: name()}}
		results.Run.Machine = stopwatt.Machine{Name: name(), Identity: stopwatt.MachineIdentity{CPUModel: name(), Cores: 1}}
		results.Run.Key, results.Run.Project, results.Run.Tool, results.Run.Engine.Version = name(), name(), name(), name()
		narrow(t, citeOf(t, results), 80)
	}
}

func TestImportedFiguresAreNotCitedAsMeasuredHere(t *testing.T) {
	results := stopwatt.Results{Run: stopwatt.Run{Imported: true, Source: "axiom.csv", Tool: "1.0", Machine: stopwatt.Machine{Name: "laptop", Named: true}}}
	var out bytes.Buffer
	if err := Cite(&out, results); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	if !strings.Contains(text, "Measured by others on laptop, and imported from axiom.csv with stopwatt 1.0.") || strings.Contains(text, "fresh container") {
		t.Errorf("got %q", text)
	}
}
