package stopwatt

import "errors"

// ErrUnreachable says that the surroundings are gone, the Docker Engine or the
// database: it is nobody's fault who wrote a suite, and nothing more can be
// measured now. The rooms that reach out wrap it.
var ErrUnreachable = errors.New("unreachable")

// ErrWaits says that the database is away, and that what it was to be given, or what it
// was asked for, has to wait. What was finished is kept.
var ErrWaits = errors.New("the database is away")

// ErrNotFound says that what was asked for by name or number is not stored.
var ErrNotFound = errors.New("not found")
