// Package replay makes decisions on record again: as they were, with other policies, or
// for a bundle that leaves the node. It also promotes a policy in shadow.
//
// Comes in: a configuration, and a state directory or a bundle with decisions and their
// artifacts. Goes out: for each decision whether the result is the same, and the first
// difference; bundles and documents that are written. No goroutines.
//
// replay.go is where a reader begins. Replayer (replayer.go) makes a decision from its
// artifacts alone, WhatIf (whatif.go) with another set of one owner, and Redactor
// (redact.go) hides what may be secret. difference.go compares results.
package replay
