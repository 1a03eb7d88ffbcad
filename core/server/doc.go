// Package server answers on the agent's local socket, for its owner only.
//
// Comes in: requests of the command line, and through small interfaces what
// the agent knows of pods, what waits, sources, events, policies and the
// runtime. Goes out: JSON; to who watches, line after line of it, which the
// goroutine of that connection finds by comparing with what it has told. Serve owns the goroutine of every connection; what
// it asks must be safe for concurrent use and must not block, Foreign excepted.
package server
