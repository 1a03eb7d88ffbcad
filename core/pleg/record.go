package pleg

import (
	"context"
	"time"
)

// record is what the generator knows of one pod.
type record struct {
	// name is "namespace/name", for the log.
	name string
	// old is what the events delivered so far add up to, current what was
	// last seen; nil is no such pod. Where they differ the pod must be
	// inspected.
	old, current states
	// listAt is when the list was begun that current was last taken from.
	listAt time.Time
	// asOf is when the last inspection was asked for. Lists begun before it
	// have nothing to say.
	asOf time.Time
	// failed is true while the last inspection has failed.
	failed bool

	// inFlight is true while an inspection runs; cancel ends it.
	inFlight bool
	cancel   context.CancelFunc
	// again asks for another inspection after the one in flight.
	again bool
	// stale says that the pod was gone from a list after the inspection in
	// flight was begun: its result counts for nothing.
	stale bool
}
