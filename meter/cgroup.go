package meter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A membership is one line of /proc/PID/cgroup: in which cgroup of one
// hierarchy a process is.
type membership struct {
	controllers []string // none in the unified hierarchy (cgroup v2)
	path        string   // as the reader's cgroup namespace shows it
}

// parseMemberships understands /proc/PID/cgroup, as in cgroups(7):
// "hierarchy:controller,controller:path".
func parseMemberships(text []byte) ([]membership, error) {
	var all []membership
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[2], "/") {
			return nil, fmt.Errorf("%q names no cgroup", line)
		}
		m := membership{path: parts[2]}
		if parts[1] != "" {
			m.controllers = strings.Split(parts[1], ",")
		}
		all = append(all, m)
	}
	return all, nil
}

// find returns the path of the hierarchy that has the controller (cgroup v1),
// else of the unified one.
func find(all []membership, controller string) (path string, unified, found bool) {
	for _, m := range all {
		if slices.Contains(m.controllers, controller) {
			return m.path, false, true
		}
	}
	for _, m := range all {
		if len(m.controllers) == 0 {
			return m.path, true, true
		}
	}
	return "", false, false
}

// A mount is one line of /proc/PID/mountinfo that shows cgroups.
type mount struct {
	root    string // which cgroup it shows at its point
	point   string
	unified bool
	options []string // of the file system: a v1 hierarchy's controllers are among them
}

// parseMounts takes the cgroup file systems from /proc/PID/mountinfo, as in
// proc(5): "36 35 98:0 root point options [optional…] - type source super".
func parseMounts(text []byte) []mount {
	var mounts []mount
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		end := slices.Index(fields, "-")
		if end < 6 || end+2 >= len(fields) {
			continue
		}
		kind := fields[end+1]
		if kind != "cgroup" && kind != "cgroup2" {
			continue
		}
		mounts = append(mounts, mount{
			root:    unescape(fields[3]),
			point:   unescape(fields[4]),
			unified: kind == "cgroup2",
			options: strings.Split(fields[len(fields)-1], ","),
		})
	}
	return mounts
}

// escapes are the characters that mountinfo writes in octal.
var escapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#")

func unescape(path string) string { return escapes.Replace(path) }

// shows returns where a mount shows a cgroup, relative to its point.
func (m mount) shows(path string) (string, bool) {
	if m.root == "/" || m.root == path {
		return strings.TrimPrefix(path, strings.TrimSuffix(m.root, "/")), true
	}
	below, ok := strings.CutPrefix(path, m.root+"/")
	return "/" + below, ok
}

// container matches the part of a cgroup's path that belongs to a container:
// docker/ID with the cgroupfs driver, docker-ID.scope with systemd's. Greedy,
// so that of nested ones the innermost is taken; what the container has made
// below its own cgroup is left off.
var container = regexp.MustCompile(`^.*/[^/]*[0-9a-f]{64}[^/]*`)

// A sight is what can be seen of the cgroups of one process.
type sight struct {
	host         Host
	pid          int
	process, own []membership // its, and of the process that reads
	mounts       []mount
	parent       bool // the parent of the container's cgroup is looked for
}

// look reads what there is to see of a process.
func (h Host) look(pid int) (sight, error) {
	s := sight{host: h, pid: pid}
	text, err := h.read(fmt.Sprintf("proc/%d/cgroup", pid))
	if errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("there is no process %d here: it has ended, or the Docker Engine runs on another machine or in a container of its own", pid)
	}
	if err != nil {
		return s, err
	}
	if s.process, err = parseMemberships(text); err != nil {
		return s, fmt.Errorf("/proc/%d/cgroup: %w", pid, err)
	}
	mounts, err := h.read("proc/self/mountinfo")
	if err != nil {
		return s, err
	}
	s.mounts = parseMounts(mounts)
	if own, err := h.read("proc/self/cgroup"); err == nil {
		s.own, _ = parseMemberships(own) // it only guards against mistakes
	}
	return s, nil
}

// A cgroup is where a controller's files of one container are.
type cgroup struct {
	dir     string
	unified bool
}

// enabled tells whether a controller of the unified hierarchy accounts here.
func (c cgroup) enabled(controller string) bool {
	text, err := os.ReadFile(filepath.Join(c.dir, "cgroup.controllers"))
	return err == nil && slices.Contains(strings.Fields(string(text)), controller)
}

// locate finds the container's cgroup that accounts for a controller.
func (s sight) locate(controller string) (cgroup, error) {
	path, unified, found := find(s.process, controller)
	if !found {
		return cgroup{}, s.host.controllerOff(controller)
	}
	return s.show(path, controller, unified)
}

// locateUnified finds the container's cgroup in the unified hierarchy, which
// on a hybrid machine stands beside those of the controllers.
func (s sight) locateUnified() (cgroup, error) {
	path, unified, _ := find(s.process, "")
	if !unified {
		return cgroup{}, errors.New("only the unified hierarchy of cgroups (v2) accounts for it, and this machine has none")
	}
	return s.show(path, "", true)
}

// show finds where the container's part of a path is mounted.
func (s sight) show(path, controller string, unified bool) (cgroup, error) {
	path, err := s.containerPath(path, controller)
	if err != nil {
		return cgroup{}, err
	}
	for _, m := range s.mounts {
		if dir, ok := s.at(m, path, controller, unified); ok {
			return cgroup{dir: dir, unified: unified}, nil
		}
	}
	return cgroup{}, fmt.Errorf("no mounted cgroup file system shows %s: run stopwatt on the host, or mount the host's /sys/fs/cgroup", path)
}

// at is where a mount shows a path of the hierarchy of a controller.
func (s sight) at(m mount, path, controller string, unified bool) (dir string, ok bool) {
	if m.unified != unified || (!unified && !slices.Contains(m.options, controller)) {
		return "", false
	}
	below, ok := m.shows(path)
	return s.host.path(filepath.Join(m.point, below)), ok
}

// containerPath cuts a process's path down to its container's cgroup, or says
// why that cannot be done.
func (s sight) containerPath(path, controller string) (string, error) {
	own, _, _ := find(s.own, controller)
	cut := container.FindString(path)
	switch {
	case strings.HasSuffix(path, " (deleted)"):
		return "", fmt.Errorf("process %d has ended", s.pid)
	case path == "/.." || strings.HasPrefix(path, "/../"):
		return "", fmt.Errorf("the cgroup of process %d lies outside the cgroup namespace of the container that stopwatt runs in: run stopwatt on the host, or its container with --cgroupns=host", s.pid)
	case cut == "":
		return "", fmt.Errorf("the cgroup of process %d is %s, which is no container's own: the engine's containers are not accounted apart, or the process is another one of the same number", s.pid, path)
	case cut == container.FindString(own):
		return "", fmt.Errorf("process %d is in the container that stopwatt runs in: it is another one of the same number, for the Docker Engine runs outside: run stopwatt on the host", s.pid)
	}
	if s.parent {
		return parentPath(cut)
	}
	return cut, nil
}

// controllerOff says why there is no such controller and what to do.
func (h Host) controllerOff(controller string) error {
	if controller != "memory" {
		return fmt.Errorf("the %s controller of cgroups is not enabled for containers here", controller)
	}
	return errors.New("the memory controller is off: add cgroup_enable=memory to the kernel command line (Raspberry Pi OS: /boot/firmware/cmdline.txt) and restart")
}
