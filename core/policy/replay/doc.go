// Package replay repeats decisions on record: as they were, with other policies, or for a
// bundle that leaves the node. It also promotes a candidate (a policy in mode shadow).
//
// Comes in: a configuration, and a state directory or a bundle with decisions and their
// artifacts. Goes out: for each decision whether the result is the same, and the first
// difference; bundles and documents that are written. The package starts no goroutine.
//
// Begin to read with replay.go. Replayer (replayer.go) repeats a decision from its
// artifacts alone. WhatIf (whatif.go) repeats it with another set of one owner. Redactor
// (redact.go) hides values that may be secret. difference.go compares results.
package replay
