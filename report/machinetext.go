package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// MachineText writes what is known of a machine: what it is, what changed on it and
// when, what it draws while idle, and how small a change it can see.
func MachineText(w io.Writer, h stopwatt.MachineHistory, columns int) error {
	p := page{options: Options{Width: max(cmp.Or(columns, defaultWidth), smallestWidth)}}
	id := h.Machine.Identity
	p.text(dotted(short(h.Line.Name), short(id.CPUModel), plural(id.Threads, "thread"), Value(stopwatt.Metric{Unit: "B"}, float64(id.MemoryBytes)),
		map[bool]string{true: "virtual"}[id.Virtual]))
	p.text(fmt.Sprintf("seen from %s to %s; fingerprint %s", h.Line.FirstSeen.Format(time.DateOnly), h.Line.LastSeen.Format(time.DateOnly), Clean(h.Line.Fingerprint[:min(12, len(h.Line.Fingerprint))])))
	for i, epoch := range h.Epochs {
		text := "as it was at first: kernel " + short(epoch.Epoch.Kernel) + ", Docker " + short(epoch.Epoch.EngineVersion)
		if i+1 < len(h.Epochs) {
			text = epochChange(h.Epochs[i+1].Epoch, epoch.Epoch)
		}
		p.lines = append(p.lines, wrap(epoch.First.Format(time.DateOnly)+"  "+text, p.options.Width, 12)...)
	}
	if g := idleSeenGrid(h); len(g.rows) > 0 {
		p.block(g)
	} else {
		p.note("Its idle power was never measured: stopwatt doctor says why.")
	}
	for _, c := range h.Calibrations {
		p.lines = append(p.lines, "", fmt.Sprintf("calibrated with %s on %s", short(c.Suite), c.Taken.Format(time.DateOnly)))
		p.block(calibrationGrid(c))
	}
	if len(h.Calibrations) == 0 {
		p.note("Never calibrated: stopwatt calibrate says how small a change it can see.")
	}
	return p.write(w)
}

// epochChange says what differs between two epochs.
func epochChange(before, after stopwatt.MachineEpoch) string {
	text := ""
	for _, row := range []struct{ what, was, is string }{
		{"kernel", before.Kernel, after.Kernel}, {"kernel's command line", before.CommandLine, after.CommandLine}, {"microcode", before.Microcode, after.Microcode},
		{"governor", before.Governor, after.Governor}, {"clock", before.ClockSource, after.ClockSource}, {"Docker", before.EngineVersion, after.EngineVersion},
		{"cgroup version", before.CgroupVersion, after.CgroupVersion},
	} {
		if row.was != row.is {
			text = commas(text, fmt.Sprintf("%s %s → %s", row.what, cmp.Or(short(row.was), unknown), cmp.Or(short(row.is), unknown)))
		}
	}
	return cmp.Or(text, "turbo, threads of a core or caches changed")
}

// idleSeenGrid has a row for each meter, with the course of its idle power.
func idleSeenGrid(h stopwatt.MachineHistory) grid {
	g := grid{corner: []string{"idle power"}, columns: []gridColumn{{heading: []string{"now"}}, {heading: []string{"course"}}, {heading: []string{"runs"}}}}
	points := map[string][]stopwatt.SeriesPoint{}
	var meters []string
	for _, seen := range h.Idle {
		if seen.Power.Absent != "" {
			continue
		}
		if !slices.Contains(meters, seen.Power.Meter) {
			meters = append(meters, seen.Power.Meter)
		}
		points[seen.Power.Meter] = append(points[seen.Power.Meter], stopwatt.SeriesPoint{Run: seen.Run, Value: seen.Power.Watts})
	}
	for _, meter := range meters {
		all := points[meter]
		runs := len(slices.CompactFunc(slices.Clone(all), func(a, b stopwatt.SeriesPoint) bool { return a.Run == b.Run }))
		g.rows = append(g.rows, gridRow{name: []string{short(meter)}})
		for i, cell := range []string{Value(stopwatt.Metric{Unit: "W"}, all[len(all)-1].Value), spark(all), fmt.Sprint(runs)} {
			g.columns[i].cells = append(g.columns[i].cells, []string{cell})
		}
	}
	return g
}
