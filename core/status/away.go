package status

import "errors"

// ErrAway says that the runtime was not there for a call, which therefore says
// nothing about what was asked for.
var ErrAway = errors.New("the runtime is away")
