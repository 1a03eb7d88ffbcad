// Package node is a whole node of one's own for programs that show or measure the agent: a private container runtime, a
// directory, and in it an agent with roots of its own that judges pods by one example policy.
//
// In come a name, the wardlet program and the policies that `make plugins` built; manifests and another list of allowed
// images go in while the node lives. Out come the agent's own answers (through the wardlet command), what the runtime
// says about containers, and after Close an untouched machine. Nodes do not disturb each other.
//
// One goroutine per agent process waits for its end; Stop, Kill and Close wait for that goroutine. A Node is for one
// goroutine at a time. It needs root.
package node
