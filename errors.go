package stopwatt

import "errors"

// ErrUnreachable says that the surroundings are gone, the Docker Engine or the
// database: it is nobody's fault who wrote a suite, and nothing more can be
// measured now. The rooms that reach out wrap it.
var ErrUnreachable = errors.New("unreachable")
