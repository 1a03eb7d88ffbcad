// Command chaos lets an agent with fifty pods run on a containerd of its own and disturbs both: it kills the agent and
// containerd, freezes containerd, kills shims and containers, edits, breaks, moves and removes manifests and edits
// policies. Between rounds of that it lets everything settle and compares what runs with what the manifests ask for; at
// the end it removes them all and looks for anything left.
//
// In come the wardlet program, the policies that `make plugins` built, a time and a seed, which decides what is done when
// (what the node makes of it is up to timing). Out come the exit status and, where a rule was broken, the seed, the
// disturbances and the agent's log around it; all logs are kept beside.
//
// A script, made before anything runs, says what is done. The ledger knows what the manifests asked for and when; the
// witness reads runtime and /proc all the time and checks that nothing runs twice and that nothing ended without a cause;
// the judge compares in the quiet; the collector of leaks looks at the end. One goroutine does what the script says and
// judges. The witness is another one, as is each wait for an agent's end and each call to containerd that is a
// disturbance. play waits for all of them.
//
// In the quiet all must be as it should within 10 s, and on a machine on which the first start of all pods is slow as many
// times longer; how long it took is reported. What containerd keeps after a start that was cut off, and what it forgets,
// is reported too but breaks no rule: leak.go says by what evidence.
//
// It needs root. It ends only processes that it started and those of its own containerd.
package main
