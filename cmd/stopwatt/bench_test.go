package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// BenchmarkTrialOverhead compares what a trial costs beyond its window and
// warm-up with `docker run --rm` of the same two containers, in pairs, in the
// same minute. It reports the median of the ratios and both medians.
func BenchmarkTrialOverhead(b *testing.B) {
	const pairs = 15
	docker, err := containers.Connect(b.Context(), containers.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer docker.Close()
	server, agent := benchImages(b, docker)
	d := &desk{getenv: func(string) string { return "" }}
	instruments, err := d.openInstruments(b.Context(), docker, stopwatt.MeterSettings{Every: 100 * time.Millisecond, Counters: true})
	if err != nil {
		b.Fatal(err)
	}
	defer instruments.close()
	for b.Loop() {
		var ratios, ours, theirs []float64
		for range pairs {
			plain := dockerRuns(b, server.ID, agent)
			place := bench(docker, agent, nil, instruments, stopwatt.Run{Key: "benchmark"})
			beyond := overhead(b, place, server)
			ratios = append(ratios, beyond/plain)
			ours, theirs = append(ours, beyond), append(theirs, plain)
		}
		b.ReportMetric(median(ratios), "×docker-run")
		b.ReportMetric(1e3*median(ours), "ms/trial")
		b.ReportMetric(1e3*median(theirs), "ms/docker-run")
	}
}

// BenchmarkTrialParents compares what a trial costs beyond its window and warm-up
// with cgroups of ours above its containers, and without, in pairs whose order
// alternates. It reports the median of the ratios and both medians.
func BenchmarkTrialParents(b *testing.B) {
	const pairs = 30
	docker, err := containers.Connect(b.Context(), containers.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer docker.Close()
	server, agent := benchImages(b, docker)
	d := &desk{getenv: func(string) string { return "" }}
	instruments, err := d.openInstruments(b.Context(), docker, stopwatt.MeterSettings{Every: 100 * time.Millisecond, Counters: true})
	if err != nil {
		b.Fatal(err)
	}
	defer instruments.close()
	below := bench(docker, agent, nil, instruments, stopwatt.Run{Key: "benchmark", Engine: docker.Engine()})
	if below.Parents == nil {
		b.Skip("this user makes no cgroups here")
	}
	plain := below
	plain.Parents = nil
	for b.Loop() {
		var ratios, with, without []float64
		for pair := range pairs {
			places := []trial.Bench{below, plain}
			took := [2]float64{}
			for turn := range places {
				which := (pair + turn) % 2
				took[which] = overhead(b, places[which], server)
			}
			ratios = append(ratios, took[0]/took[1])
			with, without = append(with, took[0]), append(without, took[1])
		}
		b.ReportMetric(median(ratios), "×without")
		b.ReportMetric(1e3*median(with), "ms/trial-below-ours")
		b.ReportMetric(1e3*median(without), "ms/trial-without")
	}
}

// benchImages makes the images of server and driver, and removes them later.
func benchImages(b *testing.B, docker *containers.Docker) (server stopwatt.Image, agent string) {
	b.Helper()
	programs := buildPrograms(b)
	binary, err := os.ReadFile(filepath.Join(programs, "stopwatt-agent-linux-"+runtime.GOARCH))
	if err != nil {
		b.Fatal(err)
	}
	removeAgentLater(b, programs)
	if agent, err = docker.AgentImage(b.Context(), binary); err != nil {
		b.Fatal(err)
	}
	folder := b.TempDir()
	if err := installServer(folder, programs); err != nil {
		b.Fatal(err)
	}
	context, err := git.Plain(folder)
	if err != nil {
		b.Fatal(err)
	}
	server, err = docker.Build(b.Context(), stopwatt.BuildOrder{Name: "bench", Context: context}, func(stopwatt.BuildStep) {})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { removeImagesOf(map[string]bool{server.Key: true}) })
	return server, agent
}

// dockerRuns is how many seconds it takes to run both containers, one after the
// other, with programs that end at once.
func dockerRuns(b *testing.B, server, agent string) float64 {
	began := time.Now()
	for _, arguments := range [][]string{
		{"run", "--rm", "--network", "none", "--env", "MODE=exits", server},
		{"run", "--rm", "--network", "none", agent, "version"},
	} {
		command := exec.Command("docker", arguments...)
		if err := command.Run(); err != nil && command.ProcessState == nil {
			b.Fatal(err)
		}
	}
	return time.Since(began).Seconds()
}

// overhead is how many seconds a trial takes beyond its window and warm-up.
func overhead(b *testing.B, place trial.Bench, server stopwatt.Image) float64 {
	const warmup = 10 * time.Millisecond
	began := time.Now()
	result, err := place.Run(b.Context(), benchOrder(server, warmup))
	took := time.Since(began)
	if err != nil || result.Status != stopwatt.Valid {
		b.Fatal(err, result.Reason)
	}
	return (took - result.Window.Duration() - warmup).Seconds()
}

// benchOrder is a trial that is as small as can be.
func benchOrder(server stopwatt.Image, warmup time.Duration) trial.Order {
	return trial.Order{
		Planned:        stopwatt.PlannedTrial{Round: 1, Case: stopwatt.Case{Implementation: "bench", Workload: "hello"}, Revision: stopwatt.Head},
		Implementation: stopwatt.Implementation{Name: "bench"},
		Workload: stopwatt.Workload{
			Name: "hello",
			HTTP: &stopwatt.HTTP{
				Port:        8080,
				Request:     stopwatt.Request{Method: "GET", Path: "/"},
				Expect:      stopwatt.Expect{Status: 200},
				ReadyWithin: 10 * time.Second,
			},
			Load: stopwatt.Load{Users: 1, Requests: 10, Timeout: time.Second},
		},
		Image:  server,
		Warmup: warmup,
	}
}

// median is the middle of some values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
