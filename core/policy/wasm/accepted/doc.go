// Package accepted stores which modules this program has verified and rewritten, so
// that a restart need not do it again.
//
// Inputs: the digest of a module, and its description. Outputs: the description, if the
// same program stored it with the same caps. A file that is damaged, or was written by
// another program, is ignored.
//
// The package starts no goroutine. Files is safe for concurrent use, by several
// processes, too.
package accepted
