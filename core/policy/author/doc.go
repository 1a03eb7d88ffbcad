// Package author runs policies for their authors, without an agent: it runs their tests,
// compares whole verdicts with golden files, and measures the cost of calls.
//
// Comes in: a directory of policies or one document. Goes out: results of tests, figures,
// and advice. Golden files are in tests/golden/POLICY beside the policy's document, one for
// each test, with the test's name. The package starts no goroutine.
//
// A Draft (draft.go) is one policy with its current document and module. policies.go,
// run.go, draftbench.go and lint.go have the functions of the commands, which use drafts.
package author
