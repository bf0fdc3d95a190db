package report

import (
	"fmt"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// What makes figures rough.
const (
	shortWindow   = 1.0 // s: a hiccup of 10 ms is a hundredth of it
	fewBeyond     = 100 // requests beyond a percentile: with fewer, a handful of slow ones moves it
	muchWaiting   = 0.1 // of the window
	mostCasesSaid = 3
)

// affected are the cases to which something happened, and between which values.
type affected struct {
	names     []string
	low, high float64
}

// add takes a case in whose values lie between two.
func (a *affected) add(name string, low, high float64) {
	if a.names == nil {
		a.low, a.high = low, high
	}
	a.names = append(a.names, name)
	a.low, a.high = min(a.low, low), max(a.high, high)
}

// cases lists the names: three at most, and how many more there are.
func (a *affected) cases() string {
	if n := len(a.names) - mostCasesSaid; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(a.names[:mostCasesSaid], ", "), n)
	}
	return strings.Join(a.names, ", ")
}

// between writes a range whose ends may look alike.
func between(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}

// roughness says what makes figures rough that are there: short windows,
// percentiles of few requests, a driver as busy as its server, servers that
// waited for a CPU.
func roughness(c stopwatt.Contrast) []string {
	notes := []string{shortWindows(c)}
	for _, metric := range c.Metrics {
		notes = append(notes, fewRequests(c, metric))
	}
	return append(notes, busyDriver(c), waitedForCPU(c))
}

// eachCase calls f with every case that was measured.
func eachCase(c stopwatt.Contrast, f func(name string, result stopwatt.CaseResult)) {
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			f(stopwatt.Case{Implementation: Clean(row.Implementation), Workload: Clean(block.Workload)}.String(), row.Result)
		}
	}
}

// shortWindows says which windows lasted less than a second. Imported ones have
// passed: no load can be raised in them.
func shortWindows(c stopwatt.Contrast) string {
	var windows affected
	if c.Imported {
		return ""
	}
	eachCase(c, func(name string, result stopwatt.CaseResult) {
		_, driven := result.Summary("throughput")
		if s, has := result.Summary("time"); driven && has && s.Mean < shortWindow {
			windows.add(name, s.Min, s.Max)
		}
	})
	if windows.names == nil {
		return ""
	}
	seconds := stopwatt.Metric{Unit: "s"}
	return fmt.Sprintf("Windows of %s are short, and figures rough (%s): raise requests, or write for: 10s.",
		between(Value(seconds, windows.low), Value(seconds, windows.high)), windows.cases())
}

// fewRequests says where a percentile of latency rests on few requests.
func fewRequests(c stopwatt.Contrast, metric stopwatt.Metric) string {
	percentile, is := strings.CutPrefix(metric.Name, "latency_p")
	part, err := strconv.ParseFloat(percentile, 64)
	if !is || err != nil {
		return ""
	}
	var few affected
	eachCase(c, func(name string, result stopwatt.CaseResult) {
		_, has := result.Summary(metric.Name)
		requests, counted := result.Summary("requests")
		if beyond := requests.Mean * (100 - part) / 100; has && counted && beyond < fewBeyond-1e-9 {
			few.add(name, beyond, beyond)
		}
	})
	if few.names == nil {
		return ""
	}
	return fmt.Sprintf("Beyond %s there are few requests, %s a trial where %d would do (%s).",
		metric.Name, between(fixed(few.low, 0), fixed(few.high, 0)), fewBeyond, few.cases())
}

// busyDriver says where the driver used no less CPU time than the server.
func busyDriver(c stopwatt.Contrast) string {
	var busy affected
	eachCase(c, func(name string, result stopwatt.CaseResult) {
		server, has := result.Summary("cpu_server")
		if driver, hasDriver := result.Summary("cpu_driver"); has && hasDriver && driver.Mean >= server.Mean {
			busy.add(name, driver.Mean, driver.Mean)
		}
	})
	if busy.names == nil {
		return ""
	}
	return fmt.Sprintf("The driver used as much CPU as the server or more (%s): where they share cores, figures are of both; cpus in the machine file parts them.",
		busy.cases())
}

// waitedForCPU says where threads of the server waited for a CPU for much of the
// window.
func waitedForCPU(c stopwatt.Contrast) string {
	var waited affected
	eachCase(c, func(name string, result stopwatt.CaseResult) {
		pressure, has := result.Summary("pressure_cpu_server")
		window, timed := result.Summary("time")
		if share := 100 * pressure.Mean / window.Mean; has && timed && window.Mean > 0 && share > 100*muchWaiting {
			waited.add(name, share, share)
		}
	})
	if waited.names == nil {
		return ""
	}
	return fmt.Sprintf("Threads of the server waited for a CPU during %s %% of the window (%s): its cores were wanted by others, or were too few.",
		between(fixed(waited.low, 0), fixed(waited.high, 0)), waited.cases())
}

// nearNote explains the sign of ratios that show no difference, where there are
// any.
func nearNote(c stopwatt.Contrast) string {
	any := false
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			any = any || hasNear(row.Ratios)
		}
	}
	for _, row := range c.Means {
		any = any || hasNear(row.Ratios)
	}
	if !any {
		return ""
	}
	return fmt.Sprintf("%s: not safely told from 1.00×: mean ± sd overlaps that of %s, the medians say the opposite, "+
		"or one trial alone has no spread. Neither %s nor its absence is a verdict.", near, Clean(c.Baseline), near)
}

func hasNear(ratios []stopwatt.Ratio) bool {
	for _, ratio := range ratios {
		if ratio.Near {
			return true
		}
	}
	return false
}
