// Package shadow compares a candidate, a policy in mode shadow, with the policy in force
// of the same name.
//
// Comes in: the results of both for one question (eval.ShadowResult). Goes out: in how many
// decisions they differ, the newest differences, and why the candidate may not be promoted
// yet. It starts no goroutine; Stats is safe for concurrent use.
package shadow
