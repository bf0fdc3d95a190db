package report

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// confining are the words of an implementation and of a service, and which of them loosen
// what its container is withheld. A word that is missing here is to be thought about.
var confining = map[reflect.Type]map[string]bool{
	reflect.TypeFor[stopwatt.Implementation](): {
		"Name": false, "Null": false, "Image": false, "Build": false, "Command": false, "Env": false, "CPUs": false, "Memory": false,
		"StopSignal": false, "Writable": true, "Exec": false, "With": false, "Services": true,
	},
	reflect.TypeFor[stopwatt.Service](): {
		"Name": false, "Image": false, "Build": false, "ImageID": false, "Command": false, "Env": false, "CPUs": false, "Memory": false,
		"User": true, "Ready": false, "Keep": false, "Writable": true,
	},
}

// loosenings are suites that grant one thing each, by the word, and what is said of it.
var loosenings = map[string]struct {
	suite stopwatt.Suite
	want  string
}{
	"Implementation.Writable": {suite(stopwatt.Implementation{Name: "go", Writable: true}), "go may write to its own root"},
	"Implementation.Services": {suite(stopwatt.Implementation{Name: "go", Services: []stopwatt.Service{{Name: "db"}}}), "go shares a network with db"},
	"Service.Writable":        {suite(stopwatt.Implementation{Name: "go", Services: []stopwatt.Service{{Name: "db", Writable: true}}}), "go's db may write to its own root"},
	"Service.User":            {suite(stopwatt.Implementation{Name: "go", Services: []stopwatt.Service{{Name: "db", User: "root"}}}), "go's db runs as root"},
	"HTTP.Socket":             {stopwatt.Suite{Workloads: []stopwatt.Workload{{Name: "hello", HTTP: &stopwatt.HTTP{Socket: "/run/s"}}}}, "hello is asked by a root driver"},
	"Workload.Services":       {stopwatt.Suite{Workloads: []stopwatt.Workload{{Name: "hello", Services: []stopwatt.Service{{Name: "db"}}}}}, "hello shares a network with db"},
}

func suite(i stopwatt.Implementation) stopwatt.Suite {
	return stopwatt.Suite{Implementations: []stopwatt.Implementation{i}}
}

func TestEachLooseningIsRepeatedByEachReport(t *testing.T) {
	t.Parallel()
	for of, words := range confining {
		for field := range of.Fields() {
			loosens, known := words[field.Name]
			if _, has := loosenings[of.Name()+"."+field.Name]; !known || has != loosens {
				t.Errorf("%s.%s is not among what loosens, or not, and is repeated: known %v, in the table %v", of.Name(), field.Name, known, has)
			}
		}
	}
	for word, row := range loosenings {
		results := first(servers(3))
		c := contrastOf(results, DefaultMetrics(results))
		results.Run.Settings.Workloads = append(slices.Clone(results.Run.Settings.Workloads), row.suite.Workloads...)
		results.Run.Settings.Implementations = append(slices.Clone(results.Run.Settings.Implementations), row.suite.Implementations...)
		for kind, text := range inAllForms(t, results, c) {
			if text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "&#39;", "'"); !strings.Contains(text, row.want) {
				t.Errorf("%s: the %s does not say %q", word, kind, row.want)
			}
		}
	}
}

// inAllForms is a run of these settings as each form of the report has it.
func inAllForms(t *testing.T, results stopwatt.Results, c stopwatt.Contrast) map[string]string {
	t.Helper()
	files, err := Folder(results, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	var terminal bytes.Buffer
	if err := Terminal(&terminal, results.Run, c, Options{}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"terminal": terminal.String(), "Markdown": string(files["results.md"]), "page": string(files[Page]), "results.json": string(files["results.json"])}
}

func TestWhatAHarnessTellsIsMarkedAsSelfReported(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]struct {
		run   stopwatt.Run
		shown []string
	}{
		"Self-reported, by a harness or load tool: types. ": {selfMeasured(false), []string{"types/add", "hello"}},
		"Self-reported, by a harness or load tool: wrk. ":   {selfMeasured(false), []string{"wrk"}},
		"": {selfMeasured(false), []string{"hello", "typesetting/x"}},
	} {
		if got := selfReported(row.run, row.shown); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("of %v is said %q; want %q", row.shown, got, want)
		}
	}
	if got := selfReported(selfMeasured(true), []string{"types"}); got != "" {
		t.Errorf("of imported ones is said %q", got)
	}
}

// selfMeasured has a workload of each kind.
func selfMeasured(imported bool) stopwatt.Run {
	return stopwatt.Run{Imported: imported, Settings: stopwatt.Suite{Workloads: []stopwatt.Workload{
		{Name: "types", Harness: &stopwatt.Harness{}}, {Name: "hello", HTTP: &stopwatt.HTTP{}}, {Name: "wrk", HTTP: &stopwatt.HTTP{}, Load: stopwatt.Load{Tool: &stopwatt.Tool{}}},
	}}}
}
