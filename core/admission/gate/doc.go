// Package gate has the gates between the mux and the policies, which may change an answer. Adoption
// lets pods continue that ran before the agent started. NodeChecks denies an update that the node
// would refuse as a new pod. Supported denies pods that this version cannot run. Open, for a node
// without policies, admits every pod.
//
// Comes in: questions of the mux, answers of policies, the state of the runtime. Goes out:
// verdicts. Adoption.Run is the only goroutine; its caller owns it.
package gate
