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
	"time"

	"golang.org/x/sys/unix"
)

// parentMark is what the name of every parent cgroup of ours begins with. No
// "-", which nests slices in each other under systemd.
const parentMark = "stopwatt_"

// CgroupParent names the parent cgroup of one trial's container: what Docker is
// to be told as its cgroup parent. The parent outlives the container and keeps
// its totals, which Account reads. Run is the run's key, of letters and digits;
// position is the trial's; role names one of its containers; driver is the engine's cgroup driver, of which systemd takes slices
// only.
func CgroupParent(run string, position int, role, driver string) string {
	name := parentMark + run + "_" + strconv.Itoa(position) + "_" + role
	if driver == "systemd" {
		return name + ".slice"
	}
	return "/" + name
}

// belowOurs tells whether the container's cgroup lies in a parent that is named
// by CgroupParent, and that counts what is below it.
func (s sight) belowOurs() bool {
	path, _, _ := find(s.process, "memory")
	if _, err := parentPath(container.FindString(path)); err != nil {
		return false
	}
	s.parent = true
	group, err := s.locate("memory")
	return err != nil || group.unified || hierarchical(group)
}

// ParentAccount opens the accounting of a parent cgroup, by the name that
// CgroupParent gave it, whether there is a container in it or not.
func (h Host) ParentAccount(name string) (*Account, error) {
	s, err := h.look(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("account of %s: %w", name, err)
	}
	for i := range s.process { // as if this process were in a container below it
		s.process[i].path = filepath.Join("/", name, strings.Repeat("0", 64))
	}
	if !s.belowOurs() {
		return nil, fmt.Errorf("account of %s: it is no parent of ours that counts what is below it", name)
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

// MakesParents tells whether this process may remove parent cgroups that the
// engine makes for it, so that none is left behind. The driver is the engine's.
func (h Host) MakesParents(driver string) bool {
	if driver == "systemd" {
		if _, err := exec.LookPath("systemctl"); err != nil {
			return false
		}
	}
	text, err := h.read("proc/self/mountinfo")
	if err != nil {
		return false
	}
	mounts := parseMounts(text)
	for _, m := range mounts {
		if unix.Access(h.path(m.point), unix.W_OK) != nil {
			return false
		}
	}
	return len(mounts) > 0
}

// RemoveParents removes the parent cgroups of one trial of a run, in every
// hierarchy. None in which a container still is can be removed; the error names
// it.
func (h Host) RemoveParents(ctx context.Context, run string, position int) error {
	dirs, err := h.parents(run + "_" + strconv.Itoa(position) + "_*")
	if err != nil {
		return fmt.Errorf("remove the cgroups of run %s: %w", run, err)
	}
	return h.removeParents(ctx, dirs)
}

// forgotten is how old a parent cgroup must be for RemoveForgottenParents: the
// engine makes a parent and, in it, the container's cgroup within milliseconds.
const forgotten = time.Minute

// RemoveForgottenParents removes the parent cgroups of all runs in which there
// is no container any more, and counts them. Those of a trial that is just
// beginning stay.
func (h Host) RemoveForgottenParents(ctx context.Context) (int, error) {
	dirs, err := h.parents("*")
	if err != nil {
		return 0, fmt.Errorf("remove cgroups of ended runs: %w", err)
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		is, err := os.Stat(dir)
		return err != nil || time.Since(is.ModTime()) < forgotten || occupied(dir)
	})
	names := map[string]bool{}
	for _, dir := range dirs {
		names[filepath.Base(dir)] = true
	}
	return len(names), h.removeParents(ctx, dirs)
}

// occupied tells whether a cgroup has others below it.
func occupied(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, fs.DirEntry.IsDir)
}

// parents lists the folders of parent cgroups, in every hierarchy.
func (h Host) parents(pattern string) ([]string, error) {
	text, err := h.read("proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, m := range parseMounts(text) {
		found, _ := filepath.Glob(h.path(m.point, parentMark+pattern))
		dirs = append(dirs, found...)
	}
	return dirs, nil
}

// removeParents removes cgroups.
func (h Host) removeParents(ctx context.Context, dirs []string) error {
	errs := h.stopSlices(ctx, dirs)
	for _, dir := range dirs {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the cgroup of an ended container: %w", err))
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
