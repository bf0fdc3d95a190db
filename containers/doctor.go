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
	if info.LiveRestoreEnabled {
		findings = append(findings, stopwatt.Finding{Subject: "live-restore", Verdict: stopwatt.Fit,
			Says: "on: containers outlive the engine, and a run that is continued removes them"})
	}
	if !info.MemoryLimit {
		findings = append(findings, stopwatt.Finding{Subject: "memory limit", Verdict: stopwatt.Doubtful,
			Says: "the engine cannot limit memory: a suite's memory is not kept",
			Remedies: []stopwatt.Remedy{{When: "at the next boot, on a Raspberry Pi",
				Line: `sudo sed -i '1 s/$/ cgroup_enable=memory/' /boot/firmware/cmdline.txt`}}})
	}
	return append(findings, d.disk(info.DockerRootDir)...), nil
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
