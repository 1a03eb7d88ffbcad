// Package reload follows the configuration file of a running agent. It applies the keys that can
// change, and reports the keys that need a restart.
//
// Comes in: the file, signals, requests to read it now. Goes out: calls of the functions that apply
// keys; log lines, events, outcomes. Reloader.Run is the only goroutine; its caller owns it.
package reload
