package status

import "errors"

// ErrKept says that the runtime shows a container as ended and yet does not let
// it be removed: it has lost track of what it made of it. Nothing that can be
// asked of a runtime helps, only its restart does.
var ErrKept = errors.New("the runtime has lost track of a container, which it shows as ended and does not let go of; " +
	"restart the runtime when you can, pods run on meanwhile")
