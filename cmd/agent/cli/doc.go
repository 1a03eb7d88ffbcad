// Package cli has the code that the commands of wardlet share: their streams and flags, requests to
// the agent, reading and writing of files, and output of tables and objects.
//
// Comes in: the flags of a command line. Goes out: text for a terminal, JSON or YAML, and errors
// that name the wrong usage. Start with App. The package owns no goroutine but the read of a file
// that outlives its command.
package cli
