// Command chaos runs an agent with fifty pods on a containerd of its own and disturbs both: it
// kills the agent and containerd, freezes containerd, kills shims and containers, edits, breaks,
// moves and removes manifests and edits policies. Between rounds of disturbances it lets everything
// settle and compares what runs with the manifests. At the end it removes them all and looks for
// anything left.
//
// Its inputs are the wardlet program, the policies that `make plugins` built, a time and a seed.
// The seed decides what is done when; what the node does then also depends on timing. Its outputs
// are the exit status and, if a rule was broken, the seed, the disturbances and the agent's log
// around that time; all logs are kept.
//
// The parts are these. A script, made before anything runs, lists what is done. The ledger records
// what the manifests asked for and when. The witness reads the runtime and /proc all the time and
// checks that nothing runs twice and that nothing exited without a cause. The judge compares while
// nothing is disturbed. The leak check runs at the end. One goroutine performs the script and
// judges. The witness has another one, and so have each wait for an agent's exit and each call to
// containerd that is a disturbance. play waits for all of them.
//
// After the disturbances everything must be as it should within 10 s. On a machine where the first
// start of all pods is slow, the limit is longer by the same factor. How long it took is reported.
// Containers that containerd keeps after a start that was cut off, and what it forgets, are
// reported too but break no rule; leak.go describes the evidence for that.
//
// It needs root. It ends only processes that it started and those of its own containerd.
package main
