// Package spec is a policy document: its keys, their defaults and limits, and what is
// wrong with them, with the line.
//
// Comes in: the text of a document. Goes out: a Document, or strict.Errors; which
// questions it matches, which pods an exception exempts, what an expression makes of
// its members' answers. Nothing here reads a file or calls a plugin.
//
// It starts no goroutine. A Document does not change once its set is loaded.
package spec
