package containers

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestLeftoversAreOnlyThoseOfDeadOwners(t *testing.T) {
	t.Parallel()
	d := docker(t)
	owned := func(owner string) string {
		return create(t, d, stopwatt.ContainerOrder{Labels: map[string]string{
			stopwatt.LabelOwner: owner, stopwatt.LabelRun: thisTest, stopwatt.LabelRole: "server",
		}}, "wait")
	}
	dead, alive := owned(thisTest+" dead"), owned(thisTest+" alive")
	nobodys := create(t, d, stopwatt.ContainerOrder{}, "wait")
	left, err := d.Leftovers(t.Context(), func(owner string) bool { return owner == thisTest+" dead" })
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name == "" {
		t.Fatalf("leftovers %+v; want one that has a name", left)
	}
	left[0].Name = ""
	want := []Leftover{{ID: dead, Run: thisTest, Owner: thisTest + " dead", Role: "server"}}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
	if n, err := d.Clean(t.Context(), left); err != nil || n != 1 {
		t.Fatalf("%d removed, error %v", n, err)
	}
	if exists(t, d, dead) || !exists(t, d, alive) || !exists(t, d, nobodys) {
		t.Errorf("the dead owner's container exists: %v; the living one's: %v, nobody's: %v", exists(t, d, dead), exists(t, d, alive), exists(t, d, nobodys))
	}
	if _, err := d.Clean(t.Context(), left); err != nil {
		t.Errorf("cleaned twice: %v", err)
	}
}

// theirImage is one that somebody has built on ours: it inherits the label.
func theirImage(t *testing.T, d *Docker, key string) string {
	t.Helper()
	tag := "stopwatt-test/theirs:" + key
	archive := tarOf(map[string]string{"file.txt": thisTest})
	stream, err := d.client.ImageImport(t.Context(), image.ImportSource{Source: bytes.NewReader(archive), SourceName: "-"}, tag,
		image.ImportOptions{Changes: []string{"LABEL " + labelKey + "=" + key}})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := readMessages(stream, func(message) {}); err != nil {
		t.Fatal(err)
	}
	removesImage(t, d, tag)
	return tag
}

func TestImagesToCleanAreOnlyOurs(t *testing.T) {
	t.Parallel()
	d := docker(t)
	theProgram(t)
	make := func(content string) (stopwatt.BuildOrder, stopwatt.Image) {
		o := order(t, map[string]string{"Dockerfile": fromProgram + "COPY file.txt /\n", "file.txt": content})
		o.Context.Hash += content
		made, err := d.Build(t.Context(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		removesImage(t, d, tagOf(o, made))
		return o, made
	}
	usedOrder, used := make("used")
	freeOrder, free := make("free")
	theirs := theirImage(t, d, free.Key)
	container, err := d.Create(t.Context(), stopwatt.ContainerOrder{Image: used.ID, Command: []string{"x"}, Labels: map[string]string{stopwatt.LabelRun: thisTest}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Remove(context.Background(), container, "") })

	all, err := d.Images(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mine := slices.DeleteFunc(all, func(m MadeImage) bool { return m.Key != used.Key && m.Key != free.Key })
	slices.SortFunc(mine, func(a, b MadeImage) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
	want := []MadeImage{
		{Tag: tagOf(usedOrder, used), ID: used.ID, Key: used.Key, Bytes: used.Bytes, InUse: true},
		{Tag: tagOf(freeOrder, free), ID: free.ID, Key: free.Key, Bytes: free.Bytes},
	}
	slices.SortFunc(want, func(a, b MadeImage) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
	if diff := cmp.Diff(want, mine); diff != "" {
		t.Fatal(diff)
	}
	mine[0].InUse, mine[1].InUse = false, false // the container came only after the list
	for range 2 {
		if err := d.RemoveImages(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
	}
	for name, remains := range map[string]bool{tagOf(usedOrder, used): true, tagOf(freeOrder, free): false, theirs: true} {
		if _, err := d.client.ImageInspect(t.Context(), name); (err == nil) != remains {
			t.Errorf("%s remains: %v; want %v", name, err == nil, remains)
		}
	}
}

func TestTagsThatAreOurs(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	for tag, want := range map[string]bool{
		"stopwatt/go:0123456789ab":                  true,
		"stopwatt/go:latest":                        false,
		"stopwatt/debian:bookworm-slim":             false,
		"other/go:0123456789ab":                     false,
		"registry.example/stopwatt/go:0123456789ab": false,
		"stopwatt-fork/go:0123456789ab":             false,
		"stopwatt/go:0123456789abcdef":              false,
	} {
		if got := isOurTag(tag, key); got != want {
			t.Errorf("%s is ours: %v; want %v", tag, got, want)
		}
	}
	if isOurTag("stopwatt/go:", "") {
		t.Error("a tag without a key is ours")
	}
}

func TestAContainerThatHasOurLabelsFromItsImageIsSomebodyElses(t *testing.T) {
	t.Parallel()
	d := docker(t)
	dead := thisTest + " labelled"
	tag := "stopwatt-test/labelled:" + strings.ToLower(thisTest)
	stream, err := d.client.ImageImport(t.Context(), image.ImportSource{Source: bytes.NewReader(tarOf(map[string]string{"x": "x"})), SourceName: "-"}, tag,
		image.ImportOptions{Changes: []string{`LABEL ` + stopwatt.LabelOwner + `="` + dead + `"`}})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := readMessages(stream, func(message) {}); err != nil {
		t.Fatal(err)
	}
	removesImage(t, d, tag)
	theirs, err := d.client.ContainerCreate(t.Context(), &container.Config{Image: tag, Cmd: []string{"/x"}}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.Background(), theirs.ID, "") })
	left, err := d.Leftovers(t.Context(), func(owner string) bool { return owner == dead })
	if err != nil || len(left) > 0 {
		t.Errorf("leftovers %+v, %v; want none", left, err)
	}
}
