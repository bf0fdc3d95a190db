package containers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// contextOf is a build context that holds these files.
func contextOf(files map[string]string) stopwatt.BuildContext {
	archive := tarOf(files)
	return stopwatt.BuildContext{
		Hash:  thisTest, // no two runs of the tests share an image
		Files: len(files),
		Open:  func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil },
	}
}

// order is for an image of this test alone.
func order(t *testing.T, files map[string]string) stopwatt.BuildOrder {
	t.Helper()
	built := contextOf(files)
	built.Hash += t.Name()
	return stopwatt.BuildOrder{Name: t.Name(), Context: built, Args: map[string]string{"PROGRAM": programTag}}
}

// fromProgram begins a Dockerfile from the test program's image, which the
// order names.
const fromProgram = "ARG PROGRAM=scratch\nFROM $PROGRAM\n"

// built builds an image that the test removes.
func built(t *testing.T, d *Docker, order stopwatt.BuildOrder) stopwatt.Image {
	t.Helper()
	theProgram(t)
	made, err := d.Build(t.Context(), order, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !made.Reused {
		t.Cleanup(func() {
			if _, err := d.client.ImageRemove(context.Background(), tagOf(order, made), image.RemoveOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	return made
}

// tagOf is the tag that an order's image gets.
func tagOf(order stopwatt.BuildOrder, made stopwatt.Image) string {
	return ourImages + repository(order.Name) + ":" + made.Key[:keyPrefix]
}

// output runs an image and returns the lines that it prints.
func output(t *testing.T, d *Docker, imageID string) []string {
	t.Helper()
	id, err := d.Create(t.Context(), stopwatt.ContainerOrder{Image: imageID, Labels: map[string]string{stopwatt.LabelRun: thisTest}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove(context.Background(), id, "")
	if _, err := d.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return finish(t, d, id).Log
}

func TestBuildAndUseAgain(t *testing.T) {
	t.Parallel()
	d := docker(t)
	o := order(t, map[string]string{
		"Dockerfile": fromProgram + "COPY greeting.txt /\nCMD [\"/program\", \"show\", \"/greeting.txt\"]\n", "greeting.txt": "hello\n",
	})
	o.Labels = map[string]string{"a": "b", stopwatt.LabelOwner: "nobody", stopwatt.LabelRun: thisTest}
	made := built(t, d, o)
	if diff := cmp.Diff([]string{"hello"}, output(t, d, made.ID)); diff != "" {
		t.Error(diff)
	}
	want := []stopwatt.BaseImage{{Written: programTag, Used: programTag, ID: theProgram(t)}}
	if diff := cmp.Diff(want, made.Bases); diff != "" {
		t.Error(diff)
	}
	if made.Reused || made.Bytes == 0 || made.Key == "" {
		t.Errorf("the first time: %+v", made)
	}
	inspected, err := d.client.ImageInspect(t.Context(), tagOf(o, made))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "b", labelKey: made.Key}, inspected.Config.Labels); diff != "" {
		t.Error("labels: ", diff)
	}
	made.Reused = true
	if diff := cmp.Diff(made, built(t, d, o)); diff != "" {
		t.Error("the second time: ", diff)
	}
}

func TestWhatIsBuiltAnewTakesThePlaceOfTheFormer(t *testing.T) {
	t.Parallel()
	d := docker(t)
	o := order(t, map[string]string{"Dockerfile": fromProgram + "RUN [\"/program\", \"stamp\", \"/stamp\"]\nCMD [\"/program\", \"show\", \"/stamp\"]\n"})
	former := built(t, d, o)
	again, anew := o, o
	anew.Anew = true
	made, err := d.Build(t.Context(), anew, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.Build(t.Context(), again, nil)
	if err != nil || made.ID == former.ID || made.Reused || made.Key != former.Key || found.ID != made.ID || !found.Reused {
		t.Errorf("first %+v\nanew %+v\nthen %+v, %v", former, made, found, err)
	}
	if _, err := d.client.ImageInspect(t.Context(), former.ID); !errdefs.IsNotFound(err) {
		t.Errorf("the former image is still there: %v", err)
	}
}

func TestBuildTellsItsSteps(t *testing.T) {
	t.Parallel()
	d := docker(t)
	theProgram(t)
	o := order(t, map[string]string{"Dockerfile": fromProgram + `RUN ["/program", "print", "\"step\""]` + "\n"})
	var steps []stopwatt.BuildStep
	made, err := d.Build(t.Context(), o, func(s stopwatt.BuildStep) { steps = append(steps, s) })
	if err != nil {
		t.Fatal(err)
	}
	defer d.client.ImageRemove(context.Background(), made.ID, image.RemoveOptions{})
	if len(steps) == 0 {
		t.Fatal("no step was told")
	}
	last := steps[len(steps)-1]
	if last.Done != last.Total || last.Total == 0 {
		t.Errorf("the last step is %+v; want all done", last)
	}
	named := func(s stopwatt.BuildStep) bool { return strings.Contains(s.Text, "RUN") }
	for _, s := range steps {
		if named(s) {
			return
		}
	}
	t.Errorf("no step names the RUN: %+v", steps)
}

func TestBuildThatFailsShowsItsLastLines(t *testing.T) {
	t.Parallel()
	d := docker(t)
	theProgram(t)
	for _, builder := range []build.BuilderVersion{build.BuilderBuildKit, build.BuilderV1} {
		t.Run("builder "+string(builder), func(t *testing.T) {
			t.Parallel()
			job, err := d.prepare(t.Context(), order(t, map[string]string{"Dockerfile": fromProgram + "RUN [\"/program\", \"fail\"]\n"}), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.buildWith(t.Context(), builder, job, nil)
			if err == nil {
				t.Fatal("the build succeeded")
			}
			for _, want := range []string{"RUN [", "3", "; its last lines:\nline 12\n", "line 40\nout of patience"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "line 11\n") {
				t.Errorf("the error has more than 30 lines:\n%v", err)
			}
		})
	}
}

func TestClassicBuilder(t *testing.T) {
	t.Parallel()
	d := docker(t)
	theProgram(t)
	o := order(t, map[string]string{"Dockerfile": fromProgram + "LABEL x=y\n"})
	job, err := d.prepare(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	var steps []stopwatt.BuildStep
	id, err := d.buildWith(t.Context(), build.BuilderV1, job, func(s stopwatt.BuildStep) { steps = append(steps, s) })
	if err != nil {
		t.Fatal(err)
	}
	defer d.client.ImageRemove(context.Background(), job.tag, image.RemoveOptions{PruneChildren: true})
	want := stopwatt.BuildStep{Done: 2, Total: 4, Text: "LABEL x=y"}
	if len(steps) != 4 || steps[2] != want {
		t.Errorf("steps %+v; want the third of four to be %+v", steps, want)
	}
	if found, err := d.ours(t.Context(), job.tag, job.key); err != nil || found.ID != id {
		t.Errorf("the image %s is not found again: %s, %v", id, found.ID, err)
	}
}

func TestStandInTakesTheDefaultsPlace(t *testing.T) {
	t.Parallel()
	d := docker(t)
	o := order(t, map[string]string{"Dockerfile": "ARG TAG=none\nARG BASE=nowhere.invalid/base:$TAG\nFROM $BASE\nCMD [\"/program\", \"print\", \"\\\"hi\\\"\"]\n"})
	o.StandIns = map[string]string{"nowhere.invalid/base:none": programTag}
	made := built(t, d, o)
	want := []stopwatt.BaseImage{{Written: "nowhere.invalid/base:none", Used: programTag, ID: theProgram(t)}}
	if diff := cmp.Diff(want, made.Bases); diff != "" {
		t.Error(diff)
	}
}

func TestDockerfileFromOutsideTheContext(t *testing.T) {
	t.Parallel()
	d := docker(t)
	o := order(t, map[string]string{"Dockerfile": "FROM nowhere.invalid/wrong\n", "greeting.txt": "hello\n"})
	o.Dockerfile = []byte(fromProgram + "COPY greeting.txt /\nCMD [\"/program\", \"show\", \"/greeting.txt\"]\n")
	if diff := cmp.Diff([]string{"hello"}, output(t, d, built(t, d, o).ID)); diff != "" {
		t.Error(diff)
	}
}

func TestTargetAndStages(t *testing.T) {
	t.Parallel()
	d := docker(t)
	o := order(t, map[string]string{"Dockerfile": fromProgram[:len(fromProgram)-1] + " AS first\nCMD [\"/program\", \"print\", \"\\\"first\\\"\"]\n" +
		"FROM first AS second\nCMD [\"/program\", \"print\", \"\\\"second\\\"\"]\nFROM nowhere.invalid/never AS third\n"})
	o.Target = "second"
	if diff := cmp.Diff([]string{"second"}, output(t, d, built(t, d, o).ID)); diff != "" {
		t.Error(diff)
	}
}

func TestProxiesReachTheBuildAndNotTheImage(t *testing.T) {
	t.Parallel()
	theProgram(t)
	env := map[string]string{"HTTP_PROXY": "http://proxy.invalid:3128", "no_proxy": "localhost"}
	d := *docker(t)
	d.getenv = func(name string) string { return env[name] }
	o := order(t, map[string]string{"Dockerfile": fromProgram + "RUN [\"/program\", \"proxies\"]\n"})
	_, err := d.Build(t.Context(), o, nil)
	if err == nil || !strings.Contains(err.Error(), "\nproxy http://proxy.invalid:3128 localhost") {
		t.Errorf("the build did not learn of the proxies: %v", err)
	}
	job, err := d.prepare(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	without, err := docker(t).prepare(t.Context(), o, nil)
	if err != nil || job.key != without.key {
		t.Errorf("the key depends on the proxies: %s and %s, %v", job.key, without.key, err)
	}
}

func TestBuildIsInterrupted(t *testing.T) {
	t.Parallel()
	d := docker(t)
	theProgram(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupted")
	o := order(t, map[string]string{"Dockerfile": fromProgram + "RUN [\"/program\", \"stay\", \"here\"]\n"})
	_, err := d.Build(ctx, o, func(s stopwatt.BuildStep) {
		if strings.Contains(s.Text, "RUN") {
			cancel(interrupt)
		}
	})
	if !errors.Is(err, interrupt) {
		t.Errorf("error %v; want the cause of the end", err)
	}
}

func TestBuildsThatCannotBegin(t *testing.T) {
	t.Parallel()
	d := docker(t)
	broken := errors.New("the checkout is gone")
	tests := []struct {
		name  string
		files map[string]string
		alter func(o *stopwatt.BuildOrder)
		want  string
	}{
		{"no Dockerfile", map[string]string{"a.txt": ""}, nil, "no file called Dockerfile"},
		{"an empty Dockerfile", map[string]string{"Dockerfile": "# nothing\n"}, nil, "no FROM"},
		{"a base that does not exist", map[string]string{"Dockerfile": "\nFROM 127.0.0.1:1/x:1\n"}, nil, "Dockerfile:2: image 127.0.0.1:1/x:1: "},
		{"a base that has a stand-in which cannot be given", map[string]string{"Dockerfile": "FROM 127.0.0.1:1/x:1\n"},
			func(o *stopwatt.BuildOrder) { o.StandIns = map[string]string{"127.0.0.1:1/x:1": "y"} }, "begins ARG BASE=127.0.0.1:1/x:1"},
		{"a base that is no name", map[string]string{"Dockerfile": "FROM UPPER:x:y\n"}, nil, "write it as name:tag"},
		{"a stage that does not exist", map[string]string{"Dockerfile": "FROM scratch AS here\n"}, func(o *stopwatt.BuildOrder) { o.Target = "there" }, "it has here"},
		{"a bad .dockerignore", map[string]string{"Dockerfile": "FROM scratch\n", ".dockerignore": "[\n"}, nil, ".dockerignore: "},
		{"a context that cannot be read", map[string]string{"Dockerfile": "FROM scratch\n"},
			func(o *stopwatt.BuildOrder) {
				o.Context.Open = func() (io.ReadCloser, error) { return nil, broken }
			}, broken.Error()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := order(t, test.files)
			if test.alter != nil {
				test.alter(&o)
			}
			_, err := d.Build(t.Context(), o, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one that says %q", err, test.want)
			}
		})
	}
}

func TestContextThatBreaksOffIsNotTheEnginesFault(t *testing.T) {
	t.Parallel()
	d := docker(t)
	theProgram(t)
	o := order(t, map[string]string{"Dockerfile": fromProgram})
	job, err := d.prepare(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the checkout is gone")
	job.context.Open = func() (io.ReadCloser, error) { return nil, broken }
	_, err = d.buildWith(t.Context(), build.BuilderBuildKit, job, nil)
	if !errors.Is(err, broken) || errors.Is(err, stopwatt.ErrUnreachable) {
		t.Errorf("error %v; want %v", err, broken)
	}
}
