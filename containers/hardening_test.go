package containers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// granted lists all that a container may do beyond what none needs to be granted, in
// words. What is empty in this list is withheld.
func granted(t *testing.T, d *Docker, id string) []string {
	t.Helper()
	c, err := d.client.ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	host := c.HostConfig
	var words []string
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	dropped := slices.ContainsFunc(host.CapDrop, func(name string) bool { return strings.EqualFold(name, "ALL") })
	say(!dropped, "the engine's capabilities")
	for _, name := range host.CapAdd {
		say(true, "capability %s", strings.TrimPrefix(name, "CAP_"))
	}
	say(!slices.Contains(host.SecurityOpt, "no-new-privileges"), "new privileges")
	for _, option := range host.SecurityOpt {
		say(option != "no-new-privileges", "%s", option)
	}
	say(host.Privileged, "privileged")
	say(len(host.MaskedPaths) < 8, "unmasked paths")
	say(len(host.ReadonlyPaths) < 5, "paths of /proc may be written")
	say(!host.ReadonlyRootfs, "root may be written")
	say(!cmp.Equal(host.Tmpfs, map[string]string{"/tmp": temporary}), "in memory %v", host.Tmpfs)
	say(host.PidMode != "", "processes of the %s", host.PidMode)
	say(host.UTSMode != "", "name of the %s", host.UTSMode)
	say(host.UsernsMode != "", "users of the %s", host.UsernsMode)
	say(host.IpcMode != container.IPCModePrivate, "memory shared: %s", host.IpcMode)
	say(host.CgroupnsMode == "host", "cgroups of the host")
	say(len(host.Devices)+len(host.DeviceRequests)+len(host.DeviceCgroupRules) > 0, "devices")
	say(host.PidsLimit == nil || *host.PidsLimit != maxProcesses, "another number of processes")
	say(host.Memory != 0 && host.Memory != d.memory/8*7 || host.MemorySwap != host.Memory, "memory %d, with swap %d", host.Memory, host.MemorySwap)
	say(host.Memory == 0, "no limit of memory")
	say(host.CpusetCpus != "", "cores %s", host.CpusetCpus)
	say(len(host.Ulimits) != 1 || *host.Ulimits[0] != container.Ulimit{Name: "nofile", Soft: maxFiles, Hard: maxFiles}, "other numbers of files")
	say(host.OomKillDisable != nil && *host.OomKillDisable || host.OomScoreAdj != 0, "another place when memory runs out")
	say(!cmp.Equal(host.LogConfig, container.LogConfig{Type: "json-file", Config: map[string]string{"max-file": logFiles, "max-size": logFileSize}}), "another log")
	say(host.RestartPolicy.Name != container.RestartPolicyDisabled, "restarts")
	say(c.Config.Healthcheck == nil || !slices.Equal(c.Config.Healthcheck.Test, []string{"NONE"}), "a health check of its own")
	say(len(host.Binds)+len(host.Links)+len(host.GroupAdd)+len(host.Sysctls)+len(host.ExtraHosts) > 0, "binds, links, groups, sysctls or hosts")
	words = append(words, reached(c)...)
	slices.Sort(words)
	return words
}

// reached lists what a container sees of networks, files and variables.
func reached(c container.InspectResponse) (words []string) {
	if mode := string(c.HostConfig.NetworkMode); mode != "none" {
		kind, _, _ := strings.Cut(mode, ":")
		if len(mode) == 64 {
			kind = "of ours"
		}
		words = append(words, "network "+kind)
	}
	for port, bindings := range c.HostConfig.PortBindings {
		words = append(words, fmt.Sprintf("port %s at %s", port, bindings[0].HostIP))
	}
	for _, m := range c.Mounts {
		words = append(words, fmt.Sprintf("%s %s, writable: %v", m.Type, m.Destination, m.RW))
	}
	for _, variable := range c.Config.Env {
		if name, _, _ := strings.Cut(variable, "="); name != "PATH" {
			words = append(words, "variable "+name)
		}
	}
	if c.Config.User != "" {
		words = append(words, "user "+c.Config.User)
	}
	return words
}

// harmless are the words of an order that grant nothing.
var harmless = []string{"Image", "Entrypoint", "Command", "StopSignal", "Alias", "Stdin", "CgroupParent", "Labels"}

// loosenings are what each other word grants.
var loosenings = map[string]struct {
	order stopwatt.ContainerOrder
	want  []string
}{
	"":            {stopwatt.ContainerOrder{Entrypoint: []string{"/program"}, StopSignal: "SIGTERM", Stdin: true}, nil}, // harmless ones
	"Env":         {stopwatt.ContainerOrder{Env: map[string]string{"A": "1"}}, []string{"variable A"}},
	"CPUs":        {stopwatt.ContainerOrder{CPUs: "0"}, []string{"cores 0"}},
	"Memory":      {stopwatt.ContainerOrder{Memory: 64 << 20}, []string{"memory 67108864, with swap 67108864"}},
	"Writable":    {stopwatt.ContainerOrder{Writable: true}, []string{"root may be written"}},
	"JoinNetwork": {stopwatt.ContainerOrder{JoinNetwork: "another"}, []string{"network container"}},
	"Network":     {stopwatt.ContainerOrder{Network: "ours", Alias: "db"}, []string{"network of ours"}},
	"Publish":     {stopwatt.ContainerOrder{Network: "ours", Publish: &stopwatt.Publish{Address: "127.0.0.1", Port: 80}}, []string{"network of ours", "port 80/tcp at 127.0.0.1"}},
	"User":        {stopwatt.ContainerOrder{User: "0:0"}, []string{"user 0:0"}},
	"Volume":      {stopwatt.ContainerOrder{Volume: "/run/server"}, []string{"volume /run/server, writable: true"}},
	"VolumesFrom": {stopwatt.ContainerOrder{VolumesFrom: "another"}, []string{"volume /shared, writable: false"}},
}

func TestEachContainerIsGrantedWhatItsOrderSaysAndNothingElse(t *testing.T) {
	t.Parallel()
	d := docker(t)
	for field := range reflect.TypeFor[stopwatt.ContainerOrder]().Fields() {
		if _, has := loosenings[field.Name]; !has && !slices.Contains(harmless, field.Name) {
			t.Errorf("the order's word %s is not in the table of what each grants", field.Name)
		}
	}
	another := create(t, d, stopwatt.ContainerOrder{Volume: "/shared"}, "wait")
	if _, err := d.Start(t.Context(), another); err != nil {
		t.Fatal(err)
	}
	ours, err := d.MakeNetwork(t.Context(), map[string]string{stopwatt.LabelRun: thisTest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.RemoveNetwork(context.Background(), ours) }) // after its containers
	for name, row := range loosenings {
		order := row.order
		order.JoinNetwork = strings.Replace(order.JoinNetwork, "another", another, 1)
		order.VolumesFrom = strings.Replace(order.VolumesFrom, "another", another, 1)
		order.Network = strings.Replace(order.Network, "ours", ours, 1)
		if diff := cmp.Diff(row.want, granted(t, d, create(t, d, order, "wait"))); diff != "" {
			t.Errorf("an order with %q grants (-want +got):\n%s", name, diff)
		}
	}
	if made, err := d.client.NetworkInspect(t.Context(), ours, network.InspectOptions{}); err != nil || !made.Internal {
		t.Errorf("the network of companions leads outside: %+v, %v", made, err)
	}
}

func TestWhatIsMadeBesideTrialsIsGrantedNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	d := docker(t)
	binary, err := programBinary()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{stopwatt.LabelRun: thisTest}
	agent, err := d.AgentImage(t.Context(), append(binary[:len(binary):len(binary)], thisTest+" hardening"...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.client.ImageRemove(context.Background(), agent, image.RemoveOptions{}) }) // with its containers
	carrier, err := d.AgentVolume(t.Context(), agent, labels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.Background(), carrier, "") })
	want := []string{"user 65534:65534", "volume /.stopwatt, writable: true"} // it never runs; whoever sees the volume cannot write it
	if diff := cmp.Diff(want, granted(t, d, carrier)); diff != "" {
		t.Errorf("what carries the agent is granted (-want +got):\n%s", diff)
	}

	meters, err := d.client.ContainerCreate(t.Context(), metersProgram(MetersOrder{Image: agent, Labels: labels}), d.metersSight(MetersOrder{}, metersOption{perf: "SYS_ADMIN"}), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.Background(), meters.ID, "") })
	// The engine itself adds label=disable where processes are the host's.
	want = []string{"bind /sys, writable: false", "capability SYS_ADMIN", "cgroups of the host", "label=disable", "name of the host", "processes of the host", "seccomp=unconfined", "unmasked paths", "user 0:0", "users of the host"}
	got := granted(t, d, meters.ID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what reads meters is granted (-want +got):\n%s", diff)
	}

	order := database(t, d)
	startDatabase(t, d, order)
	want = []string{
		"network bridge", "port 5432/tcp at 127.0.0.1", "root may be written", "user postgres",
		"variable PGDATA", "variable POSTGRES_DB", "variable POSTGRES_INITDB_ARGS", "variable POSTGRES_PASSWORD", "variable POSTGRES_USER",
		"volume " + databaseVolume + ", writable: true",
	}
	got = granted(t, d, databaseName(order.Name))
	for i, word := range got {
		got[i] = strings.Replace(word, "network default", "network bridge", 1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the private database is granted (-want +got):\n%s", diff)
	}
}

// Whoever makes containers in another place is to be put into the two tests above.
func TestContainersAreMadeInFourPlacesOnly(t *testing.T) {
	t.Parallel()
	want := []string{"ContainerCreate in AgentVolume", "ContainerCreate in create", "ContainerCreate in createDatabase", "ContainerCreate in startMeters", "ContainerExecCreate in Execute"}
	var got []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(".."), name)
		if err != nil || !bytes.Contains(text, []byte("Create(")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is {
				continue
			}
			ast.Inspect(function, func(n ast.Node) bool {
				if called, is := n.(*ast.SelectorExpr); is && (called.Sel.Name == "ContainerCreate" || called.Sel.Name == "ContainerExecCreate") && called.Sel.Name != function.Name.Name { // but for bounded, which passes it on
					got = append(got, called.Sel.Name+" in "+function.Name.Name)
				}
				return true
			})
		}
		return nil
	})
	slices.Sort(got)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestWhatIsExecutedInAContainerHasNoMoreThanTheContainer(t *testing.T) {
	t.Parallel()
	d := docker(t)
	status, said, err := d.Execute(t.Context(), start(t, d, stopwatt.ContainerOrder{}, "wait").ID, []string{"/program", "facts"})
	if err != nil || status != 0 {
		t.Fatal(status, said, err)
	}
	found := map[string]string{}
	if err := json.Unmarshal([]byte(said), &found); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for name, want := range map[string]string{"CapEff": "0000000000000000", "CapBnd": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2", "interfaces": "lo ", "root": "open /written: read-only file system"} {
		if found[name] != want {
			t.Errorf("%s: %q; want %q", name, found[name], want)
		}
	}
}

func TestAnImageCannotPutAnotherProgramInTheAgentsPlace(t *testing.T) {
	t.Parallel()
	d := docker(t)
	binary, err := programBinary()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := d.AgentImage(t.Context(), append(binary[:len(binary):len(binary)], thisTest+" place"...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.client.ImageRemove(context.Background(), agent, image.RemoveOptions{}) }) // with its containers
	carrier, err := d.AgentVolume(t.Context(), agent, map[string]string{stopwatt.LabelRun: thisTest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.Background(), carrier, "") })
	for name, files := range map[string]map[string]string{
		"its own agent":             {".stopwatt/agent": string(binary)},
		"a link to its own":         {"fake/agent": string(binary), ".stopwatt": "link:/fake"},
		"a link to a volume of its": {"volume/fake/agent": string(binary), ".stopwatt": "link:/volume/fake"},
	} {
		tag := "stopwatt-test/fake:" + strings.ToLower(thisTest) + "-" + strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "'", "")
		stream, err := d.client.ImageImport(t.Context(), image.ImportSource{Source: bytes.NewReader(tarOf(files)), SourceName: "-"}, tag, image.ImportOptions{Changes: []string{"VOLUME /volume"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := readMessages(stream, func(message) {}); err != nil {
			t.Fatal(err)
		}
		stream.Close()
		removesImage(t, d, tag)
		id, err := d.Create(t.Context(), stopwatt.ContainerOrder{
			Image: tag, Entrypoint: []string{stopwatt.AgentPath}, Command: []string{"exit", "6"}, VolumesFrom: carrier, Labels: map[string]string{stopwatt.LabelRun: thisTest},
		})
		if err != nil {
			if !strings.Contains(err.Error(), "/.stopwatt") && !strings.Contains(err.Error(), "not a directory") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		t.Cleanup(func() { _ = d.Remove(context.Background(), id, "") })
		if name != "its own agent" {
			t.Errorf("%s: it was not refused", name)
		}
		seen, err := d.client.ContainerInspect(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(seen.Mounts, func(m container.MountPoint) bool { return m.Destination == "/.stopwatt" && !m.RW }); i < 0 {
			t.Errorf("%s: mounts %+v; want ours, which cannot be written", name, seen.Mounts)
		}
	}
}
