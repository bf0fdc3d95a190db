package containers

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// leastDisk is the room that images and layers of a suite may need.
const leastDisk = 2 << 30

// Findings says whether the engine is fit to measure with.
func (d *Docker) Findings(ctx context.Context) ([]stopwatt.Finding, error) {
	info, err := d.client.Info(ctx)
	if err != nil {
		return nil, attempted("ask the engine", err)
	}
	says := fmt.Sprintf("%s, API %s, cgroup v%s (%s), %s", d.engine.Version, d.engine.API, info.CgroupVersion, info.CgroupDriver, info.Driver)
	findings := []stopwatt.Finding{{Subject: "docker", Verdict: stopwatt.Fit, Says: says}}
	findings = append(findings, liveRestore(info.LiveRestoreEnabled))
	if !info.MemoryLimit {
		findings = append(findings, stopwatt.Finding{Subject: "memory limit", Verdict: stopwatt.Doubtful,
			Says: "the engine cannot limit memory: a suite's memory is not kept; what is said of memory below mends this, too"})
	}
	return append(findings, d.disk(info.DockerRootDir)...), nil
}

// liveRestore says whether containers outlive the engine.
func liveRestore(on bool) stopwatt.Finding {
	says := "off: containers end with the engine"
	if on {
		says = "on: containers outlive the engine, and a run that is continued removes them"
	}
	return stopwatt.Finding{Subject: "live-restore", Verdict: stopwatt.Fit, Says: says}
}

// disk looks at the room where the engine keeps its images, when that is here.
func (d *Docker) disk(root string) []stopwatt.Finding {
	var room unix.Statfs_t
	if d.engine.Remote || unix.Statfs(root, &room) != nil {
		return nil
	}
	free := int64(room.Bavail) * room.Bsize
	finding := stopwatt.Finding{Subject: "disk", Verdict: stopwatt.Fit, Says: fmt.Sprintf("%d GiB free in %s", free>>30, root)}
	if free < leastDisk {
		finding.Verdict = stopwatt.Unfit
		finding.Says = fmt.Sprintf("%d MiB free in %s: builds may fail", free>>20, root)
		finding.Remedies = []stopwatt.Remedy{{Line: "stopwatt clean --images"}}
	}
	return []stopwatt.Finding{finding}
}
