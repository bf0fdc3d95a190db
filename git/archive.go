package git

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// epoch is the time that every file in an archive has. It is the first that
// zip files can hold in every time zone, and so what wheels and jars that are
// built from the files can hold.
var epoch = time.Date(1980, 1, 2, 0, 0, 0, 0, time.UTC)

// describe reads the files of a source once for their hash and returns them
// as a build context.
func describe(from source, what string) (stopwatt.BuildContext, error) {
	packed, err := read(from, io.Discard)
	if err == nil && packed.files == 0 {
		err = errors.New("it holds no file, or git ignores them all")
	}
	if err != nil {
		return stopwatt.BuildContext{}, fmt.Errorf("%s: %w", what, err)
	}
	return stopwatt.BuildContext{
		Hash:  packed.hash,
		Files: packed.files,
		Open:  func() (io.ReadCloser, error) { return open(from, packed.hash, what) },
	}, nil
}

// read packs what a source has into w.
func read(from source, w io.Writer) (content, error) {
	t, err := from()
	if err != nil {
		return content{}, err
	}
	packed, err := pack(w, t)
	return packed, errors.Join(err, t.remove())
}

// A stream is an archive that is packed while it is read.
type stream struct {
	*io.PipeReader
	done chan struct{} // closed when the packing has ended and left nothing behind
}

// Close ends the packing, also before the end of the archive.
func (s stream) Close() error {
	err := s.PipeReader.Close()
	<-s.done
	return err
}

// open packs a source's files into a stream. When they are no longer those
// that were hashed the stream ends in an error: an image must not stand under
// the name of a content that it does not have.
func open(from source, hash, what string) (io.ReadCloser, error) {
	t, err := from()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	reader, writer := io.Pipe()
	s := stream{reader, make(chan struct{})}
	go func() {
		defer close(s.done)
		packed, err := pack(writer, t)
		if err == nil && packed.hash != hash {
			err = errors.New("a file was changed since the run began; begin again")
		}
		if err = errors.Join(err, t.remove()); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
		_ = writer.CloseWithError(err) // never fails
	}()
	return s, nil
}

// content is what an archive held.
type content struct {
	hash  string
	files int
}

// packer writes an archive and the hash of what is in it.
type packer struct {
	root    *os.Root
	archive *tar.Writer
	sum     hash.Hash
	files   int
	folders map[string]bool // true: a folder on disk, and in the archive
}

// pack writes a tree as a tar archive: sorted, and nothing in it but names,
// kinds and bytes. The hash is over kind, name and content of each file or link.
func pack(w io.Writer, t tree) (content, error) {
	root, err := os.OpenRoot(t.folder)
	if err != nil {
		return content{}, err
	}
	defer root.Close() // which was only read from
	p := packer{root: root, archive: tar.NewWriter(w), sum: sha256.New(), folders: map[string]bool{".": true}}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(t.names))) {
		if err := p.add(name); err != nil {
			return content{}, err
		}
	}
	return content{hash: hex.EncodeToString(p.sum.Sum(nil)), files: p.files}, p.archive.Close()
}

// add adds a file or link. A name that is not there, or is a folder now, is
// what git calls a deleted file.
func (p *packer) add(name string) error {
	if there, err := p.enter(path.Dir(name)); err != nil || !there {
		return err
	}
	info, err := p.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return nil
	case info.Mode().IsRegular():
		return p.file(name)
	case info.Mode().Type() == fs.ModeSymlink:
		return p.link(name)
	}
	return fmt.Errorf("%q is neither a file nor a symbolic link (%s): remove it, or let git ignore it", name, info.Mode().Type())
}

// enter adds the folders above a name. It is false when one of them is not a
// folder on disk: what lies behind a link is not in the tree.
func (p *packer) enter(folder string) (bool, error) {
	if there, known := p.folders[folder]; known {
		return there, nil
	}
	if there, err := p.enter(path.Dir(folder)); err != nil || !there {
		return false, err
	}
	info, err := p.root.Lstat(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	there := err == nil && info.IsDir()
	p.folders[folder] = there
	if !there {
		return false, nil
	}
	return true, p.archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: epoch})
}

// link adds a symbolic link as such.
func (p *packer) link(name string) error {
	target, err := p.root.Readlink(name)
	if err != nil {
		return err
	}
	p.note("link", name, sha256.Sum256([]byte(target)))
	return p.archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777, ModTime: epoch})
}

// file adds a file. Of its mode only whether its owner may execute it counts,
// as for git.
func (p *packer) file(name string) error {
	f, err := p.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // which was only read from
	info, err := f.Stat()
	if err != nil {
		return err
	}
	kind, mode := "file", int64(0o644)
	if info.Mode()&0o100 != 0 {
		kind, mode = "program", 0o755
	}
	err = p.archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: mode, ModTime: epoch})
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(p.archive, sum), f, info.Size())
	if errors.Is(err, io.EOF) { // which would look like the end of the archive
		return fmt.Errorf("%q became shorter while it was read", name)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	p.note(kind, name, [sha256.Size]byte(sum.Sum(nil)))
	return nil
}

// note takes an entry into the hash. Names hold no NUL, and the last part has
// a fixed length, so that no two trees write the same.
func (p *packer) note(kind, name string, content [sha256.Size]byte) {
	p.files++
	fmt.Fprintf(p.sum, "%s\x00%s\x00%x\n", kind, name, content)
}
