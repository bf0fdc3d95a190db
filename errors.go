package stopwatt

import "errors"

// ErrUnreachable says that the surroundings are gone, the Docker Engine or the
// database: it is nobody's fault who wrote a suite, and nothing more can be
// measured now. The rooms that reach out wrap it.
var ErrUnreachable = errors.New("unreachable")

// ErrStuck says that the Docker Engine is there, and does not do its part: it does not
// answer in time, or cannot end or remove what it has started. No code under test is
// to blame.
var ErrStuck = errors.New("the engine is stuck")

// EngineFailed tells whether an error is the engine's fault, and not that of what it
// runs.
func EngineFailed(err error) bool {
	return errors.Is(err, ErrUnreachable) || errors.Is(err, ErrStuck)
}

// ErrWaits says that the database is away, and that what it was to be given, or what it
// was asked for, has to wait. What was finished is kept.
var ErrWaits = errors.New("the database is away")

// ErrNotFound says that what was asked for by name or number is not stored.
var ErrNotFound = errors.New("not found")
