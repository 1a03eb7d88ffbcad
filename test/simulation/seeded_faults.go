//go:build seededfaults

package simulation

import "sync/atomic"

// foreign is on while the runtime shows the agent what is somebody else's: here the
// world stands in for core/runtime, which tells them apart.
var foreign atomic.Bool

func seededForeign() bool { return foreign.Load() }
