package web

import (
	"fmt"
	"net/http"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// A machinesPage lists all machines.
type machinesPage struct {
	frame
	Machines []machineShown
}

// machines lists all machines.
func (s *Server) machines(w http.ResponseWriter, r *http.Request) error {
	o, err := s.Archive.Overview(r.Context())
	if err != nil {
		return err
	}
	p := machinesPage{frame: s.frame(r, "Machines")}
	p.JSON = "/api/v1/machines"
	for _, line := range o.Machines {
		p.Machines = append(p.Machines, machineOf(line))
	}
	s.writePage(w, http.StatusOK, "machines", p)
	return nil
}

// A machinePage says what a machine is, and whether it has stayed the same.
type machinePage struct {
	frame
	Machine      machineShown
	Facts        []report.Fact
	CPUInfo      string
	CommandLine  string
	Epochs       []epochShown
	Idle         report.CourseChart
	IdleRows     []idleShown
	Calibrations []calibrationShown
	Runs         []runShown
}

// An epochShown is an epoch with what changed from the one before.
type epochShown struct {
	First, Last string
	Changed     []string
}

type idleShown struct {
	When, Place, Meter, Watts, Link string
}

type calibrationShown struct {
	Suite, Taken, Ago, Alarms string
	Cases                     []calibratedShown
}

type calibratedShown struct{ Case, Metric, Smallest string }

// machine shows one machine.
func (s *Server) machine(w http.ResponseWriter, r *http.Request) error {
	history, err := s.Archive.MachineHistory(r.Context(), r.PathValue("machine"))
	if err != nil {
		return err
	}
	p := machinePage{frame: s.frame(r, history.Line.Name, crumb{"machines", "/machines"}), Machine: machineOf(history.Line), CPUInfo: report.CleanLines(history.Machine.Identity.CPUInfo),
		CommandLine: report.CleanLines(history.Machine.Epoch.CommandLine), Epochs: epochsOf(history.Epochs)}
	p.JSON = "/api/v1" + machineAddress(history.Line.Fingerprint)
	for _, fact := range report.Provenance(stopwatt.Run{Machine: history.Machine}) {
		if fact.Term == "Machine" {
			p.Facts = append(p.Facts, fact)
		}
	}
	p.Idle = idleChart(history.Idle)
	for _, idle := range history.Idle {
		p.IdleRows = append(p.IdleRows, idleShown{instant(idle.At), string(idle.Place), report.Clean(idle.Power.Meter), report.WattsOf(idle.Power), runAddress(idle.Run)})
	}
	for _, calibration := range history.Calibrations {
		p.Calibrations = append(p.Calibrations, calibrationOf(calibration, s))
	}
	for _, line := range history.Runs {
		p.Runs = append(p.Runs, runOf(line))
	}
	s.writePage(w, http.StatusOK, "machine", p)
	return nil
}

// calibrationOf puts a calibration into words.
func calibrationOf(c stopwatt.Calibration, s *Server) calibrationShown {
	shown := calibrationShown{Suite: report.Clean(c.Suite), Taken: date(c.Taken), Ago: report.Ago(c.Taken, s.Now()), Alarms: report.AlarmText(c)}
	for _, one := range c.Cases {
		shown.Cases = append(shown.Cases, calibratedShown{report.Clean(one.Case.String()), report.Label(one.Metric), report.SmallestChange(one)})
	}
	return shown
}

// epochsOf says of each epoch what is other than in the one before it.
func epochsOf(epochs []stopwatt.EpochSeen) []epochShown {
	var shown []epochShown
	for i, seen := range epochs {
		one := epochShown{First: date(seen.First), Last: date(seen.Last)}
		var before stopwatt.MachineEpoch
		if i+1 < len(epochs) {
			before = epochs[i+1].Epoch
		}
		for _, part := range []struct{ name, was, is string }{
			{"kernel", before.Kernel, seen.Epoch.Kernel}, {"command line", before.CommandLine, seen.Epoch.CommandLine}, {"microcode", before.Microcode, seen.Epoch.Microcode},
			{"governor", before.Governor, seen.Epoch.Governor}, {"clock", before.ClockSource, seen.Epoch.ClockSource}, {"Docker", before.EngineVersion, seen.Epoch.EngineVersion},
			{"cgroups", before.CgroupVersion, seen.Epoch.CgroupVersion},
		} {
			switch {
			case part.is == part.was:
			case i+1 == len(epochs):
				one.Changed = append(one.Changed, part.name+" "+report.Brief(part.is))
			default:
				one.Changed = append(one.Changed, fmt.Sprintf("%s %s → %s", part.name, report.Brief(part.was), report.Brief(part.is)))
			}
		}
		shown = append(shown, one)
	}
	return shown
}

// idleChart draws the idle power of each meter over time.
func idleChart(idle []stopwatt.IdleSeen) report.CourseChart {
	metric := stopwatt.Metric{Name: "idle power", Unit: "W", Better: stopwatt.Less}
	view := report.CourseView{ID: "idle", Metric: metric, ByTime: true}
	at := map[string]int{}
	for _, seen := range idle {
		meter := seen.Power.Meter
		if _, known := at[meter]; !known {
			at[meter] = len(view.Courses)
			view.Courses = append(view.Courses, report.CourseLine{Name: meter})
		}
		line := &view.Courses[at[meter]]
		point := stopwatt.CoursePoint{Time: seen.At, Run: seen.Run, Value: seen.Power.Watts, Absent: seen.Power.Absent, N: 1, Commits: 1}
		line.Course.Points = append(line.Course.Points, point)
		line.Margins = append(line.Margins, seen.Power.Error)
		line.Course.Commits++
	}
	return report.ChartCourses(view)
}
