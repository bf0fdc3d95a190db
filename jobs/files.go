package jobs

import (
	"errors"
	"io/fs"
	"path"
)

// mostBody is the size of a request's body that is read whole into the Suite,
// and sent to the driver with the order.
const mostBody = 16 << 20

// path reads a path relative to the suite file, and cleans it.
func (r *reader) path(at node, noun string, to *string) {
	r.text(at, noun, to, isRelative)
	if *to != "" {
		*to = path.Clean(*to)
	}
}

// regular checks that there is a file, and tells how large it is.
func (r *reader) regular(at node, noun, name string) (bytes int64, ok bool) {
	info, err := r.files.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.fault(at.at, "%s: there is no file %s beside the suite file; make it, or mend its name", noun, brief(name))
	case err != nil:
		r.fault(at.at, "%s: the file %s cannot be looked at (%s); give permission, or name another", noun, brief(name), cause(err))
	case !info.Mode().IsRegular():
		r.fault(at.at, "%s: %s is no file; name a file", noun, brief(name))
	default:
		return info.Size(), true
	}
	return 0, false
}

// content reads a file for a request's body.
func (r *reader) content(at node, noun, name string) []byte {
	bytes, ok := r.regular(at, noun, name)
	if !ok {
		return nil
	}
	if bytes > mostBody {
		r.fault(at.at, "%s: %s has %d bytes, and a body at most %d; make it smaller", noun, brief(name), bytes, mostBody)
		return nil
	}
	text, err := r.files.ReadFile(name)
	if err != nil {
		r.fault(at.at, "%s: the file %s cannot be read (%s); give permission, or name another", noun, brief(name), cause(err))
	}
	return text
}

// cause is why a file cannot be had, without its path, which was told already
// and would be one of this machine.
func cause(err error) string {
	var told *fs.PathError
	if errors.As(err, &told) {
		err = told.Err
	}
	return brief(err.Error())
}
