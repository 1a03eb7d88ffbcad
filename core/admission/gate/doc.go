// Package gate has the gates between the mux and the policies that may change an answer:
// Adoption lets pods continue that ran before the agent started, NodeChecks denies an edit to
// what the node refuses to a new pod, Supported denies pods that this version cannot run, and
// Open, for a node without policies, lets everything pass.
//
// Comes in: questions of the mux, answers of policies, what the runtime shows. Goes out:
// verdicts. Adoption.Run is the one goroutine; its caller owns it.
package gate
