package meter

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A numberFile is a file of one number, held open: a reading costs one pread.
// It is no os.File: that waits for ever where a driver says EAGAIN.
type numberFile struct {
	fd   int
	name string
}

// openNumber opens a file of one number.
func openNumber(path string) (numberFile, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return numberFile{fd, filepath.Base(path)}, err
		}
	}
}

// read reads the number. Drivers say EAGAIN while a sensor is busy, and ENODATA
// while it has nothing: that is for the next reading to try again.
func (f numberFile) read() (int64, error) {
	var buffer [64]byte
	n, err := unix.Pread(f.fd, buffer[:], 0)
	if errors.Is(err, unix.EINTR) {
		n, err = unix.Pread(f.fd, buffer[:], 0)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.name, err)
	}
	number, err := parseSigned(buffer[:n])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.name, err)
	}
	return number, nil
}

// parseSigned understands a file that holds one number, which may be negative.
func parseSigned(text []byte) (int64, error) {
	if len(text) > 1 && text[0] == '-' {
		number, err := parseNumber(text[1:])
		return -number, err
	}
	return parseNumber(text)
}

// close closes the file.
func (f numberFile) close() error { return unix.Close(f.fd) }

// closeAll closes several files.
func closeAll(files []numberFile) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
