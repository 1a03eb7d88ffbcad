// Package reload follows the configuration file of an agent that runs: it brings into force
// what can change, and says what needs a restart.
//
// Comes in: the file, signals, requests to read it now. Goes out: calls of the functions
// that bring keys into force; log lines, events, outcomes. Reloader.Run is the one
// goroutine; its caller owns it.
package reload
