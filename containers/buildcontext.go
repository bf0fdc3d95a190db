package containers

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"

	"gitlab.com/stopwatt/stopwatt"
)

// ownDockerfile is the name under which a Dockerfile that does not lie in the
// context is sent with it.
const ownDockerfile = ".stopwatt.dockerfile"

// maxText bounds a Dockerfile and a .dockerignore.
const maxText = 1 << 20

// A sending is a build context as it goes to the engine.
type sending struct {
	context    stopwatt.BuildContext
	dockerfile []byte // its text
	name       string // of the Dockerfile in the archive
	added      bool   // it is not in the context
	ignored    *patternmatcher.PatternMatcher
}

// newSending reads what must be known of a context before it is sent: its
// Dockerfile, unless the order brings one, and its .dockerignore.
func newSending(order stopwatt.BuildOrder) (sending, error) {
	s := sending{context: order.Context, dockerfile: order.Dockerfile, name: ownDockerfile, added: true}
	var ignore []byte
	wanted := map[string]*[]byte{".dockerignore": &ignore}
	if order.Dockerfile == nil {
		s.name, s.added = "Dockerfile", false
		wanted["Dockerfile"] = &s.dockerfile
	}
	if err := s.read(wanted); err != nil {
		return sending{}, err
	}
	if s.dockerfile == nil {
		return sending{}, errors.New("the context holds no file called Dockerfile; name another with dockerfile:, which is read as it is today, also for a context of another commit")
	}
	patterns, err := ignorefile.ReadAll(bytes.NewReader(ignore))
	if err == nil {
		s.ignored, err = patternmatcher.New(patterns)
	}
	if err != nil {
		return sending{}, fmt.Errorf(".dockerignore: %w", err)
	}
	return s, nil
}

// read fills in the wanted files as far as the context holds them.
func (s sending) read(wanted map[string]*[]byte) error {
	return s.each(func(header *tar.Header, content io.Reader) error {
		into := wanted[path.Clean(header.Name)]
		if into == nil || header.Typeflag != tar.TypeReg {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(content, maxText+1))
		if len(text) > maxText {
			err = fmt.Errorf("%s is larger than 1 MiB", header.Name)
		}
		*into = text
		return err
	})
}

// each walks over the context's files.
func (s sending) each(visit func(header *tar.Header, content io.Reader) error) error {
	archive, err := s.context.Open()
	if err != nil {
		return fmt.Errorf("open the context: %w", err)
	}
	defer closing(archive)
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = visit(header, files)
		}
		if err != nil {
			return fmt.Errorf("read the context: %w", err)
		}
	}
}

// writeTo packs the context without what is ignored, and with the Dockerfile.
func (s sending) writeTo(w io.Writer) error {
	archive := tar.NewWriter(w)
	if s.added {
		if err := s.addDockerfile(archive); err != nil {
			return err
		}
	}
	err := s.each(func(header *tar.Header, content io.Reader) error {
		ignored, err := s.ignores(path.Clean(header.Name))
		if err != nil || ignored {
			return err
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.Copy(archive, content)
		return err
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

// addDockerfile puts in the Dockerfile that the order brought.
func (s sending) addDockerfile(archive *tar.Writer) error {
	header := tar.Header{Name: s.name, Mode: 0o644, Size: int64(len(s.dockerfile))}
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err := archive.Write(s.dockerfile)
	return err
}

// ignores says whether .dockerignore names a file. The builder needs the
// Dockerfile whatever it says, and one of our name is not the context's.
func (s sending) ignores(file string) (bool, error) {
	switch file {
	case s.name:
		return s.added, nil
	case ".":
		return false, nil
	}
	return s.ignored.MatchesOrParentMatches(file)
}
