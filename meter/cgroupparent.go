package meter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// parentMark is what the name of every parent cgroup of ours begins with. No
// "-", which nests slices in each other under systemd.
const parentMark = "stopwatt_"

// CgroupParent names the parent cgroup of one trial's container: what Docker is
// to be told as its cgroup parent. The parent outlives the container and keeps
// its totals. Run is the run's key, of letters and digits; position is the
// trial's; driver is the engine's cgroup driver, of which systemd takes slices
// only.
func CgroupParent(run string, position int, role, driver string) string {
	name := parentMark + run + "_" + strconv.Itoa(position) + "_" + role
	if driver == "systemd" {
		return name + ".slice"
	}
	return "/" + name
}

// ParentAccount opens the accounting of the parent cgroup of the container that
// a process runs in. What it holds can be read when the container has ended.
// The error is for a process without one, and for a parent that is not named by
// CgroupParent: that of all containers.
func (h Host) ParentAccount(pid int) (*Account, error) {
	s, err := h.look(pid)
	if err != nil {
		return nil, fmt.Errorf("account of the parent of process %d: %w", pid, err)
	}
	s.parent = true
	if group, err := s.locate("memory"); err == nil && !group.unified && !hierarchical(group) {
		return nil, fmt.Errorf("account of the parent of process %d: a cgroup here does not count what is below it: memory.use_hierarchy is 0", pid)
	}
	return s.account()
}

// hierarchical tells whether a cgroup of v1's memory controller counts the
// memory of those below it. Since Linux 5.11 all do.
func hierarchical(group cgroup) bool {
	text, err := os.ReadFile(filepath.Join(group.dir, "memory.use_hierarchy"))
	return err != nil || strings.TrimSpace(string(text)) != "0"
}

// parentPath is the path of a container's parent cgroup.
func parentPath(container string) (string, error) {
	parent := filepath.Dir(container)
	if !strings.HasPrefix(filepath.Base(parent), parentMark) {
		return "", fmt.Errorf("the parent cgroup %s was not made for this trial", parent)
	}
	return parent, nil
}

// RemoveParents removes the parent cgroups of a run, in every hierarchy. None
// in which a container still is can be removed; the error names it.
func (h Host) RemoveParents(ctx context.Context, run string) error {
	text, err := h.read("proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("remove the cgroups of run %s: %w", run, err)
	}
	var dirs []string
	for _, m := range parseMounts(text) {
		found, _ := filepath.Glob(h.path(m.point, parentMark+run+"_*"))
		dirs = append(dirs, found...)
	}
	errs := h.stopSlices(ctx, dirs)
	for _, dir := range dirs {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the cgroups of run %s: %w", run, err))
		}
	}
	return errors.Join(errs...)
}

// stopSlices has systemd forget the slices among some cgroups: it made them,
// and would keep a unit for each. It removes their cgroups as it does so.
func (h Host) stopSlices(ctx context.Context, dirs []string) []error {
	var slice []string
	for _, dir := range dirs {
		if name := filepath.Base(dir); strings.HasSuffix(name, ".slice") && !slices.Contains(slice, name) {
			slice = append(slice, name)
		}
	}
	if len(slice) == 0 || h.path() != "/" {
		return nil
	}
	output, err := exec.CommandContext(ctx, "systemctl", append([]string{"stop", "--"}, slice...)...).CombinedOutput()
	if err != nil {
		return []error{fmt.Errorf("systemctl stop %s: %w: %s", strings.Join(slice, " "), err, strings.TrimSpace(string(output)))}
	}
	return nil
}
