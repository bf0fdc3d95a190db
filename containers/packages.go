package containers

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/containerd/errdefs"

	"gitlab.com/stopwatt/stopwatt"
)

// A ledger is where a package manager writes down what is installed, and how.
type ledger struct {
	path string
	// name, version and architecture begin the lines that tell these.
	name, version, architecture string
}

// ledgers are those of Debian and of Alpine, whose paragraphs both end with an
// empty line (deb822(5), apk-v2(5)). An image may have neither.
var ledgers = []ledger{
	{"/var/lib/dpkg/status", "Package: ", "Version: ", "Architecture: "},
	{"/lib/apk/db/installed", "P:", "V:", "A:"},
}

// mostLedger bounds a ledger, in bytes; a whole desktop's has a tenth of that. One
// of its lines has at most mostLedgerLine.
const (
	mostLedger     = 64 << 20
	mostLedgerLine = 1 << 20
)

// Packages lists what the system's package manager has installed in an image:
// the version by name. An image without a known one has none. Two builds of one
// Dockerfile on different days may differ in this and in nothing else.
func (d *Docker) Packages(ctx context.Context, image string, labels map[string]string) (map[string]string, error) {
	id, err := d.Create(ctx, stopwatt.ContainerOrder{Image: image, Command: []string{"-"}, Labels: labels}) // it is never started
	if err != nil {
		return nil, fmt.Errorf("list the packages of an image: %w", err)
	}
	packages, err := d.packagesIn(ctx, id)
	if err = errors.Join(err, d.Remove(ctx, id, "")); err != nil {
		return nil, fmt.Errorf("list the packages of an image: %w", err)
	}
	return packages, nil
}

// packagesIn reads the ledgers of a container.
func (d *Docker) packagesIn(ctx context.Context, id string) (map[string]string, error) {
	packages := map[string]string{}
	for _, ledger := range ledgers {
		archive, _, err := d.client.CopyFromContainer(ctx, id, ledger.path)
		if errdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, attempted("copy "+ledger.path, err)
		}
		err = ledger.readArchive(archive, packages)
		closing(archive)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ledger.path, err)
		}
	}
	return packages, nil
}

// readArchive reads the one file of an archive.
func (l ledger) readArchive(archive io.Reader, into map[string]string) error {
	files := tar.NewReader(archive)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeReg && header.Name == path.Base(l.path) {
			return l.read(files, into)
		}
	}
}

// read reads paragraph after paragraph, 64 MiB at most. A package that is there for two
// architectures is two.
func (l ledger) read(text io.Reader, into map[string]string) error {
	bounded := &io.LimitedReader{R: text, N: mostLedger + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(nil, mostLedgerLine)
	var name, version, architecture string
	note := func() {
		if name != "" && version != "" {
			into[name+":"+architecture] = version
		}
		name, version, architecture = "", "", ""
	}
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			note()
		case strings.HasPrefix(line, l.name):
			name = line[len(l.name):]
		case strings.HasPrefix(line, l.version):
			version = line[len(l.version):]
		case strings.HasPrefix(line, l.architecture):
			architecture = line[len(l.architecture):]
		}
	}
	note()
	if bounded.N == 0 {
		return fmt.Errorf("it has more than %d MiB", mostLedger>>20)
	}
	return lines.Err()
}
