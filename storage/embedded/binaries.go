package embedded

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// oldest is the first major version whose features the schema uses.
const oldest = 13

// findBinaries returns the folder of the newest usable Postgres, or of the one
// that made the cluster when there is a cluster (made is its major version).
func findBinaries(named string, made int) (string, error) {
	versions := map[int]string{}
	newest := 0
	for _, folder := range binaryFolders(named) {
		major := binaryVersion(folder)
		if major < oldest || versions[major] != "" {
			continue
		}
		versions[major] = folder
		newest = max(newest, major)
	}
	switch {
	case newest == 0 && named != "":
		return "", fmt.Errorf("%s has no initdb and postgres of version %d or newer", named, oldest)
	case newest == 0 && made != 0:
		return "", fmt.Errorf("the data folder was made by PostgreSQL %d and this machine has none; install postgresql-%d, or move the data folder away to begin a new history", made, made)
	case newest == 0:
		return "", ErrNoBinaries
	case made == 0:
		return versions[newest], nil
	case versions[made] == "":
		return "", fmt.Errorf("the data folder was made by PostgreSQL %d and this machine has %d; install postgresql-%d, or move the data folder away to begin a new history", made, newest, made)
	}
	return versions[made], nil
}

// installed are where the packages of Debian and of Red Hat put each version.
var installed = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"}

// binaryFolders lists where Postgres may be, the likeliest first.
func binaryFolders(named string) []string {
	if named != "" {
		return []string{named}
	}
	var folders []string
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
	}
	for _, pattern := range installed {
		matches, _ := filepath.Glob(pattern) // the patterns are well formed
		folders = append(folders, matches...)
	}
	return folders
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// binaryVersion asks the programs in a folder for their major version, which
// is 0 unless both are there and of one version.
func binaryVersion(folder string) int {
	major := 0
	for _, name := range []string{"initdb", "postgres"} {
		out, err := exec.Command(filepath.Join(folder, name), "--version").Output()
		if err != nil {
			return 0
		}
		match := versionText.FindSubmatch(out)
		if match == nil {
			return 0
		}
		this, _ := strconv.Atoi(string(match[1])) // digits only
		if major != 0 && this != major {
			return 0
		}
		major = this
	}
	return major
}
