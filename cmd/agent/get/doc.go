// Package get is the command get of wardlet: tables and objects about the state of a running agent.
//
// Comes in: a command line, and the answers of the agent on its local socket. Goes out: rows and notes,
// once or with every change. Start with Command and getter. The package owns no goroutine.
package get
