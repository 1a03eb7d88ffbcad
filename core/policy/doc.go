// Package policy is the policy engine of the node: it answers the questions of all four
// hooks by the policy sets in force. The operator has a set, and so has each tenant.
//
// Comes in: questions (Engine.Judge, Rules.Resolve, Engine.Filter, Engine.Connect); the
// state of the node (Node) and the objects that pods name (References); commands (Reload,
// Retry, Rollback, Confirm). Goes out: an answer for each question, through the function
// that came with it; a signal for each hook when its policies in force have changed; and,
// for display, the state of the sets and the newest decisions.
//
// # Rooms
//
// In the order of their imports; each package imports only packages above it:
//
//	spec         a policy document
//	bundle       a directory of documents, modules and pods of tests, read once
//	sched        the fair queue of questions, and what tenants may spend
//	eval         one decision: which policies are asked, in which order, and the verdict
//	decisionlog  decisions on record
//	shadow       candidates compared with the policies in force
//	rollout      which set is in force: load, test, activate, roll back
//	review       running pods judged again, and evicted
//	policy       the engine: questions, evaluators, the node as decisions see it
//
// Two more packages work without an engine: replay repeats recorded decisions, and author
// tests and measures policies for their authors.
//
// # Goroutines
//
// Engine.Run owns all of them. Each owner of a set has one that follows its directory. The
// evaluators take questions from the queue and call plugins; no plugin runs on a goroutine
// of another package. Each owner of pods has two that record decisions. The reviewer is one
// goroutine. One more writes the newest verdicts to the disk, one watches the node, and one
// watches the objects that pods name.
//
// # Who changes a verdict
//
// A verdict is made in eval.Judge, and for conflicts between sources in eval.Choose.
// Engine.judge itself answers for mirror pods, for tenants whose budget is used up, and
// while no set is in force. Afterwards only two places of this package change a verdict,
// both before it is recorded: Engine.decideUntilCurrent repeats the decision if the node
// has changed in the meantime (nodeview.go), and pacing turns the denial of a controller's
// pod into a hold (Engine.judge). Then the answer passes the gates that core/agent/gates.go
// lists, and the mux (core/mux/gate.go).
//
// # What a decision saw
//
// A decision whose policies see the node is valid only if they would still be shown the
// same. Otherwise it is repeated. After three attempts, other decisions that would change
// what it sees wait for it. An admitted pod is part of the node's state until it is on the
// node, has terminated, or is no longer desired in that version.
//
// A decision of a policy that sees the objects that a pod names waits until they are known.
// If such a policy refused a pod, the pod is judged again within a second of a change.
package policy
