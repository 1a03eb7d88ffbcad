// Package policycmd is the command policy of wardlet. It writes, tests, signs and inspects
// policies, sends the running agent orders about them, and replays its decisions.
//
// Comes in: a command line, the files of policies, recorded decisions, and the answers of the agent.
// Goes out: what policies decide and why a set would be refused. Start with Command; one file per
// subcommand. The package owns no goroutine but the read of a password.
package policycmd
