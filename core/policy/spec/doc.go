// Package spec reads a policy document: its keys, their defaults and limits, and the faults
// in them, with their lines.
//
// Comes in: the text of a document. Goes out: a Document, or strict.Errors; which questions
// it matches, which pods an exception exempts, the answer of an expression for the answers
// of its members. The package reads no file and calls no plugin.
//
// The package starts no goroutine. A Document does not change once its set is loaded.
package spec
