package jobs

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// Found is what a first suite can be made of.
type Found struct {
	Suite   string // its name; what is no name of a suite is made one
	Folders []FoundFolder
}

// FoundFolder is a folder with a Dockerfile.
type FoundFolder struct {
	Path string // relative to the suite file; "." for its own folder
	Port int    // that its Dockerfile exposes; 0: none found
}

// Starter writes a first suite with comments, which Read accepts as it is when
// the folders are there. Where nothing was found, an example stands in.
func Starter(found Found) []byte {
	var text bytes.Buffer
	if err := starter.Execute(&text, outline(found)); err != nil {
		panic(err) // the template is ours, and writes to memory
	}
	return text.Bytes()
}

var starter = template.Must(template.New("stopwatt.yml").Parse(`# stopwatt.yml: what is compared, under which work, how it is measured.
# stopwatt check says what is wrong here. Every key and default: docs/suite.md
suite: {{.Suite}}
baseline: {{.Baseline}}   # the others are shown against it

implementations:
{{- range .Implementations}}
  {{.Name}}: {{"{"}}build: {{.Folder}}{{"}"}}   # a folder with a Dockerfile
{{- else}}
  {{.Baseline}}: {image: "registry.example.org/team/server:1.0"}   # TODO: or {build: a folder with a Dockerfile}
{{- end}}
  # one more, the same image with other flags:
  # flags: {build: {{.Example}}, env: {THREADS: "2"}, cpus: "0-1"}
  # one more, as it was at another commit, with today's Dockerfile:
  # old: {build: {context: {{.Example}}, ref: v1.0, dockerfile: {{.ExampleDockerfile}}}}

workloads:
  hello:
    http:
      port: {{.Port}}   # TODO: {{.PortFrom}}
      request: {method: GET, path: /}   # TODO: what to ask
      expect: {status: 200}   # TODO: body-sha256, of the right answer
    load: {users: 4, for: 10s}   # or requests: 5000, of each user

plan:
  rounds: 10
  warmup: 2s
  profiles:
    short: {rounds: 2, load: {for: 2s}}   # stopwatt run --profile short
`))

// anOutline is what the template is filled with.
type anOutline struct {
	Suite, Baseline            string
	Implementations            []outlined
	Example, ExampleDockerfile string
	Port                       int
	PortFrom                   string
}

type outlined struct{ Name, Folder string }

func outline(found Found) anOutline {
	o := anOutline{Suite: inYAML(nameFrom(found.Suite, "suite")), Baseline: "server", Example: "server", ExampleDockerfile: "server/Dockerfile"}
	taken := map[string]bool{}
	folders := slices.DeleteFunc(slices.Clone(found.Folders), func(f FoundFolder) bool { return isRelative(f.Path) != "" })
	for _, folder := range folders {
		name := unique(nameFrom(path.Base(folder.Path), nameFrom(found.Suite, "server")), taken)
		o.Implementations = append(o.Implementations, outlined{inYAML(name), inYAML(folder.Path)})
	}
	if len(folders) > 0 {
		first := folders[0].Path
		o.Baseline = o.Implementations[0].Name
		o.Example, o.ExampleDockerfile = inYAML(first), inYAML(path.Join(first, "Dockerfile"))
	}
	o.Port, o.PortFrom = commonPort(folders)
	return o
}

// commonPort chooses the port of the workload, and says why.
func commonPort(folders []FoundFolder) (port int, from string) {
	alike := true
	for _, folder := range folders {
		port = cmp.Or(port, folder.Port)
		alike = alike && (folder.Port == 0 || folder.Port == port)
	}
	switch {
	case port == 0:
		return 8080, "the port that the servers listen on"
	case !alike:
		return port, "found in EXPOSE, but not all expose the same port"
	}
	return port, "found in EXPOSE"
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// nameFrom makes a name from any text.
func nameFrom(text, otherwise string) string {
	name := strings.TrimLeft(unfit.ReplaceAllString(text, "-"), "._-")
	name = strings.TrimRight(name[:min(len(name), 60)], "-")
	return cmp.Or(name, otherwise)
}

// unique adds a number to a name that is taken, and takes it.
func unique(name string, taken map[string]bool) string {
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	taken[free] = true
	return free
}

// safe is text that means itself in YAML, between braces too.
var safe = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$|^\.$`)

// inYAML quotes text where that is needed. Go's escapes are all YAML's too.
func inYAML(text string) string {
	if safe.MatchString(text) && text != "null" && text != "true" && text != "false" {
		return text
	}
	return strconv.Quote(text)
}
