package meter

import (
	"errors"
	"os"
	"strings"
)

// Sees says why the cgroups of the Docker Engine's containers cannot be read
// from here, judged by its process's own; nil when they can. PID is the
// engine's, as this process sees it: 0 when it does not.
func (h Host) Sees(engine int) error {
	if engine == 0 {
		return errors.New("the Docker Engine's processes are not to be seen from here: stopwatt runs in a container of its own, or speaks to the engine over a network")
	}
	s, err := h.look(engine)
	if err != nil {
		return err
	}
	path, unified, found := find(s.process, "cpuacct")
	if !found || strings.HasPrefix(path, "/..") {
		return errors.New("the Docker Engine's cgroups are not to be seen from here: stopwatt runs in a cgroup namespace of its own")
	}
	for _, m := range s.mounts {
		if dir, ok := s.at(m, path, "cpuacct", unified); ok {
			if _, err := os.Stat(dir); err == nil {
				return nil
			}
		}
	}
	return errors.New("the host's /sys/fs/cgroup is not mounted here")
}
