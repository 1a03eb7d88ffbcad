// Package author is what those who write policies do with them before an agent
// does: run their tests, compare whole verdicts with golden files, and measure what
// calls take.
//
// Comes in: drafts of policies, see policy.Drafts. Goes out: results of tests, and
// figures. Golden files lie in tests/golden/POLICY beside the policy's document, one
// for each test, by its name. No goroutines.
package author
