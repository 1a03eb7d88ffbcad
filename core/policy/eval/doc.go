// Package eval makes decisions: it asks the policies of some sets one question and combines
// their answers. It is the same code for a running node, for a decision that is repeated
// from its record, and for an author who tries a policy.
//
// Comes in: sets of policies with their plugins (Set), and a question: a Decision about a
// pod (Judge, Filter), or a Conflict between documents (Choose). Goes out: the verdict
// with the opinion of each policy, and what the decision depended on beside its question
// (HostEffects), so that it can be repeated.
//
// # The order
//
// Policies with mutable_paths are asked first, each about the pod as the earlier ones
// changed it. All others are asked about the result. See package mutate for what a patch
// may do. Groups combine the answers of their members at the end. The strongest answer is
// the verdict: deny, then hold, then allow.
//
// # Failures
//
// A plugin that fails has the answer that its document names in on_error. One that fails
// often is asked less often (breaker.go). Which failures came from the machine and not
// from the plugin is part of the record.
//
// The package starts no goroutine. A Decision or Conflict belongs to the caller's
// goroutine; a Set and its plugins are used by several at once.
package eval
