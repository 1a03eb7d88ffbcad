// Package author runs policies for their authors, without an agent: it runs their tests,
// compares whole verdicts with golden files, and measures the cost of calls.
//
// Comes in: a directory of policies or one document. Goes out: results of tests,
// figures, and advice. Golden files are in tests/golden/POLICY beside the policy's
// document, one for each test, by its name. No goroutines.
//
// A Draft (draft.go) is one policy as its document and module are now; policies.go,
// run.go, draftbench.go and lint.go have what each command does with drafts.
package author
