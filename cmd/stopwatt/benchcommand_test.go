package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// BenchmarkCommandBesideHyperfine times one program by hyperfine on the host and
// by a command workload in a container, in interleaved pairs whose order
// alternates: one that works for some 20 ms, and one that does nothing. Of the
// first it reports the Hodges–Lehmann estimate of the ratio ours ÷ hyperfine's with
// its 95 % interval, of the second both costs.
func BenchmarkCommandBesideHyperfine(b *testing.B) {
	if _, err := exec.LookPath("hyperfine"); err != nil {
		b.Skip("apt-get install hyperfine")
	}
	spin, image, place := spinning(b)
	work := countFor(b, spin, 20*time.Millisecond)
	for b.Loop() {
		ours, theirs := sideBySide(b, spin, image, place, work)
		estimate, low, high := hodgesLehmann(ours, theirs)
		b.ReportMetric(estimate, "×hyperfine")
		b.ReportMetric(low, "×low")
		b.ReportMetric(high, "×high")
		b.ReportMetric(1e3*median(theirs), "ms/hyperfine")
		ours, theirs = sideBySide(b, spin, image, place, 0)
		b.ReportMetric(1e6*median(ours), "µs/empty")
		b.ReportMetric(1e6*median(theirs), "µs/empty-hyperfine")
	}
}

// spinning builds the program, and makes an image of it and a place to run it in.
func spinning(b *testing.B) (program string, image stopwatt.Image, place trial.Bench) {
	b.Helper()
	folder := b.TempDir()
	program = filepath.Join(folder, "spin")
	if out, err := exec.Command("gcc", "-O1", "-static", "-o", program, "testdata/spin/spin.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte("FROM scratch\nCOPY spin /spin\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	docker, err := containers.Connect(b.Context(), containers.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { docker.Close() })
	_, agent := benchImages(b, docker)
	sources, err := git.Plain(folder)
	if err != nil {
		b.Fatal(err)
	}
	image, err = docker.Build(b.Context(), stopwatt.BuildOrder{Name: "spin", Context: sources}, func(stopwatt.BuildStep) {})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { removeImagesOf(map[string]bool{image.Key: true}) })
	d := &desk{getenv: func(string) string { return "" }}
	instruments, err := d.openInstruments(b.Context(), docker, stopwatt.MeterSettings{Every: 100 * time.Millisecond, Counters: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(instruments.close)
	run := stopwatt.Run{Key: "benchmark-" + strconv.Itoa(os.Getpid())}
	b.Cleanup(func() { (&desk{stderr: os.Stderr}).reapRun(context.Background(), docker, run) })
	return program, image, bench(docker, agent, nil, instruments, run)
}

// countFor is how far the program must count to work so long.
func countFor(b *testing.B, program string, lasting time.Duration) int {
	const tried = 20_000_000
	began := time.Now()
	if err := exec.Command(program, strconv.Itoa(tried)).Run(); err != nil {
		b.Fatal(err)
	}
	return int(tried * lasting.Seconds() / time.Since(began).Seconds())
}

// sideBySide times the program by both, in pairs: mean seconds of 20 runs each.
func sideBySide(b *testing.B, program string, image stopwatt.Image, place trial.Bench, count int) (ours, theirs []float64) {
	b.Helper()
	const pairs, runs = 30, 20
	for pair := range pairs {
		took := [2]float64{}
		for turn := range 2 {
			if which := (pair + turn) % 2; which == 0 {
				took[0] = byTrial(b, image, place, count, runs)
			} else {
				took[1] = byHyperfine(b, program, count, runs)
			}
		}
		ours, theirs = append(ours, took[0]), append(theirs, took[1])
	}
	return ours, theirs
}

func byTrial(b *testing.B, image stopwatt.Image, place trial.Bench, count, runs int) float64 {
	b.Helper()
	got, err := place.Run(b.Context(), trial.Order{
		Planned: stopwatt.PlannedTrial{Round: 1, Revision: stopwatt.Head},
		Image:   image,
		Workload: stopwatt.Workload{Command: &stopwatt.Command{
			Program: stopwatt.Program{Run: []string{"/spin", strconv.Itoa(count)}, OKExit: []int{0}, Timeout: time.Minute},
			Warmup:  2, Repeat: stopwatt.Repeat{Least: runs, Most: runs},
		}},
	})
	mean, ok := got.Value("time")
	if err != nil || !ok {
		b.Fatal(err, got.Reason)
	}
	return mean
}

func byHyperfine(b *testing.B, program string, count, runs int) float64 {
	b.Helper()
	file := filepath.Join(b.TempDir(), "hyperfine.json")
	out, err := exec.Command("hyperfine", "-N", "--warmup", "2", "--runs", strconv.Itoa(runs), "--export-json", file,
		fmt.Sprintf("%s %d", program, count)).CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var told struct{ Results []struct{ Mean float64 } }
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&told); err != nil || len(told.Results) != 1 {
		b.Fatal(err, string(text))
	}
	return told.Results[0].Mean
}

// hodgesLehmann estimates the ratio of paired values, with its 95 % interval: the
// median of the Walsh averages of the logarithms, and those of them that the
// signed-rank test leaves (Hollander, Wolfe and Chicken, Nonparametric Statistical
// Methods, 3.2 and 3.3, large samples).
func hodgesLehmann(a, b []float64) (estimate, low, high float64) {
	var logs, averages []float64
	for i := range a {
		logs = append(logs, math.Log(a[i]/b[i]))
		for _, other := range logs {
			averages = append(averages, (logs[i]+other)/2)
		}
	}
	slices.Sort(averages)
	n, m := float64(len(a)), len(averages)
	cut := int(float64(m)/2 - 1.96*math.Sqrt(n*(n+1)*(2*n+1)/24))
	return math.Exp(median(averages)), math.Exp(averages[cut]), math.Exp(averages[m-1-cut])
}
