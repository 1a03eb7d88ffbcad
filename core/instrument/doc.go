// Package instrument measures the calls between the parts of an agent. It wraps the interfaces
// through which one part calls another.
//
// Comes in: calls. Goes out: the same calls, and figures in core/metrics. The package owns
// no goroutine.
package instrument
