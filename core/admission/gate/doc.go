// Package gate has the gates between the mux and the policies that may change an answer:
// Adoption, which lets go on what ran before the agent started, NodeChecks, which lets no
// edit have what the node refuses to a new pod, and Open, which lets everything pass.
//
// Comes in: questions of the mux, answers of policies, what the runtime shows. Goes out:
// verdicts. Adoption.Run is the one goroutine; its caller owns it.
package gate
