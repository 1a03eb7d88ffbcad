// Package server serves the local API on the agent's socket, for the socket's owner only.
//
// Comes in: requests of the command line, and through small interfaces the agent's data about pods,
// waiting versions, sources, events, policies and the runtime. Goes out: JSON. A watch is answered
// line after line: the goroutine of its connection compares the current state with the state it
// last sent. Serve owns the goroutine of every connection. The interfaces must be safe for
// concurrent use and must not block, except Foreign and Stats.
package server
