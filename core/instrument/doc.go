// Package instrument counts what happens between the parts of an agent: it wraps what one
// part asks of another.
//
// Comes in: calls. Goes out: the same calls, and figures in core/metrics. The package owns
// no goroutine.
package instrument
